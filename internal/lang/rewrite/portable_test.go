package rewrite

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

var update = flag.Bool("update", false, "write golden files")

// sameTool compares what definitions say, not where or in which form they say it.
var sameTool = cmp.Options{
	cmpopts.IgnoreTypes(diagnostic.Pos{}),
	cmpopts.IgnoreFields(tool.Definition{}, "File", "Source"),
	cmpopts.IgnoreUnexported(diagnostic.Text{}, keytable.Value{}, tool.DeclaredOutput{}, tool.HTTP{}, dataschema.Schema{}),
}

// everyDefinition is the definitions of the specification and of the examples that
// load.
func everyDefinition(t *testing.T) map[string]*tool.Definition {
	all := map[string]*tool.Definition{}
	for _, pattern := range []string{"../tool/testdata/spec001/*.yaml", "../../../examples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, head := range []string{"", "name: a\ndescription: d\n", "name: a\ndescription: d\nbash: echo\n"} { // the specification shows some sections alone
				if def, found := decode.File(file, append([]byte(head), text...)); found.Err() == nil {
					all[tool.Stem(file)] = def
					break
				}
			}
		}
	}
	if len(all) < 70 {
		t.Fatalf("only %d definitions", len(all))
	}
	return all
}

// TestPortable: the text of a definition makes the same tool under another file name,
// and so does its JSON, and the YAML of that.
func TestPortable(t *testing.T) {
	for name, def := range everyDefinition(t) {
		t.Run(name, func(t *testing.T) {
			text, err := Portable(def, "")
			if err != nil {
				t.Fatal(err)
			}
			same(t, "text", def, "other.yaml", text)
			doc, err := NormalJSON(def)
			if err != nil {
				t.Fatal(err)
			}
			js := same(t, "JSON", def, "other.json", doc)
			back, err := Portable(js, "")
			if err != nil {
				t.Fatal(err)
			}
			same(t, "YAML of the JSON", def, "other.yaml", back)
		})
	}
}

func same(t *testing.T, what string, def *tool.Definition, file string, text []byte) *tool.Definition {
	t.Helper()
	again, found := decode.File(file, text)
	for _, d := range found {
		if d.Severity == diagnostic.Error || d.Code == "repaired-scalar" {
			t.Errorf("%s: %s", what, d)
		}
	}
	if diff := cmp.Diff(def, again, sameTool); diff != "" {
		t.Errorf("%s: -file +again:\n%s\n%s", what, diff, text)
	}
	return again
}

// TestPortableText holds what happens to the text of a file, character by character.
func TestPortableText(t *testing.T) {
	for _, c := range []struct{ name, file, text, as, want string }{
		{"as it is", "a.yaml", "# hello\nname: a # mine\nbash: echo\n", "", "# hello\nname: a # mine\nbash: echo\n"},
		{"name added", "a.yaml", "# hello\nbash: echo\n", "", "# hello\nname: a\nbash: echo\n"},
		{"after a document start", "a.yaml", "---\nbash: echo\n", "", "---\nname: a\nbash: echo\n"},
		{"indented", "a.yaml", "  bash: echo\n  description: x\n", "", "  name: a\n  bash: echo\n  description: x\n"},
		{"flow", "a.yaml", "{bash: echo, x-a: [1]}\n", "", "{name: a, bash: echo, x-a: [1]}\n"},
		{"renamed", "a.yaml", "name: a # mine\nbash: echo\n", "b", "name: b # mine\nbash: echo\n"},
		{"renamed, quoted", "a.yaml", "name: \"a\" # mine\nbash: echo\n", "b-2", "name: b-2 # mine\nbash: echo\n"},
		{"repaired", "a.yaml", "name: a\nbash: echo \"x: y\" 'z'\n", "", "name: a\nbash: 'echo \"x: y\" ''z'''\n"},
		{"byte order mark", "a.yaml", "\ufeffbash: echo\n", "", "name: a\nbash: echo\n"},
		{"JSON", "a.json", `{"bash": "echo \"\u00e9\/\"\nls", "tags": ["x", "read"], "x-n": 1.10, "timeout": 5000}`, "",
			"name: a\n\nbash: |-\n  echo \"é/\"\n  ls\n\ntags: [x, read]\nx-n: 1.10\ntimeout: 5000\n"},
		{"no YAML", "a.yaml", "name: [\n", "b", "name: [\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			def, _ := decode.File(c.file, []byte(c.text))
			got, err := Portable(def, c.as)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n got %q\nwant %q", err, got, c.want)
			}
		})
	}
	def, _ := decode.File("a.yaml", []byte("name: >-\n  a\nbash: echo\n"))
	if _, err := Portable(def, "b"); err == nil || !strings.Contains(err.Error(), "name: b") {
		t.Errorf("a name in a block: %v", err)
	}
}

// TestNormalJSON is the form of every kind of value.
func TestNormalJSON(t *testing.T) {
	text := `
x-numbers: [0755, 0x1F, 1.10, True, ~]
description: 1.10
deprecated-message: 0x10
bash: echo
tags: read
timeout: 5s
environment: {A: 1.50, B: True}
parameters:
  <<: {T: {description: text, default: 0755}}
  N: {type: number, description: n, default: 0x1F}
  O: {type: object, description: o, default: {k: [1, yes]}}
tests: [{name: t, parameters: {T: 010}, expected: {output-contains: 12}}]
`
	def, found := decode.File("normal.yaml", []byte(text))
	if found.Err() != nil {
		t.Fatal(found)
	}
	got, err := NormalJSON(def)
	if err != nil {
		t.Fatal(err)
	}
	golden := "testdata/normal.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, found := decode.File("normal.json", got); found.Err() != nil {
		t.Error(found)
	}

	broken, _ := decode.File("broken.yaml", []byte("bash: [\n"))
	if _, err := NormalJSON(broken); err == nil {
		t.Error("broken YAML became JSON")
	}
}

// plainValue is a text as a value of a definition.
func plainValue(s string) keytable.Value {
	t := diagnostic.Plain(s)
	return keytable.Value{Scalar: s, Text: &t}
}

// TestYAML11: texts that readers of YAML 1.1 take for booleans, numbers or times are written in quotes, keys too.
func TestYAML11(t *testing.T) {
	for _, text := range []string{"yes", "Yes", "YES", "no", "No", "on", "ON", "off", "Off", "=", "<<", "1:30", "-1:30:59", "190:20:30.15", "0b101", "+0b1", "1_000", "1e3", "0123", "._1",
		"2026-12-1", "2026-12-01", "2026-12-01 10:00:00 +1", "null", "~", "true"} {
		got, err := WriteYAML([]keytable.Entry{{Key: text, Value: plainValue(text)}})
		if want := `"` + text + `": "` + text + "\"\n"; err != nil || string(got) != want {
			t.Errorf("%s: %v, %s", text, err, got)
		}
	}
	for _, text := range []string{"yEs", "yes please", "on-call", "1:90", "1:30pm", "0b2", "2026-12", "a=b", "x", "y", "N"} {
		if got, err := WriteYAML([]keytable.Entry{{Key: text, Value: plainValue(text)}}); err != nil || string(got) != text+": "+text+"\n" {
			t.Errorf("%s: %v, %s", text, err, got)
		}
	}
}

// FuzzWriteYAML: whatever a text holds, it is read as it was written.
func FuzzWriteYAML(f *testing.F) {
	for _, s := range []string{"", "echo", "a: b", "'a': \"b\" # c", "true", "1.10", "~", " x", "x ", "a\nb\n", "a\n\n\nb", "\n a", "a\n b\n", "\ttab\n", "- x",
		"{A}", "x #y", "😀\n\u2028z", "a\r\nb", "|", "a \nb", "\u0085", "\ufeff", "!x", "*a\n&b", "a\n \n\n b \n\n", "=", "<<", "0o17", "2024-01-01"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, u string) {
		bad := func(s string) bool {
			_, bad := diagnostic.NewSource("", []byte(s)).Problem()
			return bad
		}
		if bad(s) || bad(u) {
			return
		}
		doc := []keytable.Entry{
			{Key: "description", Value: plainValue(s)},
			{Key: "x-list", Value: keytable.Value{List: []keytable.Value{plainValue(s), plainValue(u)}}},
			{Key: "x-map", Value: keytable.Value{Map: []keytable.Entry{{Key: "k", Value: plainValue(u)}, {Key: "n", Value: keytable.Value{List: []keytable.Value{{Map: []keytable.Entry{{Key: "d", Value: plainValue(s)}}}}}}}}},
			{Key: "bash", Value: plainValue(u)},
		}
		out, err := WriteYAML(doc)
		if err != nil {
			t.Fatalf("%v: %q %q", err, s, u)
		}
		again, _ := decode.File("again.yaml", out)
		back, err := documentOf(again)
		if err != nil {
			t.Fatalf("%v: %q %q\n%s", err, s, u, out)
		}
		if diff := cmp.Diff(doc, back, sameTool); diff != "" {
			t.Fatalf("%q %q: -want +got:\n%s\n%s", s, u, diff, out)
		}
	})
}

// TestPortablePage: a Markdown tool stays what it is, under another name too, and says
// that name where people look for it.
func TestPortablePage(t *testing.T) {
	page := func(front string) string {
		return "---\n" + front + "---\n\n# A page\n\n```yaml\ntool: web_search\nparameters: {url: \"input.url\"}\n```\n"
	}
	for name, c := range map[string]struct{ front, as, want string }{
		"as it is": {"tool: true\nname: \"a\" # why\ntype: single\n", "", "tool: true\nname: \"a\" # why\ntype: single\n"},
		"renamed":  {"tool: true\nname: \"a\" # why\ntype: single\n", "b", "tool: true\nname: b # why\ntype: single\n"},
		"by id":    {"tool: true\nid: a\nname: The A\ntype: single\n", "b", "tool: true\nid: b\nname: The A\ntype: single\n"},
		"flow":     {"{tool: true, name: a, type: single}\n", "b", "{tool: true, name: b, type: single}\n"},
	} {
		def, _ := decode.File("a.md", []byte(page(c.front)))
		got, err := Portable(def, c.as)
		if want := page(c.want); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want, string(got)))
		}
	}
	whole := "\ufeff````markdown\r\n---\r\ntool: true\r\nname: a\r\ntype: single\r\n---\r\n````\r\n"
	def, _ := decode.File("a.md", []byte(whole))
	if got, err := Portable(def, "b"); err != nil || !strings.Contains(string(got), "\r\nname: b\r\n") || !strings.HasPrefix(string(got), "````markdown") {
		t.Errorf("in a fence: %v %q", err, got)
	}
}

// TestDescribedJSON: what programs learn of a tool that is not YAML.
func TestDescribedJSON(t *testing.T) {
	def, _ := decode.File("a.md", []byte("---\ntool: true\nname: a\ntype: single\nparameters:\n  - {name: n, type: number, default: 1.5}\n---\n"))
	got, err := NormalJSON(def)
	var d definitionDoc
	if err == nil {
		err = json.Unmarshal(got, &d)
	}
	if err != nil || d.Name != "a" || d.Format != tool.Markdown || len(d.Parameters) != 1 || string(d.Parameters[0].Default) != "1.5" || d.Source != string(def.Source) {
		t.Errorf("%v %s", err, got)
	}
}
