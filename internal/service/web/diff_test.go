package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/observe/rundiff"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/web"
)

// TestDiff compares a run with the last good one and with a named one, which the caller must be allowed to see.
func TestDiff(t *testing.T) {
	b := newBench(t, web.Options{Tokens: []service.Token{{Text: "hello-only", Tools: []string{"hello"}}}})
	first := b.start(`{"tool": "hello", "params": {"WHO": "Ada", "KEY": "a secret"}}`)
	b.becomes(first, dag.Succeeded)
	second := b.start(`{"tool": "hello", "params": {"WHO": "Bob", "KEY": "another secret"}}`)
	b.becomes(second, dag.Succeeded)
	failed := b.start(`{"tool": "fails"}`)
	b.becomes(failed, dag.Failed)
	for path, want := range map[string]string{
		second + "/diff":                   first + " " + second,
		second + "/diff?with=" + first:     first + " " + second,
		first + "/diff?with=" + second:     first + " " + second,
		second + "/diff?with=" + failed:    second + " " + failed,
		first + "/diff":                    "404",
		failed + "/diff":                   "404",
		failed + "/diff?with=nosuchrun":    "404",
		second + "/diff?with=" + first[:5]: "404",
	} {
		res, doc := b.get("/api/v1/runs/" + path)
		var d rundiff.Diff
		if err := json.Unmarshal(doc, &d); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 200 {
			if want != "404" || res.StatusCode != 404 {
				t.Errorf("%s: %d %s", path, res.StatusCode, doc)
			}
			continue
		}
		if got := d.Before.ID + " " + d.After.ID; got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if strings.Contains(string(doc), "secret\"") || strings.Contains(string(doc), b.dir) {
			t.Errorf("%s: a secret, or a folder of the machine: %s", path, doc)
		}
		if want == first+" "+second && (len(d.Params) != 1 || d.Params[0].Name != "WHO" || len(d.Steps) != 1 || len(d.Steps[0].Logs) != 1 || *d.Steps[0].Logs[0].After != "hello Bob, 1") {
			t.Errorf("%s: %s", path, doc)
		}
	}
	for path, want := range map[string]int{second + "/diff": 200, second + "/diff?with=" + first: 200, second + "/diff?with=" + failed: 404, failed + "/diff?with=" + first: 404} {
		if res, doc := b.ask("GET", "/api/v1/runs/"+path, "", "Authorization", "Bearer hello-only"); res.StatusCode != want {
			t.Errorf("%s by a token for hello: %d %s", path, res.StatusCode, doc)
		}
	}
}
