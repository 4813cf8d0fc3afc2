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

	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/service"
)

// Options are what a door needs beside the service.
type Options struct {
	// Tokens are what callers over the network have to show, one of them. Without any
	// nobody comes in but over a Unix socket.
	Tokens []service.Token
	// Hosts are the names, without ports, by which the service may be called beside
	// localhost and the address that the caller reached. Where there are none, any name
	// is taken over TLS, whose certificate has proven it.
	Hosts []string
	// StateDir holds the logs of runs.
	StateDir string
	// Metrics serves /metrics; nil for none.
	Metrics http.Handler
	// Webhooks are the callers under /hooks.
	Webhooks []config.Webhook
	// Schedules, where they are not nil, have routes of their own.
	Schedules service.Schedules
	// Version is the program's.
	Version string
	// MaxBody is the most bytes of a request's body, 1 MiB where it is 0.
	MaxBody int64
	// Stopping is closed when the service begins to stop: streams end then. nil never is.
	Stopping <-chan struct{}
	// Trust, where it is not nil, is called with the context of each request that has
	// shown a token, or the proof of a webhook.
	Trust func(context.Context)
	// Log hears of what went wrong inside; nil for nobody. It is never told a token, a
	// header, a query or a body.
	Log *slog.Logger
}

// patience bounds how long the door waits.
type patience struct {
	body  time.Duration // for a request's body
	write time.Duration // for one write of a stream; several for a whole document
	beat  time.Duration // between signs of life on a stream
	look  time.Duration // between looks at the logs of a run that goes on
}

// answerTime bounds the writing of one document.
const answerTime = time.Minute

// token is one of Options.Tokens, and what it is compared by.
type token struct {
	service.Token
	sum [sha256.Size]byte
}

// door is the handler.
type door struct {
	service.API
	Options
	patience
	tokens    []token
	hosts     map[string]bool
	hooks     map[string]config.Webhook
	mux       *http.ServeMux
	strangers bodies
	brake     brake
	openAPI   []byte
}

// New makes the handler for a service. It is safe for concurrent use, and keeps nothing
// between requests. The server that it is handed to should bound the time and size of
// headers (http.Server: ReadHeaderTimeout, MaxHeaderBytes) and idle connections; time and
// size of everything else are bounded here. The error tells of webhooks that cannot be.
func New(s service.API, o Options) (http.Handler, error) {
	d := &door{API: s, Options: o, hosts: map[string]bool{}, hooks: map[string]config.Webhook{},
		strangers: bodies{max: maxStrangerBytes},
		patience:  patience{body: 10 * time.Second, write: 10 * time.Second, beat: 15 * time.Second, look: 250 * time.Millisecond}}
	if d.Trust == nil {
		d.Trust = func(context.Context) {}
	}
	d.MaxBody = cmp.Or(d.MaxBody, 1<<20)
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
	d.mux = d.register(routes)
	return d, nil
}

// register makes the mux of a table. What it has no route for is told in the door's own
// form.
func (d *door) register(routes []route) *http.ServeMux {
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, rt := range routes {
		mux.Handle(rt.method+" "+rt.path, d.handler(rt))
		allowed[rt.path] = append(allowed[rt.path], rt.method)
	}
	for path, methods := range allowed {
		mux.Handle(path, d.handler(route{open: anybody, handle: func(_ *door, w http.ResponseWriter, r *http.Request) error {
			return wrongMethod(r.Method, methods)
		}}))
	}
	mux.Handle("/", d.handler(route{handle: func(_ *door, w http.ResponseWriter, r *http.Request) error { return errNoRoute }}))
	return mux
}
