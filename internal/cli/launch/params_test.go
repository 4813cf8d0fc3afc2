package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// TestParseAssignments holds the three forms of an argument.
func TestParseAssignments(t *testing.T) {
	for word, want := range map[string]*assignment{
		"A=1":    {Name: "A", text: "1"},
		"A=":     {Name: "A"},
		"A==1=":  {Name: "A", text: "=1="},
		"A:=[1]": {Name: "A", text: "[1]", json: true},
		"A=@x":   {Name: "A", text: "@x"},
		"a.b=1":  {Name: "a.b", text: "1"},
		"A::=1":  {Name: "A:", text: "1", json: true},
		"A":      nil,
		"=1":     nil,
		":=1":    nil,
		"":       nil,
	} {
		got, err := ParseAssignments(&cobra.Command{}, []string{word})
		switch {
		case want == nil && !errors.As(err, new(*ui.UsageError)):
			t.Errorf("%q: %+v, %v", word, got, err)
		case want != nil && (err != nil || len(got) != 1 || got[0] != *want):
			t.Errorf("%q: %+v, %v, want %+v", word, got, err, *want)
		}
	}
}

// typed has a parameter of each type.
const typed = `
description: Takes all types
parameters:
  NEEDED: {type: boolean, description: must be there, required: true}
  TEXT: {type: string, description: a text, default: x}
  COUNT: {type: number, description: how many, default: 1}
  LIST: {type: array, description: things, default: []}
  OBJECT: {type: object, description: an object, default: {}}
  TOKEN: {type: string, description: a secret, default: x}
environment: {secrets: [TOKEN]}
steps:
  - name: ask
    approve: "{NEEDED} {TEXT} {COUNT} {LIST} {OBJECT} {TOKEN}"
`

// inFolder makes a folder with files the working directory.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCollectParams holds how a document and arguments become parameters, and that all problems are reported together.
func TestCollectParams(t *testing.T) {
	plan := recordedtest.Plan(t, typed)
	inFolder(t, map[string]string{"p.yaml": "NEEDED: true\nTEXT: 3.10\nCOUNT: 2\n", "list.json": `["a", 1]`, "text": "[1,", "bad.yaml": "COUNT: many\nNEEDED: maybe\n"})
	for _, c := range []struct {
		document, words string
		want            map[string]any
		problems        []string // beginnings of the problems, in order
	}{
		{"", "NEEDED=yes COUNT=007", map[string]any{"NEEDED": "yes", "COUNT": "007"}, nil},
		{"p.yaml", "COUNT=9", map[string]any{"NEEDED": true, "TEXT": "3.10", "COUNT": "9"}, nil}, // arguments win; text is as written
		{"", "LIST=a LIST=b", map[string]any{"LIST": []any{"a", "b"}}, nil},
		{"", `LIST=a LIST:={"k":1}`, map[string]any{"LIST": []any{"a", map[string]any{"k": 1}}}, nil},
		{"", "LIST=@list.json", map[string]any{"LIST": []any{"a", 1}}, nil},
		{"", "TEXT=@text", map[string]any{"TEXT": "[1,"}, nil},
		{"", "TEXT=a TEXT=b NEEDED=true", nil, []string{"TEXT: is given more than once; only arrays can have several values"}},
		{"", "LIST=@text NEEDED=true", nil, []string{`LIST: text: not valid JSON`}},
		{"", "LIST:=[1, NEEDED=true", nil, []string{"LIST: not valid JSON: line 1, column 4: the JSON value is incomplete; write plain text as LIST=..."}},
		{"", "NEEDED:=[1,", nil, []string{"NEEDED: not valid JSON"}}, // it is not missing too
		{"", "TEXT=@gone NEEDED=true", nil, []string{`TEXT: cannot read "gone": no such file or directory; write a value that begins with @ as TEXT:='"@..."'`}},
		{"", "TOKEN=@hunter2 NEEDED=true", nil, []string{`TOKEN: cannot read "***": no such file or directory`}}, // it may be the secret itself
		{"", "COUNT=many LIST:=[1, EXTRA=1", nil, []string{`COUNT: "many" is not a number`, "EXTRA: ", "LIST: not valid JSON", "NEEDED: is required"}},
		{"bad.yaml", "LIST:=[1,", nil, []string{`COUNT: bad.yaml:1:8: "many" is not a number`, "LIST: not valid JSON", "NEEDED: bad.yaml:2:9: "}},
		{"bad.yaml", "LIST:=[1, COUNT=lots NEEDED=true", nil, []string{`COUNT: "lots" is not a number`, "LIST: not valid JSON"}}, // no longer what the document says
		{"gone.yaml", "COUNT=many", nil, []string{`--params: cannot read "gone.yaml": no such file or directory; give a file with one JSON or YAML object`}},
	} {
		list, err := ParseAssignments(&cobra.Command{}, strings.Fields(c.words))
		if err != nil {
			t.Fatal(err)
		}
		params, err := CollectParams(&ui.Env{}, plan, engine.RunEnv{}, c.document, list)
		bad, _ := errors.AsType[*value.ParamsError](err)
		switch {
		case err == nil && (c.want == nil || fmt.Sprint(params.Values) != fmt.Sprint(c.want)):
			t.Errorf("%s %s: %v, want %v", c.document, c.words, params.Values, c.want)
		case err != nil && (bad == nil || len(bad.Problems) != len(c.problems)):
			t.Errorf("%s %s: %v, want %q", c.document, c.words, err, c.problems)
		case err != nil:
			for i, p := range bad.Problems {
				if line := p.Name + ": " + p.Message + "; " + p.Hint; !strings.HasPrefix(line, c.problems[i]) {
					t.Errorf("%s %s: %s, want %s", c.document, c.words, line, c.problems[i])
				}
			}
		}
	}
}

// TestParseDocument holds which documents --params accepts, and where it finds the problems of the others.
func TestParseDocument(t *testing.T) {
	for _, c := range []struct{ name, text, want, problem string }{
		{"p.json", `{"TEXT": "1.10", "N": 2.50, "L": ["a b", 2]}`, `{"L":["a b",2],"N":2.50,"TEXT":"1.10"}`, ""},
		{"p.yaml", "TEXT: 3.10\nN: 2.50\nL: [a b, 2]\n", `{"L":["a b",2],"N":2.50,"TEXT":"3.10"}`, ""},
		{"p.txt", `{TEXT: 3.10, N: 2.50}`, `{"N":2.50,"TEXT":"3.10"}`, ""},
		{"stdin", `{"TEXT": "x"}`, `{"TEXT":"x"}`, ""},
		{"p.yaml", "\ufeffTEXT: x\n", `{"TEXT":"x"}`, ""},
		{"p.json", "\ufeff{\"TEXT\": \"x\", \"N\": 1e2}", `{"N":1e2,"TEXT":"x"}`, ""},
		{"p.json", `{"TEXT": 3.10}`, `{"TEXT":3.10}`, ""},
		{"p.json", "{\n  \"TEXT\": \"x\",\n  \"N\": tow\n}", "", "cannot read p.json:3:9: "},
		{"stdin", "{\n  \"TEXT\": tow\n}", "", "cannot read stdin:2:12: "}, // it looks like JSON
		{"p.yaml", "TEXT: \"x\n", "", `cannot read p.yaml:1:7: the quote " is never closed`},
		{"p.yaml", "- TEXT\n", "", "cannot read p.yaml:1:1: expected an object, got a list"},
		{"p.json", `["TEXT"]`, "", "cannot read p.json:1:1: expected an object, got a list"},
		{"p.yaml", "TEXT\n", "", "cannot read p.yaml:1:1: expected an object, got text"},
		{"p.yaml", "7\n", "", "cannot read p.yaml:1:1: expected an object, got 7"},
		{"p.yaml", "# nothing\n", "", "cannot read p.yaml:1:1: the file is empty"},
		{"p.yaml", "TEXT: a\nTEXT: b\n", "", "cannot read p.yaml:2:1: "},
		{"p.json", "{\"TEXT\": 1,\n \"TEXT\": 2}", "", "cannot read p.json:2:2: "},
		{"p.yaml", "TEXT: a\n---\nTEXT: b\n", "", "cannot read p.yaml:2:1: "},
	} {
		d, err := parseDocument(c.name, []byte(c.text), func(name string) bool { return name == "TEXT" })
		got, bad := json.Marshal(d.Values)
		if err == nil && (string(got) != c.want || bad != nil) || err != nil && (c.problem == "" || !strings.HasPrefix(err.Error(), c.problem)) {
			t.Errorf("%s %q: %s, %v", c.name, c.text, got, err)
		}
	}
}

// TestLocate holds where in a document a problem with a parameter is.
func TestLocate(t *testing.T) {
	d, err := parseDocument("p.yaml", []byte("A: x\nO:\n  lines:\n    - n: 1\n      sku: a\n    - n: many\n  a.b: {c: 1}\n  a: {}\n"), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	params := &Params{d.Values, d.written}
	for name, want := range map[string]string{
		"A":              "p.yaml:1:4",
		"O.lines[1].n":   "p.yaml:6:10",
		"O.lines[0].sku": "p.yaml:5:12",
		"O.lines[1].sku": "p.yaml:6:7", // it is missing there
		"O.lines[9]":     "p.yaml:4:5",
		"O.a.b.c":        "p.yaml:7:12", // the longest key that fits
		"O.a.x":          "p.yaml:8:6",
		"B":              "",
	} {
		top, _, _ := strings.Cut(name, ".")
		bad := &value.ParamsError{Problems: []value.ParamProblem{value.Within(top, value.ParamProblem{Name: strings.TrimPrefix(name, top), Message: "is wrong"})}}
		var got *value.ParamsError
		if want != "" {
			want += ": "
		}
		if err := params.Locate(fmt.Errorf("x: %w", bad)); !errors.As(err, &got) || got.Problems[0].Message != want+"is wrong" || bad.Problems[0].Message != "is wrong" {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if other := errors.New("x"); params.Locate(other) != other {
		t.Error("another error is changed")
	}
}

// TestCutPart: a part of a path ends where the next one begins.
func TestCutPart(t *testing.T) {
	for _, c := range []struct {
		path, part, rest string
		ok               bool
	}{
		{".a.b", "a", ".b", true},
		{".ab", "a", "", false},
		{".a[0]", "a", "[0]", true},
		{"[0].x", "0", ".x", true},
		{"[10]", "1", "", false},
		{".a", "a", "", true},
		{"a", "a", "", false},
	} {
		if rest, ok := cutPart(c.path, c.part); ok != c.ok || ok && rest != c.rest {
			t.Errorf("%s, %s: %q, %v", c.path, c.part, rest, ok)
		}
	}
}

// TestAnswerValue holds what an answer at the terminal means.
func TestAnswerValue(t *testing.T) {
	plan := recordedtest.Plan(t, `
description: Asks
parameters:
  COLOR: {type: string, description: which, validation: {enum: [red, green]}}
  LEVEL: {type: number, description: which, validation: {enum: [2, 1]}}
  SURE: {type: boolean, description: yes or no}
  NAME: {type: string, description: who}
steps:
  - name: ask
    approve: "{COLOR} {LEVEL} {SURE} {NAME}"
`)
	for _, c := range []struct{ name, text, want string }{
		{"COLOR", "red", "red"},
		{"COLOR", "2", "green"},
		{"COLOR", "3", "3"},
		{"COLOR", "0", "0"},
		{"LEVEL", "2", "2"}, // a choice itself, not the second one
		{"LEVEL", "1", "1"},
		{"SURE", "y", "true"},
		{"SURE", "No", "false"},
		{"SURE", "true", "true"},
		{"NAME", "yes", "yes"},
		{"NAME", "1", "1"},
	} {
		if got := answerValue(plan.Definition.Parameter(c.name), c.text); got != c.want {
			t.Errorf("%s=%s: %v, want %s", c.name, c.text, got, c.want)
		}
	}
}

// TestCheckWritable: the file of metrics can be made or replaced, and nothing but a file is replaced.
func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                           "",
		file:                         "",
		filepath.Join(dir, "new"):    "",
		dir:                          "not a regular file; give another path",
		filepath.Join(dir, "no/new"): "cannot write the file: no such file or directory; give a file in an existing folder that you can write to",
	} {
		if err := checkWritable(path); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s: %v", path, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if text, bad := os.ReadFile(file); err != nil || bad != nil || string(text) != "old" || !cmp.Equal(left, []string{file}) {
		t.Errorf("%s, %q, %v", text, left, err)
	}
}
