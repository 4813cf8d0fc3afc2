package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service/web"
)

// TestCancelRetry checks that a run shows when it is retried automatically, and that a request can stop that.
func TestCancelRetry(t *testing.T) {
	b := newBench(t, web.Options{})
	file := filepath.Join(b.dir, ".flowrun", "tools", "later.yaml")
	if err := os.WriteFile(file, []byte("name: later\nbash: exit 3\nretry-run: {attempts: 1, delay: 1h, on: [exit]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.service.Tools.Refresh()
	id := b.start(`{"tool": "later"}`)
	b.becomes(id, dag.Failed)
	retryAt := func() time.Time {
		t.Helper()
		var run struct {
			RetryAt time.Time `json:"retry_at"`
		}
		_, doc := b.get("/api/v1/runs/" + id)
		if err := json.Unmarshal(doc, &run); err != nil {
			t.Fatal(err)
		}
		return run.RetryAt
	}
	if at := retryAt(); time.Until(at) < 30*time.Minute {
		t.Errorf("it is retried at %v", at)
	}
	if res, doc := b.ask("POST", "/api/v1/runs/"+id+"/cancel", "{}"); res.StatusCode != 202 {
		t.Fatalf("%d %s", res.StatusCode, doc)
	}
	if at := retryAt(); !at.IsZero() {
		t.Errorf("it is retried at %v", at)
	}
	if res, _ := b.ask("POST", "/api/v1/runs/"+id+"/cancel", "{}"); res.StatusCode != 409 {
		t.Errorf("a second time: %d", res.StatusCode)
	}
}
