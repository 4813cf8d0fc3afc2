package call_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/compile"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/tool"
)

// planOf compiles the definition of a tool.
func planOf(t *testing.T, text string) *plan.Plan {
	t.Helper()
	def, found := tool.Decode("t.yaml", []byte("name: t\ndescription: d\n"+text))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Definition(library.New(library.Config{WorkingDirectory: t.TempDir()}), "", def)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRefusedValues: a call ends before anything runs if a command or a wait refuses a value of the caller. One of the
// author is not refused for its dash.
func TestRefusedValues(t *testing.T) {
	const a = "parameters:\n  A: {description: a}\n"
	for _, c := range []struct {
		name, text string
		given      map[string]any
		code       string // of the problem; "" if there is none
	}{
		{"a value", a + "bash: ls {A}\n", map[string]any{"A": "-x"}, "dash"},
		{"a default of the author", "parameters:\n  A: {description: a, default: -x}\nbash: ls {A}\n", nil, ""},
		{"a default with a value", "parameters:\n  A: {description: a}\n  B: {description: b, default: '{A}'}\nbash: ls {B}\n", map[string]any{"A": "-x"}, "dash"},
		{"a default with a part of a value", "parameters:\n  A: {description: a}\n  B: {description: b, default: '-{A}'}\nbash: ls {B}\n", map[string]any{"A": "x"}, "dash"},
		{"a default with a default of the author", "parameters:\n  A: {description: a, default: -x}\n  B: {description: b, default: '{A}'}\nbash: ls {B}\n", nil, ""},
		{"a file", a + "steps: [{name: s, wait: {file: '{A}'}}]\n", map[string]any{"A": ""}, "refused"},
		{"a port", a + "steps: [{name: s, wait: {port: '{A}'}}]\n", map[string]any{"A": "db"}, "refused"},
		{"a time", a + "steps: [{name: s, wait: {until: '{A}'}}]\n", map[string]any{"A": "soon"}, "refused"},
		{"a scheme", a + "steps: [{name: s, wait: {http: '{A}'}}]\n", map[string]any{"A": "ftp://h"}, "refused"},
		{"a URL", a + "steps: [{name: s, wait: {http: '{A}'}}]\n", map[string]any{"A": "http://h/x"}, ""},
		{"an empty part of a URL", a + "steps: [{name: s, wait: {http: 'http://h/users/{A}'}}]\n", map[string]any{"A": ""}, "refused"},
		{"another path", a + "steps: [{name: s, wait: {http: 'http://h/users/{A}'}}]\n", map[string]any{"A": "../x"}, "refused"},
		{"a path that a condition guards", a + "steps: [{name: s, run-condition: \"'{A}' != ''\", wait: {http: 'http://h/users/{A}'}}]\n", map[string]any{"A": ""}, ""},
	} {
		err := bind(planOf(t, c.text))(c.given)
		code := ""
		if problems, ok := err.(*value.ParamsError); ok {
			code = problems.Problems[0].Code
		}
		if code != c.code || (err == nil) != (code == "") {
			t.Errorf("%s: %v, want the problem %q", c.name, err, c.code)
		}
	}
}
