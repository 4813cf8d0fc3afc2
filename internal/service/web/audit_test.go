package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// auditLog is an audit log that remembers what it was asked for.
type auditLog struct{ asked sqlite.AuditQuery }

func (a *auditLog) Entries(_ context.Context, q sqlite.AuditQuery) ([]sqlite.Entry, error) {
	a.asked = q
	return []sqlite.Entry{{N: 8, At: time.Unix(60, 0), Who: "ann", Action: "cancel", Run: "1m80yahhymcge", Detail: "enough"},
		{N: 7, At: time.Unix(0, 0), Who: "bob", Action: "approve", Detail: `{"verdict":"approved","by":"policy","reason":"it reads"}`}}, nil
}

// TestAudit: admins read the audit log page by page, others do not.
func TestAudit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	operator, err := users.Add(dir, "olga", users.Operator)
	if err != nil {
		t.Fatal(err)
	}
	log := &auditLog{}
	b := newBench(t, web.Options{Audit: log, Users: users.NewRegistry(dir, func(err error) { t.Error(err) })})
	_, doc := b.get("/api/v1/audit?who=ann&action=cancel&run=1m80yahhymcge&since=2026-11-21T08:00:00Z&until=2026-11-22T08:00:00Z&before=9&limit=2")
	day := func(n int) time.Time { return time.Date(2026, 11, n, 8, 0, 0, 0, time.UTC) }
	if d := cmp.Diff(sqlite.AuditQuery{Who: "ann", Action: "cancel", Run: "1m80yahhymcge", Since: day(21), Until: day(22), Before: 9, Limit: 2}, log.asked); d != "" {
		t.Error(d)
	}
	for _, text := range []string{`"at":"1970-01-01T00:01:00Z","who":"ann","action":"cancel","run":"1m80yahhymcge","detail":"enough"`, `"detail":"approved by policy: it reads"`, `"next":7`} {
		if !strings.Contains(string(doc), text) {
			t.Errorf("no %s in %s", text, doc)
		}
	}
	if _, doc := b.get("/api/v1/audit"); strings.Contains(string(doc), `"next"`) || log.asked.Limit != 100 {
		t.Errorf("%s", doc)
	}
	for _, query := range []string{"limit=0", "limit=x", "before=0", "since=yesterday"} {
		if res, doc := b.ask("GET", "/api/v1/audit?"+query, ""); res.StatusCode != 400 {
			t.Errorf("%s: %d %s", query, res.StatusCode, doc)
		}
	}
	if res, doc := b.ask("GET", "/api/v1/audit", "", "Authorization", "Bearer "+operator); res.StatusCode != 403 {
		t.Errorf("an operator reads it: %d %s", res.StatusCode, doc)
	}
}
