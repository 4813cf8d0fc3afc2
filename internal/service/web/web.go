package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service"
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

// timeouts holds the timeouts and intervals of the handler.
type timeouts struct {
	bodyTimeout       time.Duration // for reading a request's body
	writeTimeout      time.Duration // for one write of a stream; a whole document has answerTime
	keepAliveInterval time.Duration // between keep-alive comments of a stream
	pollInterval      time.Duration // between polls of the logs of a live run
}

// answerTime is the time limit for writing one document.
const answerTime = time.Minute

// token is one of Options.Tokens with its hash, which is compared.
type token struct {
	service.Token
	sum [sha256.Size]byte
}

// server is the handler.
type server struct {
	service.API
	Options
	timeouts
	tokens          []token
	hosts           map[string]bool
	hooks           map[string]config.Webhook
	mux             *http.ServeMux
	unauthenticated bodyBudget
	throttle        throttle
	lineIndexes     lineIndexes
	graphs          encodedDocs[engine.Plan]
	briefRuns       encodedDocs[engine.RecordedRun]
	openAPI         []byte
}

// New makes the HTTP handler of a service. Safe for concurrent use. The http.Server that
// uses it should limit the time and size of headers (ReadHeaderTimeout, MaxHeaderBytes) and
// idle connections; the handler limits everything else. If s is nil, /mcp is the only route. It returns an error for an empty
// token and for a webhook without a secret.
func New(s service.API, o Options) (http.Handler, error) {
	d := &server{API: s, Options: o, hosts: map[string]bool{}, hooks: map[string]config.Webhook{},
		unauthenticated: bodyBudget{max: maxUnauthenticatedBytes}, graphs: encodedDocs[engine.Plan]{max: maxGraphBytes}, briefRuns: encodedDocs[engine.RecordedRun]{max: maxBriefBytes},
		timeouts: timeouts{bodyTimeout: 10 * time.Second, writeTimeout: 10 * time.Second, keepAliveInterval: 15 * time.Second, pollInterval: 250 * time.Millisecond}}
	if d.Enter == nil {
		d.Enter = func(context.Context, users.Caller, bool) bool { return true }
	}
	d.MaxBody = cmp.Or(d.MaxBody, 1<<20)
	if d.Sessions == nil {
		d.Sessions = users.NewSessions()
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	for _, t := range o.Tokens {
		if t.Text == "" {
			return nil, errors.New("a token is empty, so anybody could use the service")
		}
		d.tokens = append(d.tokens, token{t, sha256.Sum256([]byte(t.Text))})
	}
	for _, h := range o.Hosts {
		d.hosts[strings.ToLower(h)] = true
	}
	for _, h := range o.Webhooks {
		if len(h.Secret) == 0 {
			return nil, fmt.Errorf("webhook %s has no secret, so anybody could call it", h.Name)
		}
		d.hooks[h.Name] = h
	}
	routes := d.routes()
	var err error
	if d.openAPI, err = document(routes, o.Version); err != nil {
		return nil, err
	}
	if s != nil {
		routes = append(routes, signInRoutes...)
	}
	d.mux = d.register(routes)
	return d, nil
}

// register makes the mux of a table. Requests without a route get the handler's own error
// format.
func (d *server) register(routes []route) *http.ServeMux {
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, rt := range routes {
		mux.Handle(rt.method+" "+rt.path, d.handler(rt))
		allowed[rt.path] = append(allowed[rt.path], rt.method)
	}
	for path, methods := range allowed {
		mux.Handle(path, d.handler(route{auth: openToAll, handle: func(_ *server, w http.ResponseWriter, r *http.Request) error {
			return wrongMethod(r.Method, methods)
		}}))
	}
	if d.API != nil {
		for _, p := range ui.Patterns() {
			mux.Handle(p, d.page(p, ui.Handler()))
		}
		for _, p := range docPatterns() {
			mux.Handle(p, d.page(p, http.HandlerFunc(serveDocs)))
		}
	}
	mux.Handle("/", d.handler(route{handle: func(_ *server, w http.ResponseWriter, r *http.Request) error { return errNoRoute }}))
	return mux
}
