package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/web"
)

// source is the document of a definition.
type source struct {
	Name, Kind, File, Text, Digest string
	ReadOnly                       string `json:"read_only"`
}

func (b *bench) source(name string) (s source) {
	b.Helper()
	if res, doc := b.get("/api/v1/tools/" + name + "/source"); res.StatusCode != 200 || json.Unmarshal(doc, &s) != nil {
		b.Fatalf("%d %s", res.StatusCode, doc)
	}
	return s
}

// save replaces a definition, and returns the status and the code of the error.
func (b *bench) save(name, text, digest string, header ...string) (status int, code string) {
	b.Helper()
	body, err := json.Marshal(map[string]string{"text": text, "digest": digest})
	if err != nil {
		b.Fatal(err)
	}
	res, doc := b.ask("PUT", "/api/v1/tools/"+name+"/source", string(body), header...)
	if res.StatusCode == 200 {
		return 200, ""
	}
	return res.StatusCode, problemIn(b, doc).Code
}

// editTool changes a definition and validates a text.
func (b *bench) editTool() {
	b.Helper()
	s := b.source("bare")
	if s.Kind != "yaml" || s.File != "bare.yaml" || s.Text != tools["bare"] || s.ReadOnly != "" {
		b.Errorf("%+v", s)
	}
	if status, code := b.save("bare", strings.Replace(s.Text, "echo", "echo new", 1), s.Digest); status != 200 {
		b.Errorf("%d %s", status, code)
	}
	if now := b.source("bare"); !strings.Contains(now.Text, "echo new {WHO}") || now.Digest == s.Digest {
		b.Errorf("%+v", now)
	}
	res, doc := b.ask("POST", "/api/v1/validate", `{"tool": "bare", "text": "name: bare\nsteps: 7\n"}`)
	if res.StatusCode != 200 || !strings.Contains(string(doc), `"valid":false`) || !strings.Contains(string(doc), `"line":2`) || !strings.Contains(string(doc), `"file":"bare.yaml"`) || strings.Contains(string(doc), b.dir) {
		b.Errorf("%d %s", res.StatusCode, doc)
	}
}

// TestDryRunOfText checks that a text is shown as it would run before it is saved.
func TestDryRunOfText(t *testing.T) {
	b := newBench(t, web.Options{})
	body := `{"tool": "bare", "text": "name: bare\nbash: echo hi {WHO}\nparameters:\n  WHO: {type: number}\n", "params": {"WHO": `
	if res, doc := b.ask("POST", "/api/v1/validate", body+`7}}`); res.StatusCode != 200 || !strings.Contains(string(doc), `"command":"echo hi 7"`) || !strings.Contains(string(doc), `"nodes":[{"id":"bare"`) || strings.Contains(string(doc), b.dir) {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
	res, doc := b.ask("POST", "/api/v1/validate", body+`"many"}}`)
	if p := problemIn(t, doc); res.StatusCode != 422 || len(p.Problems) != 1 || p.Problems[0].Name != "WHO" {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
}

// TestSave checks when a definition is not replaced, and that the file is unchanged then.
func TestSave(t *testing.T) {
	b := newBench(t, web.Options{Tokens: []service.Token{{Text: "for hello", Tools: []string{"hel*"}}}})
	file := filepath.Join(b.dir, ".flowrun", "tools", "hello.yaml")
	s := b.source("hello")
	good := strings.Replace(s.Text, "Says", "Said", 1)
	refused := func(what string, status int, code string, text, digest string, header ...string) {
		t.Helper()
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if gotStatus, gotCode := b.save("hello", text, digest, header...); gotStatus != status || gotCode != code {
			t.Errorf("%s: %d %s", what, gotStatus, gotCode)
		}
		if now, _ := os.ReadFile(file); string(now) != string(before) {
			t.Errorf("%s: the file has changed", what)
		}
	}
	refused("invalid", 422, "invalid-definition", "name: hello\nsteps: 7\n", s.Digest)
	refused("no text", 400, "no-text", "", s.Digest)
	refused("token for some tools", 403, "role", good, s.Digest, "Authorization", "Bearer for hello")
	b.distrust = true
	refused("project that is not trusted", 403, "read-only-definition", good, s.Digest)
	if s := b.source("hello"); !strings.Contains(s.ReadOnly, "not trusted") || strings.Contains(s.ReadOnly, b.dir) {
		t.Errorf("%+v", s)
	}
	b.distrust = false
	if err := os.WriteFile(file, []byte(good+"# by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused("changed meanwhile", 409, "source-changed", good, s.Digest)
	elsewhere := filepath.Join(t.TempDir(), "hello.yaml")
	if err := os.Rename(file, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, file); err != nil {
		t.Fatal(err)
	}
	refused("link", 403, "read-only-definition", good, tool.DigestOf([]byte(good+"# by hand\n")))
}

// TestRename checks that a text that renames the tool is saved with a warning, and not under the name of another tool.
func TestRename(t *testing.T) {
	b := newBench(t, web.Options{})
	s := b.source("bare")
	named := func(name string) string { return strings.Replace(s.Text, "name: bare", "name: "+name, 1) }
	for name, want := range map[string]string{"renamed": "schedules, webhooks, aliases, other tools and callers that name bare do not find it", "hello": "the file hello.yaml defines a tool named hello already"} {
		body, err := json.Marshal(map[string]string{"tool": "bare", "text": named(name)})
		if err != nil {
			t.Fatal(err)
		}
		if res, doc := b.ask("POST", "/api/v1/validate", string(body)); res.StatusCode != 200 || !strings.Contains(string(doc), want) || strings.Contains(string(doc), b.dir) {
			t.Errorf("%s: %d %s", name, res.StatusCode, doc)
		}
	}
	if status, code := b.save("bare", named("hello"), s.Digest); status != 422 || code != "invalid-definition" {
		t.Errorf("the name of another tool: %d %s", status, code)
	}
	body, err := json.Marshal(map[string]string{"text": named("renamed"), "digest": s.Digest})
	if err != nil {
		t.Fatal(err)
	}
	if res, doc := b.ask("PUT", "/api/v1/tools/bare/source", string(body)); res.StatusCode != 200 || !strings.Contains(string(doc), `"name":"renamed"`) || !strings.Contains(string(doc), "callers that name bare") {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
}

// TestEditorPaths checks that a name never becomes a path, and that no answer has a path of the
// machine.
func TestEditorPaths(t *testing.T) {
	b := newBench(t, web.Options{})
	outside := filepath.Join(b.dir, "outside.yaml")
	if err := os.WriteFile(outside, []byte(tools["hello"]), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"..%2F..%2Foutside", "..%2F..%2Foutside.yaml", strings.ReplaceAll(outside, "/", "%2F"), ".%2Fhello.yaml", "hello.yaml", "..", "%00", "hello%00", "nothing"} {
		for _, method := range []string{"GET", "PUT"} {
			body := ""
			if method == "PUT" {
				body = `{"text": "name: x\nbash: id\n", "digest": "` + tool.DigestOf([]byte(tools["hello"])) + `"}`
			}
			res, doc := b.ask(method, "/api/v1/tools/"+name+"/source", body)
			if res.StatusCode != 404 && res.StatusCode != 400 || strings.Contains(string(doc), b.dir) {
				t.Errorf("%s %s: %d %s", method, name, res.StatusCode, doc)
			}
		}
		if res, doc := b.ask("POST", "/api/v1/validate", `{"tool": `+strconv.Quote(strings.ReplaceAll(name, "%2F", "/"))+`, "text": "name: x\nbash: id\n"}`); res.StatusCode != 404 && res.StatusCode != 400 {
			t.Errorf("%s: %d %s", name, res.StatusCode, doc)
		}
	}
	if now, err := os.ReadFile(outside); err != nil || string(now) != tools["hello"] {
		t.Errorf("%v: a file outside has changed: %s", err, now)
	}
	_, doc := b.ask("POST", "/api/v1/validate", `{"text": "name: x\nsteps: [{name: a, use-tool: ./nowhere.yaml}]\n"}`)
	if strings.Contains(string(doc), b.dir) || !strings.Contains(string(doc), `"valid":false`) {
		t.Errorf("%s", doc)
	}
}
