package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/model/mcpclient"
)

// account is a server that requires a sign-in, together with its authorization server.
type account struct {
	*httptest.Server
	mu       sync.Mutex
	valid    map[string]string // access tokens with their scopes
	refresh  string            // the refresh token that is accepted, once
	count    int
	lifetime int // of tokens, in seconds
	asked    url.Values
	auth     []string // authorizations of token requests
}

func newAccount(t *testing.T) *account {
	a := &account{valid: map[string]string{}, lifetime: 3600}
	server := goodServer()
	served := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		a.mu.Lock()
		scopes, ok := a.valid[token]
		a.mu.Unlock()
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", `Bearer scope="read"`)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.Contains(string(body), "tools/call") && !slices.Contains(strings.Fields(scopes), "write"):
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
			w.WriteHeader(http.StatusForbidden)
		default:
			served.ServeHTTP(w, r)
		}
	})
	reply := func(w http.ResponseWriter, doc map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(doc)
	}
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token",
			"registration_endpoint": a.URL + "/register", "code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"}})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"client_id": "registered", "client_secret": "secret-of-registration", "redirect_uris": []string{}})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		a.asked = r.URL.Query()
		back := url.Values{"code": {"the-code"}, "state": {a.asked.Get("state")}}
		http.Redirect(w, r, a.asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		_ = r.ParseForm()
		id, secret, _ := r.BasicAuth()
		a.auth = append(a.auth, id+":"+secret)
		if r.Form.Get("grant_type") == "refresh_token" && r.Form.Get("refresh_token") != a.refresh {
			w.WriteHeader(http.StatusBadRequest)
			reply(w, map[string]any{"error": "invalid_grant"})
			return
		}
		a.count++
		access := fmt.Sprintf("access-token-%d", a.count)
		a.refresh = fmt.Sprintf("refresh-token-%d", a.count)
		a.valid[access] = a.asked.Get("scope")
		reply(w, map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": a.refresh, "expires_in": a.lifetime})
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func (a *account) config(o mcpclient.OAuth) mcpclient.ServerConfig {
	return mcpclient.ServerConfig{Name: "s", HTTPURL: a.URL + "/mcp", OAuth: o, Timeout: time.Minute}
}

// revoke makes all access tokens invalid.
func (a *account) revoke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.valid)
}

// browse is the person who signs in: the page redirects to flowrun at once.
func browse(t *testing.T) func(string) {
	return func(page string) {
		go func() {
			resp, err := http.Get(page)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("the browser gets %s", resp.Status)
			}
		}()
	}
}

// ready signs in and returns a new Client, as the next command has one.
func (a *account) ready(t *testing.T, state string, o mcpclient.OAuth) *used {
	t.Helper()
	if err := use(t, state, a.config(o)).SignIn("s", browse(t)); err != nil {
		t.Fatal(err)
	}
	return use(t, state, a.config(o))
}

func TestSignIn(t *testing.T) {
	a, state := newAccount(t), t.TempDir()
	s, _ := use(t, state, a.config(mcpclient.OAuth{})).Status("s")
	if want := "it requires a sign-in; to sign in: flowrun mcp login s"; !strings.Contains(s.Problem, want) {
		t.Fatalf("the problem is %q, want %q", s.Problem, want)
	}
	u := a.ready(t, state, mcpclient.OAuth{})
	if s, _ = u.Status("s"); s.Problem != "" || len(s.Offers) == 0 {
		t.Fatalf("after the sign-in the status is %+v", s)
	}
	if a.asked.Get("scope") != "read" || a.asked.Get("code_challenge_method") != "S256" || a.asked.Get("resource") != a.URL+"/mcp" {
		t.Errorf("the sign-in asks for %v", a.asked)
	}
	files, _ := filepath.Glob(filepath.Join(state, "mcp", "*.token.json"))
	if len(files) != 1 {
		t.Fatalf("the files are %q", files)
	}
	if info, _ := os.Stat(files[0]); info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the file has the mode %v", info.Mode())
	}

	// The server requires more for calls. The next sign-in asks for that too.
	if got := errorOf(u.call(t.Context(), "s__echo", `{"text":"x"}`)); !strings.Contains(got, "it requires more permissions than you granted; to sign in: flowrun mcp login s") {
		t.Fatalf("the call fails with %q", got)
	}
	u = a.ready(t, state, mcpclient.OAuth{})
	scopes := strings.Fields(a.asked.Get("scope"))
	slices.Sort(scopes) // the SDK sends them in any order
	if !slices.Equal(scopes, []string{"read", "write"}) {
		t.Errorf("the second sign-in asks for %q", a.asked.Get("scope"))
	}
	if got := errorOf(u.call(t.Context(), "s__echo", `{"text":"x"}`)); got != "" {
		t.Fatalf("the call fails with %q", got)
	}

	if removed, err := u.SignOut("s"); !removed || err != nil {
		t.Fatalf("SignOut returns %v, %v", removed, err)
	}
	if removed, err := u.SignOut("s"); removed || err != nil {
		t.Fatalf("SignOut returns %v, %v the second time", removed, err)
	}
}

// TestTokenRenewed: a token that has expired or is rejected is renewed, by one process for all.
func TestTokenRenewed(t *testing.T) {
	for _, w := range []struct {
		name     string
		lifetime int
	}{{"expired", 1}, {"rejected", 3600}} {
		t.Run(w.name, func(t *testing.T) {
			a, state := newAccount(t), t.TempDir()
			a.lifetime = w.lifetime
			a.ready(t, state, mcpclient.OAuth{})
			a.lifetime = 3600
			a.revoke()
			var all sync.WaitGroup
			for range 4 {
				u := use(t, state, a.config(mcpclient.OAuth{}))
				all.Go(func() {
					if s, _ := u.Status("s"); s.Problem != "" {
						t.Error(s.Problem)
					}
				})
			}
			all.Wait()
			if a.count != 2 {
				t.Errorf("%d tokens were issued, want 2", a.count)
			}
			a.refresh = "revoked too"
			a.revoke()
			if s, _ := use(t, state, a.config(mcpclient.OAuth{})).Status("s"); !strings.Contains(s.Problem, "flowrun mcp login s") {
				t.Errorf("without a token that can be renewed, the problem is %q", s.Problem)
			}
		})
	}
}

// TestSecretOfClient: a secret of the settings is sent to the authorization server and not stored.
func TestSecretOfClient(t *testing.T) {
	t.Setenv("CLIENT_SECRET", "very secret")
	a, state := newAccount(t), t.TempDir()
	o := mcpclient.OAuth{ClientID: "mine", ClientSecret: "$CLIENT_SECRET"}
	a.lifetime = 1
	if s, _ := a.ready(t, state, o).Status("s"); s.Problem != "" {
		t.Fatal(s.Problem)
	}
	if want := "mine:very+secret"; len(a.auth) < 2 || a.auth[0] != want || a.auth[1] != want {
		t.Errorf("the requests for tokens have %q", a.auth)
	}
	files, _ := filepath.Glob(filepath.Join(state, "mcp", "*.token.json"))
	text, _ := os.ReadFile(files[0])
	if strings.Contains(string(text), "very secret") {
		t.Errorf("the secret is stored: %s", text)
	}
	o.Issuer = "https://other.example"
	err := use(t, t.TempDir(), a.config(o)).SignIn("s", browse(t))
	if err == nil || !strings.Contains(err.Error(), "issuer") {
		t.Errorf("another authorization server is accepted: %v", err)
	}
}

// TestHostileSignIn: other pages in the browser cannot end a sign-in, and no message has a secret.
func TestHostileSignIn(t *testing.T) {
	a := newAccount(t)
	u := use(t, t.TempDir(), a.config(mcpclient.OAuth{}))
	err := u.SignIn("s", func(page string) {
		at, _ := url.Parse(page)
		for _, query := range []string{"", "?code=x", "?code=x&state=wrong", "?error=access_denied&state="} {
			resp, err := http.Get(at.Query().Get("redirect_uri") + query)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%q is answered with %s", query, resp.Status)
			}
		}
		browse(t)(page)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = u.SignIn("s", func(page string) {
		at, _ := url.Parse(page)
		q := url.Values{"state": {at.Query().Get("state")}, "error": {"access_denied"}, "error_description": {"no\x1b[31m"}}
		go func() {
			if resp, err := http.Get(at.Query().Get("redirect_uri") + "?" + q.Encode()); err == nil {
				resp.Body.Close()
			}
		}()
	})
	if err == nil || !strings.Contains(err.Error(), "the sign-in failed: access_denied no") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("a refused sign-in returns %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("received interrupt"))
	u = use(t, t.TempDir(), a.config(mcpclient.OAuth{}))
	if err := u.SignIn("s", func(string) { u.Interrupt(context.Cause(ctx)) }); err == nil || !strings.Contains(err.Error(), "received interrupt") {
		t.Errorf("an interrupted sign-in returns %v", err)
	}
}

// TestElsewhere: a server on the internet cannot make flowrun send requests into its own network.
func TestElsewhere(t *testing.T) {
	asked := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer s.Close()
	for _, address := range []string{s.URL, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "https://10.0.0.1/", "https://169.254.169.254/", "https://[::1]/", "http://example.com/"} {
		if resp, err := mcpclient.ElsewhereOf("https://mcp.example.com", true).Get(address); err == nil {
			resp.Body.Close()
			t.Errorf("%s is reached", address)
		}
	}
	if err := mcpclient.DialPublic(s.Listener.Addr().String()); err == nil || asked {
		t.Errorf("a name of a private address is reached: %v", err)
	}
	resp, err := mcpclient.ElsewhereOf("http://127.0.0.1:1", false).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
