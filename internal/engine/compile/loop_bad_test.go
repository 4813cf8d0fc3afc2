package compile_test

import (
	"testing"
)

// TestBadLoops: what is wrong with loops, groups and handlers is reported before anything
// runs, with its place.
func TestBadLoops(t *testing.T) {
	t.Parallel()
	testWrong(t, nil, map[string]wrong{
		"run outside of handlers": {"steps:\n  - {name: a, run: \"echo {run.status}\"}", []string{"4:26 expr-undeclared"}, "only available in handlers"},
		"no braces":               {"steps:\n  - {name: a, run: echo}\n  - {name: b, run: echo, run-condition: \"a.exit-code == 0\"}", []string{"5:42 expr-unknown"}, "write {a.exit-code} to use its value"},
		"no braces, a near name":  {"steps:\n  - {name: abc, run: echo}\n  - {name: abd, run: echo}\n  - {name: b, run: echo, run-condition: \"abc.exit-code == 0\"}", []string{"6:42 expr-unknown"}, "write {abc.exit-code} to use its value"},
		"no braces, out of reach": {"steps:\n  - {name: g, steps: [{name: inn, run: echo}]}\n  - {name: b, run: echo, run-condition: \"inn.exit-code == 0\"}", []string{"5:42 expr-unknown"}, "in another list"},
		"a condition on no step":  {"steps:\n  - {name: a, run: echo, run-condition: \"{nope.exit-code} == 0\"}", []string{"4:42 expr-unknown"}, "unknown reference {nope.exit-code}"},
		"half a condition":        {"steps:\n  - {name: a, run: echo}\n  - {name: b, run: echo, run-condition: \"{a.exit-code} == \"}", []string{"5:58 expr-syntax"}, "it ends too early"},
		"a misspelt function":     {"steps:\n  - {name: a, run: echo, run-condition: \"sucess()\"}", []string{"4:42 expr-unknown"}, "unknown function sucess(); did you mean success()?"},
		"a function not called":   {"steps:\n  - {name: a, run: echo, run-condition: always}", []string{"4:41 expr-syntax"}, "write always()"},
		"no expression":           {"steps:\n  - {name: a, for-each: {items: \"{a b} c\"}, run: echo}", []string{"4:37 expr-syntax"}, "invalid expression"},
		"an axis that is a word":  {"steps:\n  - {name: a, matrix: {os: linux}, run: echo}", []string{"4:28 expr-unknown"}, "linux"},
		"an axis that is a sum":   {"steps:\n  - {name: a, matrix: {v: 1 + 2}, run: echo}", []string{"4:27 wrong-type"}, "expected a list"},
		"an axis that is text":    {"steps:\n  - {name: a, matrix: {v: \"'x'\"}, run: echo}", []string{"4:28 wrong-type"}, "found the text \"x\""},
		"no field of the run":     {"steps:\n  - {name: a, run: echo}\nfinally:\n  - {name: f, run: \"echo {run.nothing} {run}\"}", []string{"6:26 unknown-field", "6:40 unknown-field"}, "{run.failed-step}"},
		"into a group":            {"steps:\n  - {name: a, run: \"echo {in.output}\"}\n  - {name: g, steps: [{name: in, run: echo}]}", []string{"4:26 expr-undeclared"}, "in another list"},
		"into a group, waiting":   {"steps:\n  - {name: g, steps: [{name: in, run: echo}]}\n  - {name: a, wait-for: [in], run: echo}", []string{"5:26 unknown-step"}, "in another list"},
		"into handlers":           {"steps:\n  - {name: a, run: \"echo {f.output}\"}\nfinally: [{name: f, run: echo}]", []string{"4:26 expr-undeclared"}, "in another list"},
		"between handlers":        {"steps:\n  - {name: a, run: echo, on-success: [{name: h, run: \"echo {i.output}\"}], on-failure: [{name: i, run: echo}]}", []string{"4:60 expr-undeclared"}, "in another list"},
		"the output of a handler": {"output: \"{f.output}\"\nsteps:\n  - {name: a, run: echo}\nfinally: [{name: f, run: echo}]", []string{"3:10 expr-undeclared"}, "in another list"},
		"out of a group, waiting": {"steps:\n  - {name: a, run: echo}\n  - {name: g, steps: [{name: in, wait-for: a, run: echo}]}", []string{"5:44 unknown-step"}, "already wait for the steps around them"},
		"item outside of a loop":  {"steps:\n  - {name: a, run: echo, run-condition: \"{item} == 1\"}", []string{"4:42 expr-unknown"}, "for-each"},
		"item has another name":   {"steps:\n  - {name: a, run: echo, for-each: {items: [1], as: x}, run-condition: \"{item} == 1\"}", []string{"4:73 expr-unknown"}, "as:"},
		"matrix in for-each":      {"steps:\n  - {name: a, run: echo, for-each: {items: [1]}, run-condition: \"{matrix.os} == 1\"}", []string{"4:66 expr-unknown"}, "only available in a step with matrix"},
		"no name of the matrix":   {"steps:\n  - {name: a, matrix: {os: [1], include: [{x: 1}]}, run: \"echo {matrix.oss} {matrix.x}\"}", []string{"4:64 unknown-field"}, `did you mean "os"?`},
		"of the inner matrix":     {"steps:\n  - {name: g, matrix: {a: [1]}, steps: [{name: b, matrix: {c: [1]}, run: \"echo {matrix.a} {matrix.c}\"}]}", []string{"4:80 unknown-field"}, "names: c"},
		"items are nothing":       {"steps:\n  - {name: a, for-each: {items: \"{NOPE}\"}, run: echo}", []string{"4:34 expr-unknown"}, "unknown reference {NOPE}"},
		"axis is nothing":         {"steps:\n  - {name: a, matrix: {os: \"{NOPE}\"}, run: echo}", []string{"4:29 expr-unknown"}, "unknown reference {NOPE}"},
		"unknown in expression":   {"steps:\n  - {name: a, for-each: {items: \"1..{NOPE}\"}, run: echo}", []string{"4:37 expr-unknown"}, "{NOPE}"},
		"status in expression":    {"steps:\n  - {name: a, for-each: {items: \"[success()]\"}, run: echo}", []string{"4:34 expr-syntax"}, "in conditions only"},
		"a constant":              {"steps:\n  - {name: a, for-each: {items: 1 + 2}, run: echo}", []string{"4:33 wrong-type"}, "expected a list"},
		"a word":                  {"steps:\n  - {name: a, for-each: {items: build}, run: echo}", []string{"4:33 expr-unknown"}, "build"},
		"items of itself":         {"steps:\n  - {name: a, for-each: {items: \"{a.output}\"}, run: echo}", []string{"4:34 cycle"}, "wait for each other"},
		"a group of itself":       {"steps:\n  - {name: g, steps: [{name: a, run: \"echo {g.output}\"}]}", []string{"4:44 cycle"}, "wait for each other"},
		"input of a group":        {"steps:\n  - {name: g, input: x, steps: [{name: a, run: echo}]}", []string{"4:22 no-effect"}, "move it to the steps of the group"},
	})
}
