package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/service/web"
)

// loginLink asks for a sign-in link on the socket.
func (b *bench) loginLink(socket *http.Client) string {
	b.Helper()
	res, err := socket.Post("http://localhost/api/v1/login-link", "application/json", strings.NewReader("{}"))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	b.check("POST", "/api/v1/login-link", res, doc)
	var link struct{ URL string }
	if err := json.Unmarshal(doc, &link); err != nil || res.StatusCode != 200 {
		b.Fatalf("%d %s", res.StatusCode, doc)
	}
	return link.URL
}

// browser is a client with cookies that does not follow redirects.
func (b *bench) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	return &http.Client{Jar: jar, Transport: b.server.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// browse sends a request of a browser. A form is sent by POST.
func (b *bench) browse(c *http.Client, path string, form url.Values, header ...string) (*http.Response, string) {
	b.Helper()
	method, body := "GET", ""
	if form != nil {
		method, body = "POST", form.Encode()
	}
	r := b.request(method, path, body, append([]string{"Authorization", ""}, header...)...)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	return res, string(text)
}

// signIn returns a browser that is signed in with a token.
func (b *bench) signIn(token string) *http.Client {
	b.Helper()
	c := b.browser()
	if res, text := b.browse(c, "/login", url.Values{"token": {token}}); res.StatusCode != 303 {
		b.Fatalf("%d %s", res.StatusCode, text)
	}
	return c
}

// code returns the code of a sign-in link.
func code(t testing.TB, link string) string {
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(link, "http://127.0.0.1:7878/login?code=") {
		t.Fatal(link, err)
	}
	return u.Query().Get("code")
}

// A sign-in link works once. To read it uses nothing up.
func TestSignInLink(t *testing.T) {
	b := newBench(t, web.Options{URL: "http://127.0.0.1:7878"})
	c, code := b.browser(), code(t, b.loginLink(b.onSocket()))
	for range 2 {
		res, text := b.browse(c, "/login?code="+code+"&next=/runs", nil)
		if res.StatusCode != 200 || !strings.Contains(text, `value="`+code+`"`) || len(res.Cookies()) > 0 || res.Header.Get("Content-Security-Policy") == "" {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
	}
	form := url.Values{"code": {code}, "next": {"/runs?tool=x"}}
	res, _ := b.browse(c, "/login", form)
	if res.StatusCode != 303 || res.Header.Get("Location") != "/runs?tool=x" || len(res.Cookies()) != 1 {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(b.server.URL, "http://"), ":")
	if k := res.Cookies()[0]; k.Name != "flowrun-"+port || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Path != "/" || k.Domain != "" || k.Secure {
		t.Errorf("the cookie is %v", k)
	}
	if res, text := b.browse(c, "/api/v1/session", nil); res.StatusCode != 200 || !strings.Contains(text, `"role":"admin"`) || !strings.Contains(text, `"signed_in":true`) {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	if res, text := b.browse(b.browser(), "/login", form); res.StatusCode != 401 || !strings.Contains(text, "already used") || len(res.Cookies()) > 0 {
		t.Errorf("a second time: %d %s", res.StatusCode, text)
	}
	if strings.Contains(b.logged(), code) {
		t.Error("the code is in the log")
	}
	for _, path := range []string{"/", "/runs", "/runs/1m80yahhymcge/logs", "/assets/app.css"} {
		if res, _ := b.browse(c, path, nil); res.StatusCode != 200 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if res, _ := b.browse(c, "/logout", url.Values{}); res.StatusCode != 303 || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
}

// A link can be created on the socket only, and not if there is no address.
func TestLoginLinkOnSocketOnly(t *testing.T) {
	b := newBench(t, web.Options{URL: "http://127.0.0.1:7878"})
	if res, doc := b.ask("POST", "/api/v1/login-link", ""); res.StatusCode != 404 {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
	b = newBench(t, web.Options{})
	res, err := b.onSocket().Post("http://localhost/api/v1/login-link", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != 409 {
		t.Errorf("%d", res.StatusCode)
	}
}

// Nothing of a page is sent without a session, and no other caller can use a session.
func TestPagesNeedSession(t *testing.T) {
	b := newBench(t, web.Options{})
	for path, status := range map[string]int{"/": 303, "/runs": 303, "/runs/x/logs?step=a&line=3": 303, "/tools/x": 303, "/edit/x": 303, "/api/v1/session": 401, "/api/v1/runs": 401, "/assets/app.js": 200, "/login": 200} {
		res, text := b.browse(b.browser(), path, nil)
		if res.StatusCode != status || status == 303 && (res.Header.Get("Location") != "/login?next="+url.QueryEscape(path) || strings.Contains(text, "app.js")) {
			t.Errorf("%s: %d %v %s", path, res.StatusCode, res.Header, text)
		}
	}
	c := b.signIn(token)
	if res, _ := b.browse(c, "/login?next=/tools", nil); res.StatusCode != 303 || res.Header.Get("Location") != "/tools" {
		t.Errorf("a second sign-in: %d %v", res.StatusCode, res.Header)
	}
	for _, header := range [][]string{{"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "null"}} {
		r := b.request("POST", "/api/v1/runs", `{"tool": "hello"}`, append([]string{"Authorization", ""}, header...)...)
		for _, k := range c.Jar.Cookies(r.URL) {
			r.AddCookie(k)
		}
		if res, doc := b.send(r); res.StatusCode != 403 {
			t.Errorf("%v: %d %s", header, res.StatusCode, doc)
		}
		if res, _ := b.browse(b.browser(), "/login", url.Values{"token": {token}}, header...); res.StatusCode != 403 {
			t.Errorf("sign-in by %v: %d", header, res.StatusCode)
		}
	}
	if res, _ := b.browse(c, "/api/v1/session", nil, "Authorization", "Bearer wrong"); res.StatusCode != 401 {
		t.Errorf("a wrong token with a session: %d", res.StatusCode)
	}
	if res, _ := b.browse(c, "/logout", nil); res.StatusCode != 405 {
		t.Errorf("signing out by GET: %d", res.StatusCode)
	}
	b.browse(c, "/logout", url.Values{})
	if res, _ := b.browse(c, "/api/v1/session", nil); res.StatusCode != 401 {
		t.Errorf("after signing out: %d", res.StatusCode)
	}
}

func TestSignInFails(t *testing.T) {
	b := newBench(t, web.Options{})
	for name, form := range map[string]url.Values{
		"no token": {}, "wrong token": {"token": {"x"}}, "half a token": {"token": {token[:8]}}, "wrong code": {"code": {"x"}}, "a token as a code": {"code": {token}},
	} {
		res, text := b.browse(b.browser(), "/login", form)
		if res.StatusCode != 401 || len(res.Cookies()) > 0 || !strings.Contains(text, `name="token"`) || strings.Contains(text, token) {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
	if res, _ := b.browse(b.browser(), "/login", url.Values{"token": {token}}, "Content-Type", "text/plain"); res.StatusCode != 415 {
		t.Errorf("a text: %d", res.StatusCode)
	}
	for next, want := range map[string]string{"": "/", "/runs?a=b#c": "/runs?a=b#c", "//evil.example": "/", "https://evil.example": "/", "/\\evil.example": "/", "runs": "/", "javascript:alert(1)": "/", "/a\r\nb": "/", "/\t/evil.example": "/"} {
		if res, _ := b.browse(b.browser(), "/login", url.Values{"token": {token}, "next": {next}}); res.Header.Get("Location") != want {
			t.Errorf("%q goes to %q", next, res.Header.Get("Location"))
		}
	}
	_, text := b.browse(b.browser(), "/login?code="+url.QueryEscape(`"><script>alert(1)</script>`)+"&next="+url.QueryEscape(`/"><script>`), nil)
	if strings.Contains(text, "<script>") {
		t.Errorf("%s", text)
	}
}

// A session is valid as long as its token, and for the same tools. Its streams end with it.
func TestSessionOfToken(t *testing.T) {
	dir := t.TempDir()
	anna, err := users.Add(dir, "anna", users.Operator)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, web.Options{Users: users.NewRegistry(dir, func(err error) { t.Error(err) }),
		Tokens: []service.Token{{Text: "a-token-for-hello", Tools: []string{"hello"}}}})
	web.Hasten(b.handler, time.Second, time.Second, 20*time.Millisecond)
	some := b.signIn("a-token-for-hello")
	if _, text := b.browse(some, "/api/v1/tools", nil); !strings.Contains(text, `"hello"`) || strings.Contains(text, `"gate"`) {
		t.Errorf("%s", text)
	}
	if _, text := b.browse(some, "/api/v1/session", nil); !strings.Contains(text, `"role":"operator"`) {
		t.Errorf("a limited token: %s", text)
	}
	hers := b.signIn(anna)
	if _, text := b.browse(hers, "/api/v1/session", nil); !strings.Contains(text, `"user":"anna"`) || !strings.Contains(text, `"role":"operator"`) {
		t.Errorf("%s", text)
	}
	for name, end := range map[string]func(c *http.Client){
		"signing out":   func(c *http.Client) { b.browse(c, "/logout", url.Values{}) },
		"removing anna": func(*http.Client) { users.Remove(dir, "anna") },
	} {
		c := b.signIn(token)
		if name == "removing anna" {
			c = hers
		}
		res, err := c.Do(b.request("GET", "/api/v1/events", "", "Authorization", ""))
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res, err)
		}
		end(c)
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		res.Body.Close()
		if res, _ := b.browse(c, "/api/v1/session", nil); res.StatusCode != 401 {
			t.Errorf("after %s: %d", name, res.StatusCode)
		}
	}
}

// A proxy on this machine may name the user, if that is enabled.
func TestUserHeader(t *testing.T) {
	dir := t.TempDir()
	if _, err := users.Add(dir, "anna", users.Viewer); err != nil {
		t.Fatal(err)
	}
	registry := users.NewRegistry(dir, func(err error) { t.Error(err) })
	for _, c := range []struct {
		name, header string
		values       []string
		remote       bool
		status       int
	}{
		{"a user", "X-Remote-User", []string{"anna"}, false, 200},
		{"a stranger", "X-Remote-User", []string{"eve"}, false, 401},
		{"two names", "X-Remote-User", []string{"anna", "eve"}, false, 401},
		{"not enabled", "", []string{"anna"}, false, 401},
		{"from elsewhere", "X-Remote-User", []string{"anna"}, true, 401},
		{"no name", "X-Remote-User", nil, false, 401},
	} {
		b := newBench(t, web.Options{Users: registry, UserHeader: c.header})
		r := b.request("GET", "/api/v1/session", "", "Authorization", "")
		r.Header["X-Remote-User"] = c.values
		if c.remote {
			r.URL.Host, r.Host = "localhost", "localhost"
			w := httptest.NewRecorder()
			if b.handler.ServeHTTP(w, r); w.Code != c.status {
				t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
			}
			continue
		}
		if res, doc := b.send(r); res.StatusCode != c.status || c.status == 200 && !strings.Contains(string(doc), `"role":"viewer"`) {
			t.Errorf("%s: %d %s", c.name, res.StatusCode, doc)
		}
	}
}

// Over TLS, the cookie is Secure and bound to the host.
func TestCookieOverTLS(t *testing.T) {
	b := newBench(t, web.Options{})
	s := httptest.NewTLSServer(b.handler)
	defer s.Close()
	c := s.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := c.PostForm(s.URL+"/login", url.Values{"token": {token}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if k := res.Cookies()[0]; !strings.HasPrefix(k.Name, "__Host-flowrun-") || !k.Secure || k.Path != "/" || k.Domain != "" {
		t.Errorf("%v", k)
	}
}
