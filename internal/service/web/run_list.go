package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
)

// runList lists runs.
type runList struct {
	history History
	tools   Tools
}

func (h runList) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/runs", id: "listRuns", summary: "List runs, newest first",
			doc: "A run is listed if it matches all filters. If there may be more runs, `next` has the value of `before` for the next page. " +
				"A request does a limited amount of work: a filter that matches few runs can give a page that is not full, even an empty one, although `next` is there.",
			query: []param{
				{name: "status", kind: "string", doc: "Only runs with this status. May be repeated.", enum: statuses(), many: true},
				{name: "tool", kind: "string", doc: "Only runs of this tool."},
				{name: "tag", kind: "string", doc: "Only runs of tools that have this tag now. May be repeated: the tool must have all of them.", many: true},
				{name: "origin", kind: "string", doc: "Only runs with this origin: api, detach, mcp, call, schedule:NAME, webhook:NAME, file:NAME, after:NAME, all of a kind with schedule, webhook, file or after, or cli for runs that were started directly."},
				{name: "param", kind: "string", doc: "Only runs whose parameter has this value, written as NAME=VALUE. May be repeated. Secret values are not recorded and never match.", many: true},
				{name: "id", kind: "string", doc: "Only runs whose id begins with this text."},
				{name: "since", kind: "string", doc: "Only runs started at or after this time (RFC 3339)."},
				{name: "until", kind: "string", doc: "Only runs started before this time (RFC 3339)."},
				{name: "before", kind: "string", doc: "The next of the previous page: only the runs that follow."},
				{name: "limit", kind: "integer", doc: "The maximum number of runs, 1 to 1000. Default: 100."},
				{name: "params", kind: "string", doc: "With 1, each run has its parameters as text, long ones shortened.", enum: []string{"0", "1"}}},
			answers: []answer{{200, "The runs.", "", "runs"}}, handle: h.listRuns},
	}
}

func statuses() (words []string) {
	for _, s := range []dag.Status{dag.Pending, dag.Running, dag.Waiting, dag.Succeeded, dag.Failed, dag.Cancelled, dag.TimedOut, dag.Interrupted} {
		words = append(words, s.String())
	}
	return words
}

// runFilter selects runs: the Store applies the query, the server the conditions.
type runFilter struct {
	query      history.Query
	conditions []func(history.RunInfo) bool
}

func (h runList) listRuns(w http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	f, err := h.filter(r, in)
	if err != nil {
		return err
	}
	f.query.WithParams = f.query.WithParams || in.Get("params") == "1"
	found, next, err := h.page(r.Context(), f)
	if err != nil {
		return err
	}
	for i := range found {
		found[i].Message = publicMessage(found[i].Reason, found[i].Message)
		if in.Get("params") != "1" {
			found[i].Params = nil
		}
	}
	doc := rundocs.RunsOf(found, time.Now())
	doc.Next = next
	return writeJSON(w, 200, doc)
}

// Limits of the work for one page of a list whose conditions the server checks.
const (
	examinedAtOnce = 500
	examineTime    = 30 * time.Millisecond
)

// page returns at most query.Limit runs, and the id after which the list continues, "" at its
// end.
func (h runList) page(ctx context.Context, f runFilter) (page []history.RunInfo, next string, err error) {
	limit, q, deadline := f.query.Limit, f.query, time.Now().Add(examineTime)
	q.Limit++ // shows whether there are more
	if len(f.conditions) > 0 {
		q.Limit = max(q.Limit, examinedAtOnce)
	}
	for {
		list, err := h.history.Runs(ctx, q)
		if err != nil {
			return nil, "", err
		}
		for _, info := range list {
			if len(page) == limit {
				return page, q.Before, nil
			}
			q.Before = info.ID
			if !slices.ContainsFunc(f.conditions, func(met func(history.RunInfo) bool) bool { return !met(info) }) {
				page = append(page, info)
			}
		}
		switch {
		case len(list) < q.Limit:
			return page, "", nil
		case time.Now().After(deadline):
			return page, q.Before, nil
		}
	}
}

// filter reads the query of a request.
func (h runList) filter(r *http.Request, in url.Values) (f runFilter, err error) {
	f.query = history.Query{Tool: in.Get("tool"), Prefix: in.Get("id"), Before: in.Get("before"), Limit: 100}
	for _, word := range in["status"] {
		s, err := dag.ParseStatus(word)
		if err != nil {
			return f, err
		}
		f.query.Status = append(f.query.Status, s)
	}
	if err := cmp.Or(queryTime(in, "since", &f.query.Since), queryTime(in, "until", &f.query.Until)); err != nil {
		return f, err
	}
	if in.Has("limit") {
		if f.query.Limit, err = strconv.Atoi(in.Get("limit")); err != nil || f.query.Limit < 1 || f.query.Limit > 1000 {
			return f, refuse(400, "wrong-query", "the query parameter limit is not a whole number from 1 to 1000", "")
		}
	}
	if f.query.Before != "" {
		if _, err := h.history.Info(r.Context(), f.query.Before); err != nil {
			return f, err
		}
	}
	if c := callerFrom(r); !c.allTools() {
		f.conditions = append(f.conditions, func(i history.RunInfo) bool { return c.mayUse(i.Tool) })
	}
	f.setOrigin(in.Get("origin"))
	if err := f.addParams(in["param"]); err != nil {
		return f, err
	}
	h.addTags(&f, in["tag"])
	return f, nil
}

// queryTime reads a query parameter that is a time. Without it, the time stays as it is.
func queryTime(in url.Values, name string, to *time.Time) (err error) {
	if text := in.Get(name); text != "" {
		if *to, err = time.Parse(time.RFC3339, text); err != nil {
			return refuse(400, "wrong-query", "the query parameter "+name+" is not a time", "write it as 2026-11-21T08:00:00Z, and escape + as %2B")
		}
	}
	return nil
}

// setOrigin limits the filter to an origin, or to a kind of origins.
func (f *runFilter) setOrigin(origin string) {
	switch origin {
	case "cli":
		f.query.Direct = true
	case "schedule", "webhook", "file", "after":
		f.query.Kind = origin
	default:
		f.query.Origin = origin
	}
}

// addParams limits the filter to runs with these parameters.
func (f *runFilter) addParams(list []string) error {
	for _, p := range list {
		name, want, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return refuse(400, "wrong-query", "the query parameter param has no name and value", "write it as NAME=VALUE, and escape the = as %3D")
		}
		f.query.WithParams = true
		f.conditions = append(f.conditions, func(i history.RunInfo) bool {
			v, known := i.Params[name]
			return known && value.Plain(v) == want
		})
	}
	return nil
}

// addTags limits the filter to the runs of tools that have all these tags.
func (h runList) addTags(f *runFilter, tags []string) {
	if len(tags) == 0 {
		return
	}
	f.query.Tools = []string{}
	for _, t := range h.tools.Tools() {
		if !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(t.Tags, tag) }) {
			f.query.Tools = append(f.query.Tools, t.Name)
		}
	}
}
