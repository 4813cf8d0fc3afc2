package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/flowrun/flowrun/internal/os/shellword"
)

// OAuth is how flowrun signs in to a server, if it cannot register itself.
type OAuth struct {
	ClientID     string // as the authorization server knows flowrun; "" = it registers itself
	ClientSecret string // "" = there is none
	Issuer       string // the only authorization server that gets the secret; "" = the one that the server names
	CallbackPort int    // port on this machine that the browser is sent to; 0 = any
}

// signInLimit is how long a person may take to sign in.
const signInLimit = 10 * time.Minute

// SignIn signs a person in to a server and stores the token. show gets the URL that the person must
// open in a browser.
func (c *Client) SignIn(server string, show func(url string)) error {
	known := c.remote(server)
	if known == nil {
		return fmt.Errorf("there is no MCP server %q", server)
	}
	code, err := listenForCode(known.config.OAuth.CallbackPort)
	if err != nil {
		return err
	}
	defer code.close()
	r := newRemote(c, known.config)
	r.limit, r.login = signInLimit, &login{code: code, show: show}
	defer r.close()
	if err := r.refresh(c.ctx); err != nil {
		return err
	}
	if !r.login.done {
		return errors.New("the server did not ask for a sign-in")
	}
	return nil
}

// SignOut removes the token of a server. It reports whether there was one.
func (c *Client) SignOut(server string) (bool, error) {
	r := c.remote(server)
	if r == nil {
		return false, fmt.Errorf("there is no MCP server %q", server)
	}
	config, _, err := r.config.expand(c.config.Workspace)
	if err != nil {
		return false, err
	}
	return r.tokens(config).remove()
}

// signInError reports that a person must sign in.
type signInError struct {
	server string
	scopes bool // the person is signed in, but may do too little
}

func (e *signInError) Error() string {
	why := "it requires a sign-in"
	if e.scopes {
		why = "it requires more permissions than you granted"
	}
	return why + "; to sign in: flowrun mcp login " + shellword.Sh(e.server)
}

// maySignIn reports whether flowrun can sign in to a server: over a connection that nobody else can
// read, and unless the settings have a header for that.
func (c ServerConfig) maySignIn(s *sameHost) bool {
	for name := range c.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return false
		}
	}
	return c.HTTPURL != "" && (s.server.Scheme == "https" || isLoopback(s.server.Hostname()))
}

// authorization returns what authorizes the requests to a server.
func (r *remote) authorization(c ServerConfig, s *sameHost) (auth.OAuthHandler, error) {
	switch {
	case !c.maySignIn(s) && r.login != nil:
		return nil, errors.New("flowrun signs in only to servers with an httpUrl that begins with https, and without a header Authorization in the settings")
	case !c.maySignIn(s) || r.client.config.StateDir == "" && r.login == nil:
		return nil, nil
	case r.login != nil:
		return r.login.handler(r.tokens(c), s)
	}
	return &signedIn{server: c.Name, tokens: r.tokens(c), http: s.elsewhere()}, nil
}

// signedIn authorizes requests with the stored token, which it renews.
type signedIn struct {
	server string
	tokens tokens
	http   *http.Client

	mu      sync.Mutex
	current *oauth2.Token // nil if it was not read yet, or there is none
}

// TokenSource implements auth.OAuthHandler.
func (s *signedIn) TokenSource(context.Context) (oauth2.TokenSource, error) { return s, nil }

// Token implements oauth2.TokenSource. Without a token, requests are sent as they are.
func (s *signedIn) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.Valid() {
		return s.current, nil
	}
	in, err := s.tokens.read()
	if err != nil || in.Token.Valid() || in.Token == nil {
		s.current = in.Token
		return s.current, err
	}
	s.current, err = s.tokens.renew(s.http, in.Token.AccessToken)
	if err != nil {
		return nil, hideBody(err)
	}
	return s.current, nil
}

// Authorize implements auth.OAuthHandler. It renews a token that the server rejects. If that is not
// enough, a person must sign in.
func (s *signedIn) Authorize(_ context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden {
		scopes, insufficient := challenge(resp)
		if !insufficient {
			return nil // the server says why
		}
		if err := s.tokens.want(scopes); err != nil {
			return err
		}
		return &signInError{s.server, true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	used, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	renewed, err := s.tokens.renew(s.http, used)
	if err != nil || renewed == nil {
		return &signInError{s.server, false}
	}
	s.current = renewed
	return nil
}

// challenge returns the scopes that a server requires, and whether the token lacks them.
func challenge(resp *http.Response) (scopes []string, insufficient bool) {
	list, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, false
	}
	for _, c := range list {
		if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			return strings.Fields(c.Params["scope"]), true
		}
	}
	return nil, false
}

// hideRegistration hides the secret in the answer to a registration, which the library quotes.
func hideRegistration(text string) string {
	return registrationSecret().ReplaceAllString(text, "***")
}

var registrationSecret = compiledOnce(`"client_secret"\s*:\s*"[^"]*"?`)

// hideBody shortens the error of a request for a token to what the protocol defines: the rest of a
// response may contain secrets.
func hideBody(err error) error {
	failed, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	failed.Body = nil
	return err
}

// login signs a person in.
type login struct {
	code *callback
	show func(url string)
	done bool
}

// handler returns the handler of the library that signs in and stores the token.
func (l *login) handler(t tokens, s *sameHost) (auth.OAuthHandler, error) {
	before, err := t.read()
	if err != nil {
		return nil, err
	}
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: l.code.address,
		Client:      s.elsewhere(),
		// Some authorization servers send iss without announcing it. It is compared in any case.
		AcceptUnadvertisedIss: true,
		RequestRefreshToken:   true,
		ScopeFilter:           func(scopes []string) []string { return union(scopes, before.Scopes) },
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return l.code.await(ctx, a.URL, l.show)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			l.done = true
			return oauth2.StaticTokenSource(token), t.save(s.server.String(), c, token)
		},
	}
	t.oauth.register(config)
	return auth.NewAuthorizationCodeHandler(config)
}

// register sets how flowrun becomes a client of the authorization server.
func (o OAuth) register(config *auth.AuthorizationCodeHandlerConfig) {
	if o.ClientID == "" {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:    "flowrun",
			RedirectURIs:  []string{config.RedirectURL},
			GrantTypes:    []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"},
		}}
		return
	}
	config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID, Issuer: o.Issuer}
	if o.ClientSecret != "" {
		config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}
	}
}

// union returns the scopes of both lists.
func union(a, b []string) []string {
	list := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
