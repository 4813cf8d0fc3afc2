package web

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// auditHandlers answer requests for the audit log.
type auditHandlers struct{ log audit.Log }

func (h auditHandlers) routes() []route {
	return []route{{method: "GET", path: "/api/v1/audit", id: "listAudit", summary: "List who did what",
		doc: "The audit log, the newest entry first: who started, approved, answered, resumed, cancelled and removed runs, and changed schedules, users and state.",
		query: []param{
			{name: "who", kind: "string", doc: "Only entries of this person."},
			{name: "action", kind: "string", doc: "Only entries with this action."},
			{name: "run", kind: "string", doc: "Only entries about this run."},
			{name: "since", kind: "string", doc: "Only entries at or after this time (RFC 3339)."},
			{name: "until", kind: "string", doc: "Only entries before this time (RFC 3339)."},
			{name: "before", kind: "integer", doc: "The next of the previous page: only the entries that follow."},
			{name: "limit", kind: "integer", doc: "The maximum number of entries, 1 to 1000. Default: 100."}},
		answers: []answer{{200, "The entries.", "", "audit"}}, handle: h.list}}
}

func (h auditHandlers) list(w http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	q := sqlite.AuditQuery{Who: in.Get("who"), Action: in.Get("action"), Run: in.Get("run"), Limit: 100}
	if err := cmp.Or(queryTime(in, "since", &q.Since), queryTime(in, "until", &q.Until)); err != nil {
		return err
	}
	var err error
	if in.Has("limit") {
		if q.Limit, err = strconv.Atoi(in.Get("limit")); err != nil || q.Limit < 1 || q.Limit > 1000 {
			return refuse(400, "wrong-query", "the query parameter limit is not a whole number from 1 to 1000", "")
		}
	}
	if in.Has("before") {
		if q.Before, err = strconv.ParseInt(in.Get("before"), 10, 64); err != nil || q.Before < 1 {
			return refuse(400, "wrong-query", "the query parameter before is not a whole number above 0", "send the next of the previous page")
		}
	}
	doc, err := audit.Read(r.Context(), h.log, q)
	if err != nil {
		return err
	}
	return writeJSON(w, 200, doc)
}
