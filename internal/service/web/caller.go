package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/users"
)

// caller is what a request has proved about its sender.
type caller struct {
	users.Caller
	token   service.Token  // the token it sent; otherwise the zero Token, which is valid for all tools
	user    string         // the name of a user of the service; "" for the owner and for others with a token
	session *users.Session // nil if the request belongs to none

	readOnly bool // it can change nothing, whatever its role
}

// owner is the user of the service's process, who may do everything.
var owner = caller{Caller: users.Caller{Identity: users.Owner, Role: users.Admin}}

// authenticated reports whether the sender is known.
func (c caller) authenticated() bool { return c.Identity != "" }

// mayUse reports whether the caller may start a tool and see its runs.
func (c caller) mayUse(tool string) bool { return c.token.Permits(tool) }

// allTools reports whether the caller may do so for all tools.
func (c caller) allTools() bool { return c.token.Tools == nil }

type callerKey struct{}

// callerFrom returns the caller of a request that has passed the checks.
func callerFrom(r *http.Request) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c
}

// authenticator finds out who sent a request.
type authenticator struct {
	tokens     []token
	users      *users.Registry // nil for none
	sessions   *users.Sessions
	userHeader string // of a trusted proxy; "" for none
	readOnly   bool   // callers over the network can change nothing
}

// token is one of Options.Tokens with its hash, which is compared.
type token struct {
	service.Token
	sum [sha256.Size]byte
}

// newAuthenticator returns an error for an empty token.
func newAuthenticator(o Options) (*authenticator, error) {
	a := &authenticator{users: o.Users, sessions: o.Sessions, userHeader: o.UserHeader, readOnly: o.ReadOnly}
	for _, t := range o.Tokens {
		if t.Text == "" {
			return nil, errors.New("a token is empty, so anybody could use the service")
		}
		a.tokens = append(a.tokens, token{t, sha256.Sum256([]byte(t.Text))})
	}
	return a, nil
}

// withCaller authenticates the sender of a request. The request's context says who it is, and ends when
// the caller's life does: streams need no check of their own. Call end after the request.
func (a *authenticator) withCaller(r *http.Request) (_ *http.Request, c caller, end func()) {
	c = a.callerOf(r)
	c.readOnly = a.readOnly && !onSocket(r)
	ctx := context.WithValue(users.WithCaller(r.Context(), c.Caller), callerKey{}, c)
	if c.user != "" {
		ctx = history.WithActor(ctx, c.user)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop, unused := c.AfterLife(cancel), func() {}
	if c.session != nil {
		unused = a.sessions.Use(c.session)
	}
	return r.WithContext(ctx), c, func() { stop(); cancel(); unused() }
}

// errBusy is the error for a caller who has as many requests in progress as a caller may have.
var errBusy = &problem{status: 503, header: []string{"Retry-After", "5", "Connection", "close"}, Code: "too-many-requests",
	Message: "too many of your requests are in progress", Hint: "close streams that you do not need, or try again in a moment"}

// places asks for a place for a request. nil means that there is always one.
type places func(ctx context.Context, c users.Caller, lasts bool) bool

// take asks for a place for a request of an authenticated caller, until the request ends.
func (p places) take(r *http.Request, c users.Caller, lasts bool) error {
	if p != nil && !p(r.Context(), c, lasts) {
		return errBusy
	}
	return nil
}

// callerOf returns the sender of a request. A name that a trusted proxy sends comes first: it may
// stand beside credentials that are for the proxy.
func (a *authenticator) callerOf(r *http.Request) caller {
	switch names := a.namesByProxy(r); {
	case len(names) == 1:
		return a.userNamed(names[0])
	case len(names) > 1: // one of them is by the client
		return caller{}
	case onSocket(r): // its file's permissions have authenticated the caller
		return owner
	case r.Header.Get("Authorization") != "":
		return a.bearer(r.Header.Values("Authorization"))
	}
	return a.signedIn(r)
}

// namesByProxy returns the names of users that a trusted proxy on this machine sends: one, or none.
func (a *authenticator) namesByProxy(r *http.Request) []string {
	if a.userHeader == "" || !onSocket(r) && !onLoopback(r) {
		return nil
	}
	return r.Header.Values(a.userHeader)
}

// userNamed returns the user with a name. An unknown name is nobody.
func (a *authenticator) userNamed(name string) caller {
	if a.users == nil {
		return caller{}
	}
	if u, ok := a.users.ByName(name); ok {
		return a.callerFor(u)
	}
	return caller{}
}

// callerFor returns the caller who is a user of the service.
func (a *authenticator) callerFor(u users.User) caller {
	return caller{Caller: users.Caller{Identity: users.IdentityOf(u.Name), Role: u.Role, Life: a.users.Life(u)}, user: u.Name}
}

// bearer returns the holder of the token in a header.
func (a *authenticator) bearer(header []string) caller {
	if len(header) != 1 {
		return caller{}
	}
	scheme, given, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return caller{}
	}
	c, _ := a.holder(given)
	return c
}

// holder returns the holder of a token, and the hash of the token.
func (a *authenticator) holder(token string) (caller, users.Credential) {
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return a.holderOf(sum), sum
}

// holderOf returns the holder of the token with a hash. The comparison takes the same time for every
// token, so that its duration reveals nothing.
func (a *authenticator) holderOf(sum users.Credential) (c caller) {
	for _, t := range a.tokens {
		if subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1 {
			c = caller{Caller: users.Caller{Identity: users.IdentityOfToken(sum), Role: users.Admin}, token: t.Token}
		}
	}
	if c.authenticated() || a.users == nil {
		if !c.allTools() { // who may not see all tools must not define what they do
			c.Role = users.Operator
		}
		return c
	}
	if u, ok := a.users.ByToken(sum); ok {
		return a.callerFor(u)
	}
	return caller{}
}

// signedIn returns the person whose browser sent the cookie of a session. The session is as strong
// as the token that it came from, and ends with it.
func (a *authenticator) signedIn(r *http.Request) caller {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return caller{}
	}
	s := a.sessions.Find(cookie.Value)
	if s == nil {
		return caller{}
	}
	c := owner
	if s.Credential != (users.Credential{}) {
		c = a.holderOf(s.Credential)
	}
	if !c.authenticated() {
		a.sessions.End(cookie.Value)
		return caller{}
	}
	a.sessions.EndWith(s, c.Life)
	c.session, c.Life = s, s.Context // which ends with the user, too
	return c
}
