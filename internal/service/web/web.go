package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/ui"
	"github.com/flowrun/flowrun/internal/service/users"
)

// Options configures the handler.
type Options struct {
	// Tokens are the tokens that callers over the network may use. Without tokens, only
	// callers on a Unix socket are admitted.
	Tokens []service.Token
	// Hosts are the names, without ports, under which the service may be called, in
	// addition to localhost and the address that the caller connected to. If there are
	// none, any name is accepted over TLS, because the certificate has proved it.
	Hosts []string
	// StateDir contains the logs of runs.
	StateDir string
	// Metrics serves /metrics; nil for no such route.
	Metrics http.Handler
	// Webhooks are served under /hooks.
	Webhooks []config.Webhook
	// MCP serves /mcp, for clients of the Model Context Protocol; nil for no such route. Its
	// responses can be streams that last as long as the client stays connected.
	MCP http.Handler
	// Schedules adds the routes of schedules; nil for none.
	Schedules service.Schedules
	// Attention returns what needs a person; nil for no such route.
	Attention func() []attention.Item
	// Audit is the audit log; nil for no such route.
	Audit audit.Log
	// Users are the users of the service; nil for none. The holder of a token in Tokens may do
	// everything that the token is valid for.
	Users *users.Registry
	// Sessions are the sessions of browsers and their sign-in links. Default: none yet.
	Sessions *users.Sessions
	// UserHeader is the header in which a proxy sends the name of the user. It is trusted from
	// loopback addresses and Unix sockets. "" for no such header.
	UserHeader string
	// ReadOnly refuses all requests over the network that could change something.
	ReadOnly bool
	// URL is the address of the service for browsers; "" if they cannot reach it.
	URL string
	// Version is the version of the program.
	Version string
	// MaxBody is the maximum size of a request body in bytes; 0 means 1 MiB.
	MaxBody int64
	// Stopping is closed when the service begins to stop; streams end then. nil never
	// closes.
	Stopping <-chan struct{}
	// Enter reports whether there is a place for a request of an authenticated caller. The place is
	// taken until ctx, the context of the request, ends. lasts says that the response can last as long as
	// the client likes. nil means that there is always a place.
	Enter func(ctx context.Context, c users.Caller, lasts bool) bool
	// Log receives internal errors; nil for none. No token, header, query or body is
	// logged.
	Log *slog.Logger
}

// answerTime is the time limit for writing one document.
const answerTime = time.Minute

// server is the handler: the guard of all requests, and the handlers behind it.
type server struct {
	*guard
	groups []group
}

// New makes the HTTP handler of a service. Safe for concurrent use. The http.Server that
// uses it should limit the time and size of headers (ReadHeaderTimeout, MaxHeaderBytes) and
// idle connections; the handler limits everything else. If s is nil, /mcp is the only route. It
// returns an error for an empty token and for a webhook without a secret.
func New(s *Service, o Options) (http.Handler, error) {
	o.Sessions, o.Log = cmp.Or(o.Sessions, users.NewSessions()), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	auth, err := newAuthenticator(o)
	if err != nil {
		return nil, err
	}
	bodies := &bodyReader{max: cmp.Or(o.MaxBody, 1<<20), timeout: 10 * time.Second, unauthenticated: bodyBudget{max: maxUnauthenticatedBytes}}
	g := &guard{hosts: map[string]bool{}, auth: auth, places: o.Enter, throttle: &throttle{stopping: o.Stopping}, bodies: bodies, log: o.Log}
	if s != nil {
		g.history, g.runs, g.tools, g.feed = s.History, s.Runs, s.Tools, s.Feed
	}
	for _, h := range o.Hosts {
		g.hosts[strings.ToLower(h)] = true
	}
	groups, err := newGroups(s, o, g)
	if err != nil {
		return nil, err
	}
	g.register(tableOf(groups), s != nil)
	if s != nil {
		for _, p := range ui.Patterns() {
			g.mux.Handle(p, g.page(p, ui.Handler()))
		}
		for _, p := range docPatterns() {
			g.mux.Handle(p, g.page(p, http.HandlerFunc(serveDocs)))
		}
	}
	return &server{g, groups}, nil
}

// register makes the mux of a table. Requests without a route get the handler's own error
// format; with pages, a person who has typed a wrong address gets one.
func (g *guard) register(routes []route, pages bool) {
	g.mux = http.NewServeMux()
	allowed := map[string][]string{}
	for _, rt := range routes {
		g.mux.Handle(rt.method+" "+rt.path, g.handler(rt))
		allowed[rt.path] = append(allowed[rt.path], rt.method)
	}
	for path, methods := range allowed {
		g.mux.Handle(path, g.handler(route{auth: openToAll, handle: func(_ http.ResponseWriter, r *http.Request) error {
			return wrongMethod(r.Method, methods)
		}}))
	}
	none := g.handler(route{handle: func(http.ResponseWriter, *http.Request) error { return errNoRoute }})
	page := g.page("", ui.NotFound())
	g.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if pages && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		none.ServeHTTP(w, r)
	})
}
