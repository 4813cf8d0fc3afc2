package call_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

// planOf compiles the definition of a tool.
func planOf(t *testing.T, text string) *plan.Plan {
	t.Helper()
	def, found := decode.File("t.yaml", []byte("name: t\ndescription: d\n"+text))
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
	const list = "parameters:\n  A: {description: a, type: array}\n"
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
		{"a value of a step with a condition", a + "steps: [{name: s, run-condition: \"'{A}' != '-x'\", bash: 'ls {A}'}]\n", map[string]any{"A": "-x"}, "dash"},
		{"a number", a + "bash: echo $(({A} + 1))\n", map[string]any{"A": "x"}, "refused"},
		{"a number that a condition guards", a + "steps: [{name: s, run-condition: \"'{A}' != 'x'\", bash: 'echo $(({A} + 1))'}]\n", map[string]any{"A": "x"}, ""},
		{"numbers", list + "steps: [{name: s, for-each: {items: '{A}'}, bash: 'echo $(({item} + 1))'}]\n", map[string]any{"A": []any{"1", "x"}}, "refused"},
		{"numbers that a condition guards", list + "steps: [{name: s, for-each: {items: '{A}'}, run-condition: \"'{item}' != 'x'\", bash: 'echo $(({item} + 1))'}]\n", map[string]any{"A": []any{"1", "x"}}, ""},
		{"a value and a number that a condition guards", a + "steps: [{name: s, run-condition: \"'{A}' != '-x'\", bash: 'echo $(({A} + 1))'}]\n", map[string]any{"A": "-x"}, ""},
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

// TestArithmetic: what arithmetic of a shell cannot take is refused with what would help.
func TestArithmetic(t *testing.T) {
	const script = "parameters:\n  N: {description: n, type: %s}\nbash: echo $(( {N} * 2 ))\n"
	for _, c := range []struct{ kind, value, want string }{
		{"number", "7", ""}, {"number", "010", ""}, {"number", "1.5", "calculate with awk"}, {"number", "1e3", "calculate with awk"},
		{"string", "1.5", "calculate with awk"}, {"string", "a[$(id)]", "declare the parameter as type: number"},
	} {
		err := bind(planOf(t, fmt.Sprintf(script, c.kind)))(map[string]any{"N": c.value})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.kind, c.value, err, c.want)
		}
	}
}

// TestAbsentDefault: a default that is one reference without a value does not count, and no second problem follows from a
// missing parameter.
func TestAbsentDefault(t *testing.T) {
	const optional, required = "parameters:\n  A: {description: a}\n", "parameters:\n  A: {description: a, required: true}\n"
	for _, c := range []struct{ text, problems string }{
		{optional + "  B: {description: b, default: '{A}'}\n", ""},
		{optional + "  B: {description: b, default: '{A:uppercase}'}\n", ""},
		{optional + "  B: {description: b, default: '{RAW:A}'}\n", ""},
		{optional + "  B: {description: b, default: '{env.NOT_SET_ANYWHERE}'}\n", ""},
		{optional + "  B: {description: b, default: '{A}', type: number}\n", ""},
		{optional + "  B: {description: b, default: '{A}'}\n  C: {description: c, default: '{B}', type: array}\n", ""},
		{optional + "  B: {description: b, default: '{A}', required: true}\n", "B is required"},
		{required + "  B: {description: b, default: '{A}'}\n", "A is required"},
		{required + "  B: {description: b, default: '{A}', required: true}\n", "A is required"},
		{required + "  B: {description: b, default: 'x{A}'}\n", "A is required"},
	} {
		var found []string
		err := bind(planOf(t, c.text+"bash: echo {A} {B}\n"))(nil)
		if problems, ok := err.(*value.ParamsError); ok {
			for _, p := range problems.Problems {
				found = append(found, p.Name+" "+p.Message)
			}
		} else if err != nil {
			t.Error(err)
		}
		if got := strings.Join(found, "; "); got != c.problems {
			t.Errorf("%s: %q, want %q", c.text, got, c.problems)
		}
	}
}

// TestProblemsHideSecrets: the messages about the values of a call contain no secret, also where another value repeats it.
func TestProblemsHideSecrets(t *testing.T) {
	const text = "parameters:\n  A: {description: a}\n  B: {description: b, validation: {enum: [x]}}\nenvironment: {secrets: [A, S]}\nbash: echo {A} {B}\n"
	w := (&call.RunEnv{Env: []string{"S=of-the-environment"}}).Filled()
	for _, c := range []struct {
		given  map[string]any
		hidden string
	}{
		{map[string]any{"A": "hunter2222", "B": "hunter2222"}, "hunter2222"},
		{map[string]any{"A": "hunter2222", "B": "not hunter2222 again"}, "hunter2222"},
		{map[string]any{"A": "a", "B": "of-the-environment"}, "of-the-environment"},
	} {
		_, err := call.Bind(t.Context(), planOf(t, text), w, c.given)
		if err == nil || strings.Contains(err.Error(), c.hidden) || !strings.Contains(err.Error(), "***") {
			t.Errorf("%v: %v", c.given, err)
		}
	}
}
