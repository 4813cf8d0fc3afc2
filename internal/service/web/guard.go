package web

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
)

// response records whether the response has begun.
type response struct {
	http.ResponseWriter
	started bool
}

func (w *response) WriteHeader(status int) {
	w.started = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	w.started = true
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answerHeaders are sent with every response: it is data for the caller only.
var answerHeaders = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

// guard makes the checks of every request. See the package comment.
type guard struct {
	hosts    map[string]bool
	auth     *authenticator
	places   places
	throttle *throttle
	bodies   *bodyReader
	history  History
	runs     Runs
	tools    Tools
	feed     Feed
	log      *slog.Logger
	mux      *http.ServeMux
}

func (g *guard) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := &response{ResponseWriter: rw}
	for name, value := range answerHeaders {
		w.Header().Set(name, value)
	}
	defer g.recoverPanic(w, r)
	// The writer may not support deadlines, as in tests; then there are none.
	ctl := http.NewResponseController(rw)
	_ = ctl.SetWriteDeadline(time.Now().Add(answerTime))
	if r.ContentLength != 0 { // also for a body that no handler reads
		_ = ctl.SetReadDeadline(time.Now().Add(g.bodies.timeout))
	}
	if err := g.admit(r); err != nil {
		g.fail(w, r, err)
		return
	}
	g.mux.ServeHTTP(w, r)
}

// admit makes the checks that are the same for every route.
func (g *guard) admit(r *http.Request) error {
	if !g.isOwnHost(r) {
		return refuse(403, "foreign-host", fmt.Sprintf("this service does not accept the host name %q", clip(r.Host)),
			"use localhost, its IP address, or a name given to flowrun serve")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refuse(400, "broken-query", "the query string of the URL is not valid", "escape characters that are not letters or digits as %XX")
	}
	for name := range query {
		if slices.Contains([]string{"token", "access_token", "auth_token", "bearer", "authorization", "api_key", "apikey"}, strings.ToLower(name)) {
			return refuse(400, "token-in-query", "a token must not be part of a URL, because URLs are logged", "send it in the header Authorization: Bearer TOKEN, and replace the token")
		}
	}
	if err := new(http.CrossOriginProtection).Check(r); err != nil {
		return refuse(403, "foreign-origin", "cross-origin requests cannot change anything", "")
	}
	if p := r.URL.EscapedPath(); p != path.Clean(p) { // the mux would redirect
		return errNoRoute
	}
	return nil
}

// handler returns the handler of a route with its remaining checks.
func (g *guard) handler(rt route) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response)
		r, c, end := g.auth.withCaller(r)
		defer end()
		err := authorize(rt, r, c)
		if err == nil && c.authenticated() && rt.auth != openToAll {
			err = g.places.take(r, c.Caller, rt.lasts(r))
		}
		if err == errToken && r.Header.Get("Authorization") != "" {
			g.throttle.delay(r)
		}
		if err == nil {
			err = g.checkRunAccess(rt, r, c)
		}
		if err == nil {
			err = rt.checkQuery(r)
		}
		if err == nil && strings.Contains(rt.path, "{id}") {
			_, err = runID(r)
		}
		if err == nil {
			g.position(w, r, c)
			err = rt.handle(w, r)
		}
		if err != nil {
			g.fail(w, r, err)
		}
	})
}

// position says which event was the last before a state is read: a client that follows after it misses none.
func (g *guard) position(w http.ResponseWriter, r *http.Request, c caller) {
	if r.Method == http.MethodGet && g.feed != nil && c.authenticated() {
		w.Header().Set("Last-Event-ID", strconv.FormatUint(g.feed.Last(), 10))
	}
}

// authMode is the set of callers that need no token.
type authMode int

const (
	tokenRequired  authMode = iota // none
	openOnLoopback                 // those who connect over the loopback interface
	openToAll                      // all; the handler may authenticate by itself
)

// authorize checks that the caller may make requests of a route.
func authorize(rt route, r *http.Request, c caller) error {
	open := rt.auth == openToAll || rt.auth == openOnLoopback && onLoopback(r)
	switch {
	case !c.authenticated() && !open:
		return errToken
	case c.readOnly && changes(r.Method) && !rt.signsIn:
		return errReadOnly
	case c.authenticated() && !open && !c.Role.Includes(rt.role()):
		return errRole(c.Role, rt.role())
	}
	return nil
}

// runIDs returns the pattern of run ids. Ids are also names of folders.
var runIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`) })

// runID returns the run that the URL names.
func runID(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !runIDs().MatchString(id) {
		return "", history.ErrNoRun
	}
	return id, nil
}

// checkRunAccess checks the runs that a request names, in its path and to compare it with, against the caller's
// token. A run of a tool that the service does not offer is not continued or retried over the network.
func (g *guard) checkRunAccess(rt route, r *http.Request, c caller) error {
	if !strings.Contains(rt.path, "/runs/{id}") || c.allTools() && (!rt.continuesRun || onSocket(r)) {
		return nil
	}
	id, err := runID(r)
	if err != nil {
		return err
	}
	for _, id := range append([]string{id}, r.URL.Query()["with"]...) {
		if err := g.checkRun(rt, r, c, id); err != nil {
			return err
		}
	}
	return nil
}

func (g *guard) checkRun(rt route, r *http.Request, c caller, id string) error {
	if !c.allTools() {
		if info, err := g.history.Info(r.Context(), id); err != nil || !c.mayUse(info.Tool) {
			return cmp.Or(err, history.ErrNoRun)
		}
	}
	p, err := g.runs.RecordedRun(r.Context(), id)
	if err != nil {
		return err
	}
	if err := g.tools.Offered(p); err != nil && !c.allTools() {
		return history.ErrNoRun // of another file, whose tool only has the name of one that the caller may use
	} else if err != nil && rt.continuesRun && !onSocket(r) {
		return err
	}
	return nil
}

// isOwnHost reports whether the request's Host is a name of this service. Without this check, a
// foreign page could point its own name to this machine and be of the same origin.
func (g *guard) isOwnHost(r *http.Request) bool {
	host := strings.ToLower(strings.TrimSuffix(hostname(r.Host), "."))
	if onSocket(r) || host == "localhost" || g.hosts[host] || r.TLS != nil && len(g.hosts) == 0 {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.Unmap() == localAddr(r))
}

// hostname returns a Host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// onSocket reports whether the request came by a Unix socket. The permissions of the
// socket's file have then authenticated the caller.
func onSocket(r *http.Request) bool {
	_, ok := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	return ok
}

// onLoopback reports whether the request came from this machine.
func onLoopback(r *http.Request) bool { return localAddr(r).IsLoopback() }

// localAddr returns the local address that the request connected to.
func localAddr(r *http.Request) netip.Addr {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
