package web_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service/web"
)

// TestStartWithLabels records the labels of a request, and refuses those that are not valid.
func TestStartWithLabels(t *testing.T) {
	b := newBench(t, web.Options{})
	id := b.start(`{"tool": "hello", "labels": {"team": "ops", "stage": "a test"}}`, "Idempotency-Key", "once")
	b.becomes(id, dag.Succeeded)
	var run struct{ Labels map[string]string }
	_, doc := b.get("/api/v1/runs/" + id)
	if err := json.Unmarshal(doc, &run); err != nil || !maps.Equal(run.Labels, map[string]string{"team": "ops", "stage": "a test"}) {
		t.Errorf("%v %s", err, doc)
	}
	if got := b.list("label=stage%3Da+test").ids(); len(got) != 1 || got[0] != id {
		t.Error(got)
	}
	for body, code := range map[string]string{
		`{"tool": "hello", "labels": {"Team": "ops"}}`: "wrong-labels",
		`{"tool": "hello", "labels": {"team": ""}}`:    "wrong-labels",
		`{"tool": "hello", "labels": {"team": 7}}`:     "wrong-labels",
		`{"tool": "hello", "labels": ["team"]}`:        "wrong-type",
	} {
		if res, doc := b.ask("POST", "/api/v1/runs", body); res.StatusCode != 400 || !strings.Contains(string(doc), code) {
			t.Errorf("%s: %d %s", body, res.StatusCode, doc)
		}
	}
	for body, status := range map[string]int{`{"tool": "hello", "labels": {"team": "ops", "stage": "a test"}}`: 202, `{"tool": "hello", "labels": {"team": "dev"}}`: 409} {
		if res, doc := b.ask("POST", "/api/v1/runs", body, "Idempotency-Key", "once"); res.StatusCode != status {
			t.Errorf("%s: %d %s", body, res.StatusCode, doc)
		}
	}
}
