package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// office answers for schedules, and remembers what it was asked.
type office struct {
	asked []string
	err   error
}

func (o *office) Schedules(context.Context) ([]service.Schedule, error) {
	return []service.Schedule{{Name: "nightly", Tool: "hello", Cron: "0 7 * * *", Timezone: "Europe/Berlin", Next: time.Now(), Source: "command", Params: map[string]any{"WHO": "the moon"}},
		{Name: "hello#2", Tool: "hello", Cron: "@every 1h", Paused: true, Source: "local"}}, nil
}

func (o *office) Times(_ context.Context, name string, from, to time.Time, limit int) ([]service.ScheduledTime, error) {
	o.asked = append(o.asked, fmt.Sprint(name, " ", from.UTC().Format(time.DateOnly), " ", !to.IsZero(), " ", limit))
	return []service.ScheduledTime{{At: from, Local: from, Note: "moved", Fired: &service.Firing{At: from, Status: "skipped", Reason: "no service was running"}}, {At: from, Local: from}}, o.err
}

func (o *office) Pause(_ context.Context, name string, paused bool) error {
	o.asked = append(o.asked, fmt.Sprint(name, " ", paused))
	return o.err
}

func (o *office) Backfill(_ context.Context, name string, from, to time.Time, parallel int, preview bool) ([]service.BackfillTime, error) {
	o.asked = append(o.asked, fmt.Sprint("backfill ", name, " ", to.Sub(from), " ", parallel, " ", preview))
	return []service.BackfillTime{{At: from}, {At: from, Run: "r", Status: "failed"}}, o.err
}

func (o *office) StopBackfill(_ context.Context, name string) (bool, error) {
	o.asked = append(o.asked, "stop "+name)
	return true, o.err
}

// TestEveryRoute calls every route of the OpenAPI document, and checks every response
// against its schema (bench.check).
func TestEveryRoute(t *testing.T) {
	o := &office{}
	b := newBench(t, web.Options{Schedules: o, Attention: someAttention, Audit: &auditLog{}, URL: "http://127.0.0.1:7878",
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Write([]byte("flowrun_x 1\n"))
		}),
		Webhooks: []config.Webhook{{Name: "any", Tool: "hello", Scheme: config.Token, Header: "X-Flowrun-Token", Secret: []byte("a secret word")}}})

	id := b.start(`{"tool": "hello", "params": {"WHO": "Ada", "N": 12345678901234567890}}`)
	b.becomes(id, dag.Succeeded)
	_, doc := b.get("/api/v1/runs/" + id)
	var run struct {
		Output string
		Params map[string]json.RawMessage
	}
	if err := json.Unmarshal(doc, &run); err != nil || run.Output != "hello Ada, 12345678901234567890\n" || string(run.Params["N"]) != "12345678901234567890" {
		t.Errorf("%v %s", err, doc)
	}
	if r, _ := b.store.Record(t.Context(), id); r.Origin != "api" {
		t.Errorf("the origin is %q", r.Origin)
	}
	if _, doc := b.get("/api/v1/runs?status=succeeded&tool=hello&limit=1&since=2020-01-01T00:00:00Z"); !strings.Contains(string(doc), id) {
		t.Errorf("%s", doc)
	}
	if _, doc := b.get("/api/v1/runs?status=failed&status=running"); strings.Contains(string(doc), id) {
		t.Errorf("%s", doc)
	}

	failed := b.start(`{"tool": "fails"}`)
	b.becomes(failed, dag.Failed)
	if res, doc := b.ask("POST", "/api/v1/runs/"+failed+"/resume", ""); res.StatusCode != 202 {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
	waittest.Until(t, "end of the resumed run", func() bool {
		i, _ := b.store.Info(t.Context(), failed)
		return i.Epoch == 2 && i.Status == dag.Failed && i.PID == 0
	}, func() any { return failed })
	for _, path := range []string{"resume", "retry", "definition", "lines?step=good", "search?step=good&text=g", "diff?with=" + id} {
		b.get("/api/v1/runs/" + failed + "/" + path)
	}
	res, doc := b.ask("POST", "/api/v1/runs/"+failed+"/retry", `{"from": ["good"]}`)
	if res.StatusCode != 202 {
		t.Fatalf("%d %s", res.StatusCode, doc)
	}
	b.becomes(strings.TrimPrefix(res.Header.Get("Location"), "/api/v1/runs/"), dag.Failed)

	waits, _ := b.gated()
	next, stop := b.listen("/api/v1/runs/" + waits + "/events")
	if m, _ := next(); m.id != "1" {
		t.Errorf("%+v", m)
	}
	stop()
	all, stop := b.listen("/api/v1/events?run=" + waits)
	if res, doc := b.ask("POST", "/api/v1/runs/"+waits+"/cancel", "{}"); res.StatusCode != 202 {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
	m, _ := all()
	schematest.Validate(t, "event", []byte(m.data))
	stop()
	b.becomes(waits, dag.Cancelled)

	if _, text := b.get("/api/v1/runs/" + id + "/logs"); !strings.Contains(string(text), "hello Ada") {
		t.Errorf("%s", text)
	}
	if _, doc := b.get("/api/v1/tools"); !strings.Contains(string(doc), `"broken":true`) {
		t.Errorf("%s", doc)
	}
	if _, doc := b.get("/api/v1/tools/hello"); !strings.Contains(string(doc), `"description":"whom"`) {
		t.Errorf("%s", doc)
	}
	for _, path := range []string{"/api/v1/tools/fails/graph", "/api/v1/runs/" + failed + "/graph"} {
		if _, doc := b.get(path); !strings.Contains(string(doc), `"from":"good","to":"bad"`) {
			t.Errorf("%s: %s", path, doc)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/api/v1/schedules", "/api/v1/attention", "/api/v1/audit", "/api/v1/ps", "/api/v1/session"} {
		if res, doc := b.get(path); res.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, res.StatusCode, doc)
		}
	}
	b.ask("POST", "/api/v1/schedules/nightly/pause", "")
	b.get("/api/v1/schedules/nightly/times?from=2026-03-28T00:00:00Z&to=2026-03-30T00:00:00Z&limit=5")
	res, _ = b.ask("POST", "/api/v1/schedules/nightly/run", "")
	moon := strings.TrimPrefix(res.Header.Get("Location"), "/api/v1/runs/")
	b.becomes(moon, dag.Succeeded)
	if _, doc := b.get("/api/v1/runs/" + moon); !strings.Contains(string(doc), "hello the moon, 1") {
		t.Errorf("%s", doc)
	}
	b.editTool()
	for path, want := range map[string]string{"function?format=openai": `"type":"function"`, "stats?limit=5": `"states":["succeeded","succeeded"]`, "state": `{"schema":"flowrun/state.v1","values":[]}`} {
		if res, doc := b.get("/api/v1/tools/hello/" + path); res.StatusCode != 200 || !strings.Contains(string(doc), want) {
			t.Errorf("%s: %d %s", path, res.StatusCode, doc)
		}
	}
	if res, doc := b.ask("POST", "/api/v1/tools/hello/dry-run", `{"params": {"N": 7, "KEY": "hush"}}`); res.StatusCode != 200 || !strings.Contains(string(doc), "hello you, 7") || strings.Contains(string(doc), "hush") {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
	b.ask("POST", "/api/v1/schedules/hello%232/resume", "")
	b.ask("POST", "/api/v1/schedules/nightly/backfill", `{"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z", "max_parallel": 3, "dry_run": true}`)
	b.ask("DELETE", "/api/v1/schedules/nightly/backfill", "")
	for _, wrong := range []string{`{}`, `{"from": 1, "to": 2}`, `{"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z", "max_parallel": "3"}`, `{"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z", "max_parallel": 0}`} {
		if res, doc := b.ask("POST", "/api/v1/schedules/nightly/backfill", wrong); res.StatusCode != 400 {
			t.Errorf("%s: %d %v", wrong, res.StatusCode, doc)
		}
	}
	asks := b.start(`{"tool": "asks"}`)
	b.becomes(asks, dag.Waiting)
	b.get("/api/v1/runs/" + asks + "/questions")
	b.get("/api/v1/questions")
	b.ask("POST", "/api/v1/runs/"+asks+"/reject", `{"step": "gate"}`)
	asks = b.start(`{"tool": "asks"}`)
	b.becomes(asks, dag.Waiting)
	b.ask("POST", "/api/v1/runs/"+asks+"/approve", `{"values": {"VERSION": "1"}}`)
	b.becomes(asks, dag.Succeeded)
	b.readArtifacts()
	b.ask("POST", "/hooks/any", `{}`, "X-Flowrun-Token", "a secret word", "Authorization", "")
	if want := []string{"nightly true", "nightly 2026-03-28 true 5", "hello#2 false", "backfill nightly 24h0m0s 3 true", "stop nightly"}; !slices.Equal(o.asked, want) {
		t.Errorf("%q", o.asked)
	}

	b.loginLink(b.onSocket())

	for path, methods := range b.operations() {
		for method, op := range methods {
			if !b.asked[op.ID] {
				t.Errorf("%s %s (%s) was never answered as the document says", method, path, op.ID)
			}
		}
	}
}

// TestPs checks that ps shows which run waits for which, and not where definitions are.
func TestPs(t *testing.T) {
	b := newBench(t, web.Options{})
	file := filepath.Join(t.TempDir(), "open")
	body := `{"tool": "turns", "params": {"FILE": ` + strconv.Quote(file) + `}}`
	first, second := b.start(body), b.start(body)
	b.becomes(second, dag.Pending)
	_, doc := b.get("/api/v1/ps")
	var ps struct {
		Locks, Limits []struct{ Holders, Waiting []string }
	}
	if err := json.Unmarshal(doc, &ps); err != nil || len(ps.Locks) != 1 || len(ps.Limits) != 1 || !slices.Equal(ps.Locks[0].Holders, []string{first}) || !slices.Equal(ps.Limits[0].Waiting, []string{second}) {
		t.Errorf("%v %s", err, doc)
	}
	if strings.Contains(string(doc), b.dir) {
		t.Errorf("it reports the machine: %s", doc)
	}
	b.open(file)
	b.becomes(second, dag.Succeeded)
}

// TestOptionalRoutes checks that optional routes are neither served nor documented without
// their feature.
func TestOptionalRoutes(t *testing.T) {
	b := newBench(t, web.Options{})
	for _, path := range []string{"/metrics", "/api/v1/schedules", "/api/v1/attention", "/hooks/x"} {
		if res, _ := b.get(path); res.StatusCode != 404 || b.operation("GET", path) != nil {
			t.Errorf("%s answers %d", path, res.StatusCode)
		}
	}
}

// TestOpenAPI checks the references in the document.
func TestOpenAPI(t *testing.T) {
	b := newBench(t, web.Options{Schedules: &office{}})
	var doc any
	if err := json.Unmarshal(b.openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				visit(e)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && find(doc, ref) == nil {
				t.Errorf("%s is not there", ref)
			}
			if id, ok := v["operationId"].(string); ok {
				if ids[id] {
					t.Errorf("two operations are called %s", id)
				}
				ids[id] = true
			}
			if isObject(v) && v["properties"] == nil && v["additionalProperties"] == nil {
				t.Errorf("a generator takes this for an object without members: %v", v)
			}
			for _, e := range v {
				visit(e)
			}
		}
	}
	visit(doc)
	if len(ids) < 15 {
		t.Errorf("%d operations", len(ids))
	}
}

// isObject reports whether something in a document is a schema of objects.
func isObject(schema map[string]any) bool {
	list, _ := schema["type"].([]any)
	return schema["type"] == "object" || slices.Contains(list, any("object"))
}

func find(v any, ref string) any {
	for _, word := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := v.(map[string]any)
		v = m[word]
	}
	return v
}

// TestErrors checks how the service's errors are reported: with their code, and without
// facts about the machine.
func TestErrors(t *testing.T) {
	const path = "/secret/place"
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("cannot read run x: %w", history.ErrNoRun), 404, "unknown-run"},
		{outcome.ErrDraining, 503, "draining"},
		{fmt.Errorf("%w: denied by %s", outcome.ErrRefused, path), 403, "refused"},
		{outcome.ErrPath, 400, "tool-path"},
		{outcome.ErrNotRunning, 409, "not-running"},
		{history.ErrLive, 409, "live"},
		{history.ErrChanged, 409, "changed"},
		{&outcome.InterruptedError{Run: "r"}, 409, "asks"},
		{&outcome.WithheldError{Run: "r"}, 409, "withheld"},
		{&outcome.ConfinementError{Tool: "x", Problems: []string{path}}, 403, "confinement"},
		{&plan.UnsupportedError{Tool: "x", Platforms: []string{"plan9"}}, 403, "platform"},
		{&call.EnvironmentError{Tool: "x", Problems: []string{path}}, 422, "environment"},
		{fmt.Errorf("open %s: broken", path), 500, "internal"},
	} {
		s := faulty{err: c.err}
		handler, err := web.New(&web.Service{Starter: s}, web.Options{Tokens: []service.Token{{Text: token}}})
		if err != nil {
			t.Fatal(err)
		}
		res := serve(handler, "POST", "/api/v1/runs", `{"tool": "x"}`)
		if p := problemIn(t, res.Body.Bytes()); res.Code != c.status || p.Code != c.code || strings.Contains(res.Body.String(), path) {
			t.Errorf("%v: %d %s", c.err, res.Code, res.Body)
		}
		if c.status == 503 && res.Header().Get("Retry-After") == "" {
			t.Error("it does not say when to ask again")
		}
	}
}
