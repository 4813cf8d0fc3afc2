package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/service/web"
)

// TestRoles calls every route that changes something, with every role, on a service that is
// read-only and one that is not.
func TestRoles(t *testing.T) {
	dir := t.TempDir()
	tokens := map[string]string{}
	for _, name := range users.RoleNames() {
		token, err := users.Add(dir, name, users.Role(name))
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = token
	}
	webhooks := []config.Webhook{{Name: "any", Tool: "hello", Scheme: config.Token, Header: "X-Flowrun-Token", Secret: []byte("a secret word")}}
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, readOnly := range []bool{false, true} {
		b := newBench(t, web.Options{Users: users.NewRegistry(dir, func(err error) { t.Error(err) }), Schedules: &office{}, Webhooks: webhooks, MCP: nothing, ReadOnly: readOnly})
		checked := 0
		for path, methods := range b.operations() {
			for method, op := range methods {
				if method == "get" || op.ID == "mcpSend" || op.ID == "mcpEnd" {
					continue
				}
				checked++
				for _, role := range users.RoleNames() {
					res, doc := b.ask(strings.ToUpper(method), strings.NewReplacer("{id}", "1m80yahhymcge", "{name}", "any").Replace(path), "", "Authorization", "Bearer "+tokens[role])
					got := ""
					if res.StatusCode >= 400 {
						got = problemIn(t, doc).Code
					}
					want := ""
					switch {
					case readOnly:
						want = "read-only"
					case op.ID != "webhook" && !users.Role(role).Includes(op.Role):
						want = "role"
					}
					if (got == "role" || got == "read-only") != (want != "") || want != "" && (got != want || res.StatusCode != 403) {
						t.Errorf("%s %s by %s: %d %s, want %q", method, path, role, res.StatusCode, doc, want)
					}
				}
			}
		}
		if checked < 10 {
			t.Errorf("only %d routes", checked)
		}
	}
}

// A viewer sees everything and changes nothing. The audit log and the pages know the name.
func TestViewer(t *testing.T) {
	dir := t.TempDir()
	viewer, err := users.Add(dir, "vera", users.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, web.Options{Users: users.NewRegistry(dir, func(err error) { t.Error(err) })})
	c := b.signIn(viewer)
	for _, path := range []string{"/", "/api/v1/runs", "/api/v1/tools", "/api/v1/tools/hello", "/api/v1/ps"} {
		if res, text := b.browse(c, path, nil); res.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, res.StatusCode, text)
		}
	}
	if _, text := b.browse(c, "/api/v1/session", nil); !strings.Contains(text, `"user":"vera","role":"viewer","read_only":false,"may_run":false,"may_edit":false`) {
		t.Errorf("%s", text)
	}
	res, doc := b.ask("POST", "/api/v1/runs", `{"tool": "hello"}`, "Authorization", "Bearer "+viewer)
	if p := problemIn(t, doc); res.StatusCode != 403 || p.Message != "your role is viewer, and this needs the role operator" {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
}
