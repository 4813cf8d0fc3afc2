package web

import (
	"bytes"
	_ "embed"
	"html"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/internal/service/ui"
	"github.com/flowrun/flowrun/internal/service/users"
)

// sessionHandlers answer requests to sign in and out, and about sessions.
type sessionHandlers struct {
	sessions *users.Sessions
	auth     *authenticator
	bodies   *bodyReader
	throttle *throttle
	url      string // of the service for browsers; "" if they cannot reach it
	version  string
}

// routes returns the routes of sessions, and of the pages on which people sign in. These work without JavaScript.
//
// A sign-in link only shows a page whose form sends the code. Reading the link uses nothing up, so a
// program that fetches links in advance cannot consume it, and the cookie is set by a request of our
// own page, so the browser sends it with the next one although its mode is SameSite=Strict.
func (h sessionHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/session", id: "getSession", summary: "Show who you are and what you may do",
			answers: []answer{{200, "The caller and the service.", "", "session"}}, handle: h.showSession},
		{method: "POST", path: "/api/v1/login-link", id: "createLoginLink", summary: "Create a sign-in link for the web UI",
			doc:  "The link works once and for 5 minutes. Only on the Unix socket of the service.",
			body: "nothing", answers: []answer{{200, "The link.", "", "login-link"}}, handle: h.createLoginLink},
		{method: "GET", path: "/login", id: "login", auth: openToAll, signsIn: true, handle: h.loginPage,
			query: []param{{name: "code", kind: "string"}, {name: "next", kind: "string"}}},
		{method: "POST", path: "/login", id: "signIn", auth: openToAll, signsIn: true, handle: h.signIn},
		{method: "POST", path: "/logout", id: "logout", signsIn: true, handle: h.signOut},
		{method: "GET", path: "/login.js", id: "loginScript", auth: openToAll, signsIn: true, handle: func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = w.Write(loginScript)
			return nil
		}},
	}
}

var (
	//go:embed signin/login.html
	loginHTML string
	//go:embed signin/login.js
	loginScript []byte
)

// page serves the pages of the web UI with a pattern to those who have signed in, and sends others to
// sign in. The assets are the same for everyone, and public: the form is made of them too.
func (g *guard) page(pattern string, pages http.Handler) http.Handler {
	public := strings.HasSuffix(pattern, "/assets/")
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response)
		r, c, end := g.auth.withCaller(r)
		defer end()
		if !public {
			if !c.authenticated() {
				http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
				return
			}
			if err := g.places.take(r, c.Caller, false); err != nil {
				g.fail(w, r, err)
				return
			}
			w.Header().Set("Referrer-Policy", "same-origin")
		}
		pages.ServeHTTP(w, r)
	})
}

// loginPage shows the form. With the code of a link, the form sends that.
func (h sessionHandlers) loginPage(w http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	next := localPath(in.Get("next"))
	if !in.Has("code") && callerFrom(r).session != nil {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	return writeLogin(w, http.StatusOK, in.Get("code"), next, "")
}

// writeLogin writes the form with a message.
func writeLogin(w http.ResponseWriter, status int, code, next, message string) error {
	kind := "token"
	if code != "" {
		kind = "link"
	}
	page := strings.NewReplacer("{kind}", kind, "{code}", html.EscapeString(code), "{next}", html.EscapeString(next), "{message}", html.EscapeString(message)).Replace(loginHTML)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", ui.Policy)
	h.Set("Referrer-Policy", "same-origin") // no-referrer would make the origin of the form null
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page))
	return nil
}

// signIn starts a session for the sender of a valid code or token.
func (h sessionHandlers) signIn(w http.ResponseWriter, r *http.Request) error {
	form, err := h.bodies.readForm(w, r)
	if err != nil {
		return err
	}
	next := localPath(form.Get("next"))
	secret, ok, message := "", false, "This token is not valid."
	if code := strings.TrimSpace(form.Get("code")); code != "" {
		secret, ok = h.sessions.Redeem(code)
		message = "This link was already used or has expired. For a new link, run: flowrun ui"
	} else if c, sum := h.auth.holder(form.Get("token")); c.authenticated() {
		secret, ok = h.sessions.Start(sum), true
	}
	if !ok {
		h.throttle.delay(r)
		return writeLogin(w, http.StatusUnauthorized, "", next, message)
	}
	h.endSession(r)
	http.SetCookie(w, sessionCookie(r, secret, 0))
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// readForm reads the fields of a form.
func (br *bodyReader) readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, refuse(415, "media-type", "the content type of the body is not application/x-www-form-urlencoded", "")
	}
	b, err := br.readUnauthenticated(w, r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(bytes.TrimSpace(b)))
	if err != nil {
		return nil, refuse(400, "broken-body", "the body is not a form", "")
	}
	return form, nil
}

// signOut ends the session of the browser.
func (h sessionHandlers) signOut(w http.ResponseWriter, r *http.Request) error {
	h.endSession(r)
	http.SetCookie(w, sessionCookie(r, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// endSession ends the session that a request belongs to, if any.
func (h sessionHandlers) endSession(r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		h.sessions.End(c.Value)
	}
}

// cookieName returns the name of the cookie for the address that the browser called. Cookies are
// shared by all ports of a host, so the port is part of the name.
func cookieName(r *http.Request) string {
	name := "flowrun"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "-" + port
	}
	if r.TLS != nil {
		name = "__Host-" + name
	}
	return name
}

// sessionCookie returns the cookie of a session. It ends with the browser, or with the service.
func sessionCookie(r *http.Request, secret string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: cookieName(r), Value: secret, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode}
}

// localPath returns a URL of this service, without scheme and host, or / for any other text.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n\t") {
		return "/"
	}
	return text
}

// session is what a caller may know about itself and the service.
type session struct {
	User     string `json:"user,omitempty"`
	Role     string `json:"role"`
	ReadOnly bool   `json:"read_only"`
	MayRun   bool   `json:"may_run"`
	MayEdit  bool   `json:"may_edit"`
	SignedIn bool   `json:"signed_in"`
	Version  string `json:"version"`
}

func (h sessionHandlers) showSession(w http.ResponseWriter, r *http.Request) error {
	c := callerFrom(r)
	return writeJSON(w, 200, session{User: c.user, Role: string(c.Role), ReadOnly: c.readOnly, MayRun: c.mayRun(), MayEdit: c.mayEdit(), SignedIn: c.session != nil, Version: h.version})
}

// createLoginLink creates a link for the owner of the service.
func (h sessionHandlers) createLoginLink(w http.ResponseWriter, r *http.Request) error {
	if err := h.bodies.readFields(w, r); err != nil {
		return err
	}
	switch {
	case !onSocket(r) || callerFrom(r).user != "":
		return errNoRoute
	case h.url == "":
		return refuse(409, "no-address", "this service has no address for browsers", "start flowrun serve with --listen HOST:PORT")
	}
	return writeJSON(w, 200, map[string]string{"url": h.url + "/login?code=" + h.sessions.Link()})
}
