package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/os/confine"
)

func TestMain(m *testing.M) {
	flowrun.HelperMain()
	m.Run()
}

// TestServe posts what customers may write: what is granted works, and the rest does not.
func TestServe(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	t.Setenv("DATABASE_PASSWORD", "hunter2-of-the-server")
	engine, err := newEngine()
	if err != nil {
		t.Fatal(err)
	}
	const header = "name: order\ndescription: An order\nsecurity: {required-permissions: ['filesystem:write:.', 'filesystem:read:/', network, 'tool:price']}\n"
	for name, c := range map[string]struct{ text, status, output, says string }{
		"works":          {"bash: echo tea >list && cat list", "succeeded", "tea\n", ""},
		"uses a tool":    {"steps: [{name: p, use-tool: price, with: {Item: tea}}]", "succeeded", "300", ""},
		"reads a file":   {"bash: cat /etc/shadow", "failed", "", "permissions of this tool are enforced"},
		"a variable":     {"bash: echo [$DATABASE_PASSWORD]", "succeeded", "[]\n", ""},
		"a secret":       {"environment: {secrets: [{name: P, env: DATABASE_PASSWORD}]}\nbash: echo $P", "", "", "DATABASE_PASSWORD is not set"},
		"a tool by path": {"steps: [{name: p, use-tool: /etc/passwd}]", "", "", "unknown-tool"},
		"stays behind":   {"steps: [{name: p, bash: 'sleep 99 &', detach: true}]", "", "", "closed-key"},
		"too long":       {"bash: 'true' #" + strings.Repeat("x", 200<<10), "", "", "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			if err := serve(engine, w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(header+c.text))); err != nil {
				if c.status != "" || !strings.Contains(err.Error(), c.says) {
					t.Error(err)
				}
				return
			}
			var res struct{ Status, Output string }
			if err := json.Unmarshal(w.Body.Bytes(), &res); err != nil {
				t.Fatal(err)
			}
			if res.Status != c.status || res.Output != c.output || !strings.Contains(w.Body.String(), c.says) || strings.Contains(w.Body.String(), "hunter2") {
				t.Errorf("%s", w.Body)
			}
		})
	}
}
