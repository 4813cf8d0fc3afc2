package tools

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/tooltest"
)

// TestFilterCases: tests are chosen by name, in the order of the file, and an unknown name is an error that says what was
// probably meant.
func TestFilterCases(t *testing.T) {
	for name, c := range map[string]struct {
		known, names []string
		want         string
		err          string
	}{
		"all":               {[]string{"a", "b"}, nil, "a b", ""},
		"one":               {[]string{"a", "b"}, []string{"b"}, "b", ""},
		"order":             {[]string{"a", "b", "c"}, []string{"c", "a"}, "a c", ""},
		"of two tools":      {[]string{"a", "b", "a"}, []string{"a"}, "a a", ""},
		"near":              {[]string{"renders", "fails"}, []string{"rendres"}, "", `unknown test "rendres"; did you mean "renders"?`},
		"far":               {[]string{"a", "b"}, []string{"something"}, "", "the tests are a, b"},
		"one is unknown":    {[]string{"a", "b"}, []string{"a", "something"}, "", `unknown test "something"`},
		"there are none":    {nil, []string{"a"}, "", "write tests under the key tests of a definition"},
		"none, and no name": {nil, nil, "", ""},
	} {
		var cases []tooltest.Case
		for _, k := range c.known {
			cases = append(cases, tooltest.Case{Test: tool.Test{Name: k}})
		}
		got, err := filterCases(cases, c.names)
		var names []string
		for _, g := range got {
			names = append(names, g.Test.Name)
		}
		if strings.Join(names, " ") != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", name, names, err)
		}
	}
}

// TestSummary: the last line leaves out what there was none of, but never the tests that passed.
func TestSummary(t *testing.T) {
	for want, s := range map[string]tooltest.Summary{
		"tests: 0 ok (1.50s)\n":                                 {},
		"tests: 2 ok (1.50s)\n":                                 {Passed: 2},
		"tests: 0 ok, 1 failed (1.50s)\n":                       {Failed: 1},
		"tests: 1 ok, 2 failed, 3 skipped, 4 stopped (1.50s)\n": {Passed: 1, Failed: 2, Skipped: 3, Stopped: 4},
	} {
		var out bytes.Buffer
		printSummary(&out, s, 1500*time.Millisecond)
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

// TestStoredExtension: JSON becomes YAML in a scope, and other formats stay.
func TestStoredExtension(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.yaml", "name: a", ".yaml"}, {"a.yml", "name: a", ".yaml"}, {"a.json", "{}", ".yaml"}, {"a.md", "# a", ".md"},
		{"a.tool.js", "", ".tool.js"}, {"a.tool.ts", "", ".tool.ts"}, {"-", `{"name": "a"}`, ".yaml"}, {"-", "name: a\n", ".yaml"},
	} {
		if got := storedExtension(c.file, []byte(c.text)); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.file, c.text, got, c.want)
		}
	}
}

// TestExampleCommand: the command line that is shown after a tool was written can be pasted into a shell.
func TestExampleCommand(t *testing.T) {
	for want, parameters := range map[string]string{
		"report":               "{}",
		"report NAME=...":      "{NAME: {required: true}, OPTIONAL: {}}",
		"report OTHER=...":     "{NAME: {required: true, default: x}, OTHER: {required: true}}",
		"report 'FIRST=a b'":   "{FIRST: {required: true, examples: [a b]}}",
		"report 'SECOND=$(x)'": "{SECOND: {required: true, examples: ['@file', '$(x)']}}",
		"report LAST=true":     "{LAST: {required: true, type: boolean}}",
	} {
		def, found := decode.File("report.yaml", []byte("name: report\nbash: echo\nparameters: "+parameters+"\n"))
		if got := exampleCommand(def); got != want {
			t.Errorf("%q, want %q; %v", got, want, found)
		}
	}
}

// TestNamesInFolders: two files of one folder with the same name are found, and no others.
func TestNamesInFolders(t *testing.T) {
	ids := namesInFolders{}
	for _, c := range []struct{ file, name, want string }{
		{"a/x.yaml", "x", ""}, {"a/y.yaml", "y", ""}, {"b/x.yaml", "x", ""}, {"a/x.yaml", "x", ""}, {"a/z.md", "x", "a/x.yaml"}, {"a/w.md", "x", "a/x.yaml"},
	} {
		if got := ids.other(c.file, c.name); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.file, c.name, got, c.want)
		}
	}
}
