package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
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
	signsIn      bool   // signs in or out, which a read-only service allows
	anyBody      bool   // the body may have any format
	answers      []answer
	handle       func(d *server, w http.ResponseWriter, r *http.Request) error
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

// routes returns the table of routes.
func (d *server) routes() []route {
	if d.API == nil {
		return mcpRoutes
	}
	list := slices.Concat(sessionRoutes, listRoutes, runRoutes, logRoutes, lineRoutes, artifactRoutes, continuationRoutes, []route{definitionRoute}, questionRoutes, toolRoutes, graphRoutes, editorRoutes, []route{
		{method: "GET", path: "/api/v1/events", id: "watch", summary: "Follow the events of all runs",
			doc: "Server-sent events, each with a number in `id` and a flowrun/event.v1 document in `data`. Numbers increase, also across restarts of the service. " +
				"Without `after` and `Last-Event-ID` the stream starts with the next event. `event: reset` means that events are missing: read the state again.",
			query: []param{after, {name: "run", kind: "string", doc: "Only events of this run."}, {name: "tool", kind: "string", doc: "Only events of runs of this tool."}}, headers: []param{lastID},
			answers: []answer{{200, "The stream. It ends when the service stops or the client does not read it.", asStream, "event"}}, handle: (*server).watch},
		{method: "GET", path: "/api/v1/openapi.json", id: "openapi", summary: "This document", auth: openOnLoopback,
			answers: []answer{{200, "An OpenAPI 3.1 document.", "", "openapi"}}, handle: (*server).describe},
		{method: "GET", path: "/healthz", id: "health", summary: "Check that the service is alive", auth: openToAll,
			answers: []answer{{200, "The service is alive.", "", "health"}}, handle: (*server).healthz},
		{method: "GET", path: "/readyz", id: "ready", summary: "Check that the service accepts requests", auth: openToAll,
			answers: []answer{{200, "The service is ready.", "", "health"}, {503, "It is not ready: it is stopping, or cannot write the history.", "", "health"}}, handle: (*server).readyz},
	})
	if d.Metrics != nil {
		list = append(list, route{method: "GET", path: "/metrics", id: "metrics", summary: "Metrics for Prometheus", auth: openOnLoopback,
			answers: []answer{{200, "The metrics.", "text/plain", ""}}, handle: (*server).metrics})
	}
	if d.Schedules != nil {
		list = append(list, scheduleRoutes...)
	}
	if len(d.hooks) > 0 {
		list = append(list, hookRoutes...)
	}
	if d.MCP != nil {
		list = append(list, mcpRoutes...)
	}
	return list
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
			return refuse(400, "unknown-query", fmt.Sprintf("unknown query parameter %q", clip(name)), didYouMean(tool.Near(name, known), "the parameters are "+strings.Join(known, ", ")))
		case len(values) > 1 && !rt.query[i].many:
			return refuse(400, "repeated-query", fmt.Sprintf("the query parameter %s is given twice", name), "")
		}
		if e := rt.query[i].enum; e != nil && rt.query[i].kind == "string" {
			for _, v := range values {
				if !slices.Contains(e, v) {
					return refuse(400, "wrong-query", fmt.Sprintf("the query parameter %s cannot be %q", name, clip(v)), didYouMean(tool.Near(v, e), "use one of: "+strings.Join(e, ", ")))
				}
			}
		}
	}
	return nil
}

func (d *server) describe(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, 200, d.openAPI)
}

func (d *server) metrics(w http.ResponseWriter, r *http.Request) error {
	if !callerFrom(r).allTools() && !onLoopback(r) {
		return errToken // metrics name every tool
	}
	d.Metrics.ServeHTTP(w, r)
	return nil
}

// health is the part of the health that anyone may see.
type health struct {
	Status string `json:"status"`
}

func (d *server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, 200, health{"ok"})
}

func (d *server) readyz(w http.ResponseWriter, _ *http.Request) error {
	switch h := d.Health(); {
	case h.Draining:
		return writeJSON(w, 503, health{"draining"})
	case !h.Ready:
		return writeJSON(w, 503, health{"not-ready"})
	}
	return writeJSON(w, 200, health{"ok"})
}
