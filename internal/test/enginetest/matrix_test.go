package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

// TestMatrix: which combinations there are, in which order, and what they are
// called. The rules for include and exclude are those of GitHub Actions.
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
		{"versions stay as they are written", "{go: [1.20, 1.21, 1e3, 0x10, 2.0]}", "{matrix.go}",
			[]string{"[1.20]", "[1.21]", "[1e3]", "[0x10]", "[2.0]"}, []any{"1.20", "1.21", "1e3", "0x10", "2.0"}},
		{"exclude", "{os: [linux, mac], go: [1, 2], exclude: [{os: mac, go: 1}]}", "{matrix.os}{matrix.go}",
			[]string{"[linux-1]", "[linux-2]", "[mac-2]"}, []any{"linux1", "linux2", "mac2"}},
		{"exclude by one name", "{os: [linux, mac], go: [1, 2], exclude: [{os: mac}]}", "{matrix.os}{matrix.go}",
			[]string{"[linux-1]", "[linux-2]"}, []any{"linux1", "linux2"}},
		{"exclude compares as written", "{go: [1.20, 1.2], exclude: [{go: 1.20}]}", "{matrix.go}", []string{"[1.2]"}, []any{"1.2"}},
		{"exclude all", "{os: [linux], exclude: [{os: linux}]}", "x", nil, []any{}},
		{"the example of GitHub's documentation", "{fruit: [apple, pear], animal: [cat, dog], include: [{color: green}, {color: pink, animal: cat}, {fruit: apple, shape: circle}, {fruit: banana}, {fruit: banana, animal: cat}]}", "{matrix}",
			[]string{"[apple-cat-pink-circle]", "[apple-dog-green-circle]", "[pear-cat-pink]", "[pear-dog-green]", "[banana]", "[banana-cat]"},
			[]any{`{"animal":"cat","color":"pink","fruit":"apple","shape":"circle"}`, `{"animal":"dog","color":"green","fruit":"apple","shape":"circle"}`,
				`{"animal":"cat","color":"pink","fruit":"pear"}`, `{"animal":"dog","color":"green","fruit":"pear"}`, `{"fruit":"banana"}`, `{"animal":"cat","fruit":"banana"}`}},
		{"include alone", "{include: [{site: production, at: eu}, {site: staging, at: us}]}", "{matrix.site}@{matrix.at}",
			[]string{"[production-eu]", "[staging-us]"}, []any{"production@eu", "staging@us"}},
		{"exclude comes before include", "{os: [linux, mac], exclude: [{os: mac}], include: [{os: mac, fast: true}]}", "{matrix}",
			[]string{"[linux]", "[mac-true]"}, []any{`{"os":"linux"}`, `{"fast":true,"os":"mac"}`}},
		{"a list from a parameter", "{os: \"{LIST}\", go: [1]}", "{matrix.os}{matrix.go}", []string{"[a-1]", "[b c-1]"}, []any{"a1", "b c1"}},
		{"a hole among the values", "{os: [\"{WORD}\", z]}", "{matrix.os}", []string{"[w]", "[z]"}, []any{"w", "z"}},
		{"lines of a step", "{os: \"{names.output}\"}", "{matrix.os}", []string{"[n1]", "[n2]"}, []any{"n1", "n2"}},
		{"an empty list", "{os: [], go: [1]}", "x", nil, []any{}},
		{"objects", "{node: [{version: 14}, {version: 20, env: x}]}", "{matrix.node.version}", []string{`[{"version":14}]`, `[{"env":"x","version":20}]`}, []any{"14", "20"}},
		{"a name that only some have", "{os: [linux, mac], include: [{os: mac, fast: yes-it-is}]}", "{matrix.os} {matrix.fast}",
			[]string{"[linux]", "[mac-yes-it-is]"}, []any{"linux", "mac yes-it-is"}},
		{"the same name twice", "{a: [x-y, x], b: [z, y-z]}", "{matrix.a}+{matrix.b}",
			[]string{"[x-y-z]", "[x-y-y-z]", "[x-z]", "[x-y-z-2]"}, []any{"x-y+z", "x-y+y-z", "x+z", "x+y-z"}},
		{"a number that is taken", "{a: [x, x, x-2, x]}", "{matrix.a}", []string{"[x]", "[x-3]", "[x-2]", "[x-4]"}, []any{"x", "x", "x-2", "x"}},
		{"the same in brackets", "{a: [\"(\", \"[\"]}", "'{matrix.a}'", []string{"[(]", "[(-2]"}, []any{"(", "["}},
		{"a range", "{v: 1..3}", "{matrix.v}", []string{"[1]", "[2]", "[3]"}, []any{"1", "2", "3"}},
		{"an expression", "{v: \"filter({LIST}, # != 'a')\", w: [1]}", "{matrix.v}{matrix.w}", []string{"[b c-1]"}, []any{"b c1"}},
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

// TestMatrixRefused: what is known only when the run has begun.
func TestMatrixRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ matrix, want string }{
		"no list":                  {"{os: \"{N}\"}", `matrix.os: expected a list, found "5"`},
		"too many":                 {"{a: \"{LIST}\", b: \"{LIST}\", c: \"{LIST}\", d: \"{LIST}\", e: \"{LIST}\", f: \"{LIST}\", g: \"{LIST}\"}", "more than 1000000 combinations"},
		"no list of an expression": {"{os: \"{N} + 1\"}", `matrix.os: expected a list, found "6"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := newBed(t).run(context.Background(), "parameters: {N: {type: number, description: n, default: 5}, LIST: {type: array, description: l, default: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}\n"+
				"steps:\n  - name: t\n    matrix: "+c.matrix+"\n    run: echo x\n", nil)
			if s := res.Step("t"); res.Status != dag.Failed || !strings.Contains(s.Message, c.want) {
				t.Errorf("%s: %q, want %q", s.Status, s.Message, c.want)
			}
		})
	}
}
