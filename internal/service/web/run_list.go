package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/observe/runfilter"
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
				{name: "status", kind: "string", doc: "Only runs with this status. May be repeated.", enum: runfilter.Statuses(), many: true},
				{name: "tool", kind: "string", doc: "Only runs of this tool."},
				{name: "tag", kind: "string", doc: "Only runs of tools that have this tag now. May be repeated: the tool must have all of them.", many: true},
				{name: "origin", kind: "string", doc: "Only runs with this origin: api, detach, mcp, call, schedule:NAME, backfill:NAME, webhook:NAME, file:NAME, after:NAME, all of a kind with schedule, backfill, webhook, file or after, or cli for runs that were started directly."},
				{name: "param", kind: "string", doc: "Only runs whose parameter has this value, written as NAME=VALUE. May be repeated. Secret values are not recorded and never match.", many: true},
				{name: "label", kind: "string", doc: "Only runs that have this label, written as NAME=VALUE, or as NAME for any value. May be repeated.", many: true},
				{name: "id", kind: "string", doc: "Only runs whose id begins with this text."},
				{name: "since", kind: "string", doc: "Only runs started at or after this time (RFC 3339)."},
				{name: "until", kind: "string", doc: "Only runs started before this time (RFC 3339)."},
				{name: "before", kind: "string", doc: "The next of the previous page: only the runs that follow."},
				{name: "limit", kind: "integer", doc: "The maximum number of runs, 1 to 1000. Default: 100."},
				{name: "params", kind: "string", doc: "With 1, each run has its parameters as text, long ones shortened.", enum: []string{"0", "1"}}},
			answers: []answer{{200, "The runs.", "", "runs"}}, handle: h.listRuns},
	}
}

func (h runList) listRuns(w http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	f, err := h.filter(r, in)
	if err != nil {
		return err
	}
	f.Query.WithParams = in.Get("params") == "1"
	found, next, err := f.Page(r.Context(), h.history.Runs, time.Now().Add(examineTime))
	if err != nil {
		return err
	}
	for i := range found {
		found[i].Message = publicMessage(found[i].Reason, found[i].Message)
	}
	doc := rundocs.RunsOf(found, time.Now())
	doc.Next = next
	return writeJSON(w, 200, doc)
}

// examineTime limits the work for one page of a list.
const examineTime = 30 * time.Millisecond

// filter reads the query of a request.
func (h runList) filter(r *http.Request, in url.Values) (f runfilter.Filter, err error) {
	f.Query = history.Query{Tool: in.Get("tool"), Prefix: in.Get("id"), Before: in.Get("before"), Limit: 100}
	for _, word := range in["status"] {
		if err := f.AddStatus(word); err != nil {
			return f, err
		}
	}
	if err := cmp.Or(queryTime(in, "since", &f.Query.Since), queryTime(in, "until", &f.Query.Until)); err != nil {
		return f, err
	}
	if in.Has("limit") {
		if f.Query.Limit, err = strconv.Atoi(in.Get("limit")); err != nil || f.Query.Limit < 1 || f.Query.Limit > 1000 {
			return f, refuse(400, "wrong-query", "the query parameter limit is not a whole number from 1 to 1000", "")
		}
	}
	if f.Query.Before != "" {
		if _, err := h.history.Info(r.Context(), f.Query.Before); err != nil {
			return f, err
		}
	}
	if c := callerFrom(r); !c.allTools() {
		f.AddCondition(func(i history.RunInfo) bool { return c.mayUse(i.Tool) })
	}
	f.SetOrigin(in.Get("origin"))
	for _, word := range in["param"] {
		if err := f.AddParam(word); err != nil {
			return f, refuse(400, "wrong-query", "the query parameter param "+err.Error(), "write it as NAME=VALUE, and escape the = as %3D")
		}
	}
	for _, word := range in["label"] {
		if err := f.AddLabel(word); err != nil {
			return f, refuse(400, "wrong-query", "the query parameter label: "+err.Error(), "write it as NAME=VALUE or NAME, and escape the = as %3D")
		}
	}
	h.addTags(&f.Query, in["tag"])
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

// addTags limits a query to the runs of tools that have all these tags.
func (h runList) addTags(q *history.Query, tags []string) {
	if len(tags) == 0 {
		return
	}
	q.Tools = []string{}
	for _, t := range h.tools.Tools() {
		if !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(t.Tags, tag) }) {
			q.Tools = append(q.Tools, t.Name)
		}
	}
}
