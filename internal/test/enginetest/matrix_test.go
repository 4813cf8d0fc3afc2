package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

// TestMatrix checks that a loop has the items of a matrix, and that its steps can refer to them. Package plan has the
// combinations.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, matrix string
		run          string // "" prints the whole combination
		keys         []string
		want         []any
	}{
		{"the last name turns fastest", "{os: [linux, mac], go: [1, 2]}", "{matrix.os}{matrix.go}{index}",
			[]string{"[linux-1]", "[linux-2]", "[mac-1]", "[mac-2]"}, []any{"linux10", "linux21", "mac12", "mac23"}},
		{"lines of a step", "{os: \"{names.output}\"}", "{matrix.os}", []string{"[n1]", "[n2]"}, []any{"n1", "n2"}},
		{"objects", "{node: [{version: 14}, {version: 20, env: x}]}", "{matrix.node.version}", []string{`[{"version":14}]`, `[{"env":"x","version":20}]`}, []any{"14", "20"}},
		{"a name that only some have", "{os: [linux, mac], include: [{os: mac, fast: yes-it-is}]}", "{matrix.os} {matrix.fast}",
			[]string{"[linux]", "[mac-yes-it-is]"}, []any{"linux", "mac yes-it-is"}},
		{"the same name twice", "{a: [x-y, x], b: [z, y-z]}", "{matrix.a}+{matrix.b}",
			[]string{"[x-y-z]", "[x-y-y-z]", "[x-z]", "[x-y-z-2]"}, []any{"x-y+z", "x-y+y-z", "x+z", "x+y-z"}},
		{"a number that is taken", "{a: [x, x, x-2, x]}", "{matrix.a}", []string{"[x]", "[x-3]", "[x-2]", "[x-4]"}, []any{"x", "x", "x-2", "x"}},
		{"the same in brackets", "{a: [\"(\", \"[\"]}", "'{matrix.a}'", []string{"[(]", "[(-2]"}, []any{"(", "["}},
		{"a condition", "{os: [linux, mac], go: [1, 2]}", "{matrix.os}\n    run-condition: \"{matrix.go} > 1 && {matrix.os} == 'mac'\"",
			[]string{"[linux-1]", "[linux-2]", "[mac-1]", "[mac-2]"}, []any{nil, nil, nil, "mac"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := "parameters: {LIST: {type: array, description: l, default: [a, b c]}, WORD: {description: w, default: w}}\nsteps:\n"
			if strings.Contains(c.matrix, "names") {
				text += "  - name: names\n    bash: echo n1; echo n2\n"
			}
			res := newBed(t).run(context.Background(), text+"  - name: t\n    matrix: "+c.matrix+"\n    run: echo -n "+c.run+"\n", nil)
			if res.Status != dag.Succeeded {
				t.Fatalf("the run %s: %s %+v", res.Status, res.Message, res.Steps)
			}
			if diff := cmp.Diff(c.keys, items(res, "t")); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, outputs(t, res, "t")); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMatrixRefused checks that the step fails if its matrix is found to be wrong only when the run has begun.
func TestMatrixRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ matrix, want string }{
		"no list": {"{os: \"{N}\"}", `matrix.os: expected a list, found "5"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := newBed(t).run(context.Background(), "parameters: {N: {type: number, description: n, default: 5}}\n"+
				"steps:\n  - name: t\n    matrix: "+c.matrix+"\n    run: echo x\n", nil)
			if s := res.Step("t"); res.Status != dag.Failed || !strings.Contains(s.Message, c.want) {
				t.Errorf("%s: %q, want %q", s.Status, s.Message, c.want)
			}
		})
	}
}
