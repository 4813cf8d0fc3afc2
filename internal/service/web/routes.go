package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/service"
)

// route is one row of the table: a request and its responses.
type route struct {
	method, path string
	id           string // operationId
	summary      string
	doc          string // further description, in Markdown
	auth         authMode
	query        []param
	headers      []param
	body         string // schema of the request's body, "" for none
	continuesRun bool   // continues or retries an existing run
	signsIn      bool   // a page to sign in or out, which a read-only service allows; not a part of the API
	anyBody      bool   // the body may have any format
	answers      []answer
	handle       func(w http.ResponseWriter, r *http.Request) error
}

// param is a query parameter or a header. Its kind is a type of JSON Schema.
type param struct {
	name, kind, doc string
	enum            []string
	many            bool // may occur more than once
}

// answer is a successful response of a route. Every other response is the document "error".
type answer struct {
	status int
	doc    string
	media  string // "" is application/json
	schema string
}

const (
	asStream = "text/event-stream"
	asText   = "text/plain; charset=utf-8"
	follow   = "follow" // the query parameter that makes a response a stream
)

var (
	after  = param{name: "after", kind: "integer", doc: "The number of the last event you have; the stream continues after it."}
	lastID = param{name: "Last-Event-ID", kind: "integer", doc: "Like after, but sent by browsers when they reconnect; overrides after."}
	trace  = param{name: "traceparent", kind: "string", doc: "W3C trace context of the run."}

	accepted = answer{202, "The run's id. The run is durably recorded; the header Location contains its URL path.", "", "started"}
)

// group is a group of handlers, with its rows of the table.
type group interface{ routes() []route }

// newGroups gives each group of handlers what it needs.
func newGroups(s *Service, o Options, g *guard) (groups []group, err error) {
	hooks, err := hooksByName(o.Webhooks)
	if err != nil {
		return nil, err
	}
	limits := &streaming{stopping: o.Stopping, writeTimeout: 10 * time.Second, keepAliveInterval: 15 * time.Second,
		pollInterval: 250 * time.Millisecond}
	if s == nil {
		return []group{mcpHandlers{o.MCP, limits}}, nil
	}
	list, start := runList{s.History, s.Tools}, starter{s.Starter, s.Runs}
	openAPI := sync.OnceValues(func() ([]byte, error) { return document(tableOf(groups), o.Version) })
	groups = []group{
		sessionHandlers{o.Sessions, g.auth, g.bodies, g.throttle, o.URL, o.Version},
		list,
		&runHandlers{start, s.Control, s.History, s.Runs, g.bodies, encodedDocs[engine.RecordedRun]{max: maxBriefBytes}},
		logHandlers{s.History, s.Runs, o.StateDir, limits},
		&lineHandlers{runs: s.Runs, stateDir: o.StateDir},
		diffHandlers{s.History, s.Runs, o.StateDir},
		artifactHandlers{s.Runs},
		continuationHandlers{s.History, s.Control, g.bodies},
		questionHandlers{s.Runs, list, s.Control, g.bodies, o.Log},
		toolHandlers{s.Tools, start, s.History, g.bodies, o.StateDir},
		&graphHandlers{s.Tools, s.Runs, encodedDocs[engine.Plan]{max: maxGraphBytes}},
		editorHandlers{s.Editor, start, g.bodies},
		eventHandlers{s.History, s.Feed, limits},
		serviceHandlers{s.Health, o.Metrics, openAPI},
	}
	if o.Attention != nil {
		groups = append(groups, attentionHandlers{o.Attention})
	}
	if o.Audit != nil {
		groups = append(groups, auditHandlers{o.Audit})
	}
	if o.Schedules != nil {
		groups = append(groups, scheduleHandlers{o.Schedules, start, g.bodies})
	}
	if len(hooks) > 0 {
		groups = append(groups, webhookHandlers{hooks, start, g.bodies, g.places, g.throttle, o.Log})
	}
	if o.MCP != nil {
		groups = append(groups, mcpHandlers{o.MCP, limits})
	}
	return groups, nil
}

// tableOf returns the table of routes.
func tableOf(groups []group) (table []route) {
	for _, g := range groups {
		table = append(table, g.routes()...)
	}
	return table
}

// lasts reports whether the response to a request can last as long as the client likes.
func (rt route) lasts(r *http.Request) bool {
	isStream := slices.ContainsFunc(rt.answers, func(a answer) bool { return a.media == asStream })
	return r.Method == http.MethodGet && (isStream || r.URL.Query().Get(follow) == "1")
}

// checkQuery rejects query parameters that the route does not have, instead of ignoring
// them.
func (rt route) checkQuery(r *http.Request) error {
	var known []string
	for _, p := range rt.query {
		known = append(known, p.name)
	}
	for name, values := range r.URL.Query() {
		i := slices.Index(known, name)
		switch {
		case i < 0 && len(known) == 0:
			return refuse(400, "unknown-query", fmt.Sprintf("unknown query parameter %q", clip(name)), "remove it")
		case i < 0:
			return refuse(400, "unknown-query", fmt.Sprintf("unknown query parameter %q", clip(name)), didYouMean(diagnostic.Near(name, known), "the parameters are "+strings.Join(known, ", ")))
		case len(values) > 1 && !rt.query[i].many:
			return refuse(400, "repeated-query", fmt.Sprintf("the query parameter %s is given twice", name), "")
		}
		if e := rt.query[i].enum; e != nil && rt.query[i].kind == "string" {
			for _, v := range values {
				if !slices.Contains(e, v) {
					return refuse(400, "wrong-query", fmt.Sprintf("the query parameter %s cannot be %q", name, clip(v)), didYouMean(diagnostic.Near(v, e), "use one of: "+strings.Join(e, ", ")))
				}
			}
		}
	}
	return nil
}

// serviceHandlers answer requests about the service itself.
type serviceHandlers struct {
	health  func() service.Health
	metrics http.Handler // nil for no such route
	openAPI func() ([]byte, error)
}

func (h serviceHandlers) routes() []route {
	list := []route{
		{method: "GET", path: "/api/v1/openapi.json", id: "openapi", summary: "This document", auth: openOnLoopback,
			answers: []answer{{200, "An OpenAPI 3.1 document.", "", "openapi"}}, handle: h.describe},
		{method: "GET", path: "/healthz", id: "health", summary: "Check that the service is alive", auth: openToAll,
			answers: []answer{{200, "The service is alive.", "", "health"}}, handle: h.healthz},
		{method: "GET", path: "/readyz", id: "ready", summary: "Check that the service accepts requests", auth: openToAll,
			answers: []answer{{200, "The service is ready.", "", "health"}, {503, "It is not ready: it is stopping, or cannot write the history.", "", "health"}}, handle: h.readyz},
	}
	if h.metrics != nil {
		list = append(list, route{method: "GET", path: "/metrics", id: "metrics", summary: "Metrics for Prometheus", auth: openOnLoopback,
			answers: []answer{{200, "The metrics.", "text/plain", ""}}, handle: h.showMetrics})
	}
	return list
}

func (h serviceHandlers) describe(w http.ResponseWriter, _ *http.Request) error {
	doc, err := h.openAPI()
	if err != nil {
		return err
	}
	return writeDocument(w, 200, doc)
}

func (h serviceHandlers) showMetrics(w http.ResponseWriter, r *http.Request) error {
	if !callerFrom(r).allTools() && !onLoopback(r) {
		return errToken // metrics name every tool
	}
	h.metrics.ServeHTTP(w, r)
	return nil
}

func (h serviceHandlers) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, 200, map[string]string{"status": "ok"})
}

func (h serviceHandlers) readyz(w http.ResponseWriter, _ *http.Request) error {
	switch now := h.health(); {
	case now.Draining:
		return writeJSON(w, 503, map[string]string{"status": "draining"})
	case !now.Ready:
		return writeJSON(w, 503, map[string]string{"status": "not-ready"})
	}
	return writeJSON(w, 200, map[string]string{"status": "ok"})
}
