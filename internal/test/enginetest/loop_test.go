package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// outputs is what a loop's items printed, from the JSON that is its output.
func outputs(t *testing.T, res *runresult.Result, step string) []any {
	t.Helper()
	s := res.Step(step)
	if s == nil {
		t.Fatalf("there is no step %s: %s", step, res.Message)
	}
	var list []any
	if err := json.Unmarshal([]byte(s.Output), &list); err != nil {
		t.Fatalf("the output of %s is not a JSON array: %v\n%s (%s: %s)", step, err, s.Output, s.Status, s.Message)
	}
	return list
}

// items are the paths of a loop's items, in their order.
func items(res *runresult.Result, loop string) (paths []string) {
	for _, s := range res.Steps {
		if strings.HasPrefix(s.ID, loop+"[") && strings.HasSuffix(s.ID, "]") {
			paths = append(paths, strings.TrimPrefix(s.ID, loop))
		}
	}
	return paths
}

// TestForEachItems checks that a loop runs for each item, and gives it to the command as it is written. Package plan has the
// table of what items stand for.
func TestForEachItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		items  string
		params map[string]any
		want   []any // printed by "{index}={item}"
	}{
		{"a list", `[a, "b c", "", 3, 1.50, true, "x'y"]`, nil, []any{"0=a", "1=b c", "2=", "3=3", "4=1.50", "5=true", "6=x'y"}},
		{"a hole that is a list", `"{LIST}"`, map[string]any{"LIST": []any{"x", 2, "$HOME `id`"}}, []any{"0=x", "1=2", "2=$HOME `id`"}},
		{"a hole that is an object", `"{OBJECT}"`, map[string]any{"OBJECT": map[string]any{"b": 1, "a": "x"}}, []any{`0={"key":"a","value":"x"}`, `1={"key":"b","value":1}`}},
		{"text that begins like JSON", `"{WORD}"`, map[string]any{"WORD": "[info] a\n[info] b"}, []any{"0=[info] a", "1=[info] b"}},
		{"a step's lines", `"{names.output}"`, nil, []any{"0=n1", "1=n 2"}},
		{"a step's JSON", `"{json.json.list}"`, nil, []any{"0=1", "1=x"}},
		{"a step's JSON as text", `"{jsonlist.output}"`, nil, []any{"0=1", "1=x"}},
		{"a skipped step", `"{skipped.output}"`, nil, []any{}},
		{"a long number", `[12345678901234567, 1e3, 0.1]`, nil, []any{"0=12345678901234567", "1=1e3", "2=0.1"}},
		{"numbers as they are written", `[1.20, 007, 0x10, {v: 2.0}]`, nil, []any{"0=1.20", "1=007", "2=0x10", `3={"v":2.0}`}},
		{"a range to what a step printed", `"1..{count.output}"`, nil, []any{"0=1", "1=2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := "parameters:\n  WORD: {type: string, description: w}\n  LIST: {type: array, description: l}\n" +
				"  OBJECT: {type: object, description: o}\n  N: {type: number, description: n}\n" +
				"steps:\n"
			for name, step := range map[string]string{
				"names":    "bash: \"printf 'n1\\\\nn 2\\\\n'\"",
				"count":    "bash: echo 2",
				"json":     "bash: echo '{\"list\":[1,\"x\"]}'",
				"jsonlist": "bash: echo '[1, \"x\"]'",
				"skipped":  "run: echo no\n    run-condition: \"1 > 2\"",
			} {
				if strings.Contains(c.items, "{"+name+".") {
					text += "  - name: " + name + "\n    " + step + "\n"
				}
			}
			text += "  - name: t\n    for-each:\n      items: " + c.items + "\n    run: echo -n {index}={item}\n"
			b := newBed(t)
			res := b.run(context.Background(), text, c.params)
			if res.Status != dag.Succeeded {
				t.Fatalf("the run %s: %s", res.Status, res.Message)
			}
			if diff := cmp.Diff(c.want, outputs(t, res, "t")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestForEachRefused: what is not a list fails the loop's step, and says what it was.
func TestForEachRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loop   string
		params map[string]any
		want   string
	}{
		"a number":          {`{items: "{N}"}`, map[string]any{"N": 5}, "expected a list, found \"5\""},
		"a number's sum":    {`{items: "{N} + 1"}`, map[string]any{"N": 5}, "expected a list"},
		"two of one key":    {`{items: [{n: a}, {n: b}, {n: a}], key: "{item.n}"}`, nil, `items 0 and 2 have the same key "a"`},
		"no such field":     {`{items: [{n: a}], key: "{item.m}"}`, nil, "cannot compute the key of item 0: {item.m}: the item does not have this field: it is"},
		"too many":          {`{items: "1..{N}"}`, map[string]any{"N": 1000001}, "the maximum is 1000000"},
		"a range to a word": {`{items: "1..{W}"}`, map[string]any{"W": "many"}, "cannot make a range from or to 'many': both ends must be whole numbers"},
		"no such field of":  {`{items: "{O.list}"}`, map[string]any{"O": map[string]any{}}, "cannot read the items: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			res := b.run(context.Background(), "parameters: {N: {type: number, description: n}, O: {type: object, description: o}, W: {description: w}}\n"+
				"steps:\n  - name: t\n    for-each: "+c.loop+"\n    run: echo x\n", c.params)
			b.want(res, dag.Failed, map[string]string{"t": "failed"})
			if s := res.Step("t"); !strings.Contains(s.Message, c.want) || s.Reason != dag.ReasonInput {
				t.Errorf("%s: %q, want %q", s.Reason, s.Message, c.want)
			}
		})
	}
}

// TestLoopOverCutOutput: a loop over a part of what a step printed would look like one
// over all of it.
func TestLoopOverCutOutput(t *testing.T) {
	t.Parallel()
	for name, loop := range map[string]string{
		"lines":         `for-each: {items: "{s.output}"}`,
		"stdout":        `for-each: {items: "{s.stdout}"}`,
		"of the errors": `for-each: {items: "{s.error}"}`,
		"an expression": `for-each: {items: "split({s.output}, ',')"}`,
		"among others":  `for-each: {items: [a, "{s.output}"]}`,
		"an axis":       `matrix: {a: "{s.output}"}`,
		"of a matrix":   `matrix: {a: "split({s.stderr}, ',')"}`,
		"included":      `matrix: {include: [{a: "{s.output}"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			res := b.run(context.Background(), "steps:\n  - name: s\n    output: {buffer-limit: 8}\n    bash: \"echo 1; echo 123456789; echo 123456789 >&2\"\n"+
				"  - name: t\n    "+loop+"\n    run: echo x\n", nil)
			if s := res.Step("t"); s.Status != dag.Failed || !strings.HasPrefix(s.Message, "cannot read the items: ") || !strings.Contains(s.Message, "the step's output was cut at its buffer-limit; raise it") {
				t.Errorf("%s: %q", s.Status, s.Message)
			}
		})
	}
}

// TestForEachScope: what an item's step sees.
func TestForEachScope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		text string
		want []any
	}{
		{"fields", "for-each: {items: [{host: a, ports: [1, 2], deep: {x: y}}]}\n    run: echo -n {item.host} {item.ports[1]} {item.deep.x} {item.deep}", []any{`a 2 y {"x":"y"}`}},
		{"as", "for-each: {items: [a, b], as: letter}\n    run: echo -n {letter}{index}", []any{"a0", "b1"}},
		{"item is not item then", "for-each: {items: [a], as: letter}\n    run: echo -n {item}", []any{"{item}"}},
		{"in an environment", "for-each: {items: [\"a b\"]}\n    environment: {variables: {X: \"<{item}>\"}}\n    bash: printf %s \"$X\"", []any{"<a b>"}},
		{"in the input", "for-each: {items: [\"a b\"]}\n    input: \"{item}\"\n    run: cat", []any{"a b"}},
		{"quoted", "for-each: {items: [\"a; echo $HOME\"]}\n    bash: printf %s {item} \"{item}\" '{item}'", []any{"a; echo $HOMEa; echo $HOMEa; echo $HOME"}},
		{"inline transforms", "for-each: {items: [abc]}\n    run: echo -n {item:uppercase}", []any{"ABC"}},
		{"a dash of the author's", "for-each: {items: [\"-n\"]}\n    run: echo {item}", []any{""}},
		{"JSON items of steps", "for-each: {items: [1]}\n    bash: echo '{\"x\":1}'", []any{`{"x":1}`}},
		{"binary output", "for-each: {items: [1]}\n    bash: printf 'a\\377b'", []any{"a\uFFFDb"}},
		{"one newline is stripped", "for-each: {items: [1]}\n    bash: printf 'a\\n\\n'", []any{"a\n"}},
		{"signs of HTML stay", "for-each: {items: [\"<&>\"]}\n    run: echo -n {item}", []any{"<&>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			res := b.run(context.Background(), "steps:\n  - name: t\n    "+c.text+"\n", nil)
			if diff := cmp.Diff(c.want, outputs(t, res, "t")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, res.Message)
			}
		})
	}
}

// TestItemKeys: what items are called.
func TestItemKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 200)
	for _, c := range []struct {
		name, loop string
		want       []string
	}{
		{"numbers", `{items: [x, y]}`, []string{"[0]", "[1]"}},
		{"the item", `{items: [x, y z], key: "{item}"}`, []string{"[x]", "[y z]"}},
		{"fields", `{items: [{n: a, m: 1}, {n: a, m: 2}], key: "{item.n}-{item.m}"}`, []string{"[a-1]", "[a-2]"}},
		{"the index", `{items: [x, y], key: "n{index}"}`, []string{"[n0]", "[n1]"}},
		{"as", `{items: [x], as: l, key: "{l}!"}`, []string{"[x!]"}},
		{"a parameter", `{items: [x], key: "{P}{item}"}`, []string{"[px]"}},
		{"brackets", `{items: ["a[0]/b"], key: "{item}"}`, []string{"[a(0)/b]"}},
		{"control signs", `{items: ["a\nb\e[2J\u202Ec"], key: "{item}"}`, []string{"[a_b_(2J_c]"}},
		{"a sign that is a try's", `{items: ["a#2"], key: "{item}"}`, []string{"[a#2]"}},
		{"nothing", `{items: [""], key: "{item}"}`, []string{"[]"}},
		{"too long", `{items: [` + long + `], key: "{item}"}`, []string{"[" + long[:120] + "~"}},
		{"a secret", `{items: ["{SECRET}1"], key: "{item}"}`, []string{"[***1]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			res := b.run(context.Background(), "parameters: {P: {description: p, default: p}, SECRET: {description: s, default: hush-hush}}\n"+
				"environment: {secrets: [SECRET]}\nsteps:\n  - name: t\n    for-each: "+c.loop+"\n    run: echo x\n", nil)
			if res.Status != dag.Succeeded {
				t.Fatalf("the run %s: %s", res.Status, res.Message)
			}
			got := items(res, "t")
			if c.name == "too long" && len(got) == 1 && strings.HasPrefix(got[0], c.want[0]) && len(got[0]) < 140 {
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLoopOutcome: what happens to a loop when items fail, and of what waits for it.
func TestLoopOutcome(t *testing.T) {
	t.Parallel()
	const fails3 = "    bash: \"[ {item} != 3 ] || exit 7\"\n"
	for _, c := range []struct {
		name, text string
		run        dag.Status
		code       int
		want       map[string]string
	}{
		{"one fails", "    for-each: {items: 1..4}\n" + fails3, dag.Failed, 7,
			map[string]string{"t": "failed", "t[0]": "succeeded", "t[1]": "succeeded", "t[2]": "failed", "t[3]": "succeeded", "z": "skipped"}},
		{"enough succeed", "    for-each: {items: 1..4, min-success: 3}\n" + fails3, dag.Succeeded, 0,
			map[string]string{"t": "succeeded", "t[0]": "succeeded", "t[1]": "succeeded", "t[2]": "failed", "t[3]": "succeeded", "z": "succeeded"}},
		{"not enough succeed", "    for-each: {items: 1..4, min-success: 4}\n" + fails3, dag.Failed, 7,
			map[string]string{"t": "failed", "t[0]": "succeeded", "t[1]": "succeeded", "t[2]": "failed", "t[3]": "succeeded", "z": "skipped"}},
		{"more asked than there are", "    for-each: {items: 1..2, min-success: 9}\n" + fails3, dag.Succeeded, 0,
			map[string]string{"t": "succeeded", "t[0]": "succeeded", "t[1]": "succeeded", "z": "succeeded"}},
		{"fail-fast", "    for-each: {items: [3, 1, 2], max-parallel: 1, fail-fast: true}\n" + fails3, dag.Failed, 7,
			map[string]string{"t": "failed", "t[0]": "failed", "t[1]": "cancelled", "t[2]": "cancelled", "z": "skipped"}},
		{"fail-fast may lose one", "    for-each: {items: [3, 1, 3, 2], max-parallel: 1, fail-fast: true, min-success: 3}\n" + fails3, dag.Failed, 7,
			map[string]string{"t": "failed", "t[0]": "failed", "t[1]": "succeeded", "t[2]": "failed", "t[3]": "cancelled", "z": "skipped"}},
		{"tolerated", "    for-each: {items: 3..4}\n    continue-on-error: true\n" + fails3, dag.Succeeded, 0,
			map[string]string{"t": "failed", "t[0]": "failed", "t[1]": "succeeded", "z": "succeeded"}},
		{"retried", "    for-each: {items: 1..2}\n    error-handling: {retry: {attempts: 1, delay: 1}}\n    bash: \"mkdir {WORKSPACE}/d{item} && exit 1 || true\"\n", dag.Succeeded, 0,
			map[string]string{"t": "succeeded", "t[0]": "succeeded", "t[1]": "succeeded", "z": "succeeded"}},
		{"a group tried again", "    for-each: {items: 1..2}\n    error-handling: {retry: {attempts: 1, delay: 1}}\n    steps: [{name: in, bash: \"mkdir {WORKSPACE}/g{item} && exit 1 || true\"}]\n", dag.Succeeded, 0,
			map[string]string{"t": "succeeded", "t[0]": "succeeded", "t[0]#2/in": "succeeded", "t[1]": "succeeded", "t[1]#2/in": "succeeded", "z": "succeeded"}},
		{"errors that do not matter", "    for-each: {items: 3..4}\nIGNORE" + fails3, dag.Succeeded, 0,
			map[string]string{"t": "failed", "t[0]": "failed", "t[1]": "succeeded", "z": "succeeded"}},
		{"fallback", "    for-each: {items: 3..4}\n    error-handling: {fallback: \"echo fell {item}\"}\n" + fails3, dag.Succeeded, 0,
			map[string]string{"t": "succeeded", "t[0]": "succeeded", "t[1]": "succeeded", "z": "succeeded"}},
		{"timeout of an item", "    for-each: {items: [0, 600]}\n    timeout: 5s\n    run: sleep {item}\n", dag.Failed, 124,
			map[string]string{"t": "failed", "t[0]": "succeeded", "t[1]": "timed-out", "z": "skipped"}},
		{"condition about the item", "    for-each: {items: 1..3}\n    run-condition: \"{item} != 2\"\n    run: echo {item}\n", dag.Succeeded, 0,
			map[string]string{"t": "succeeded", "t[0]": "succeeded", "t[1]": "skipped", "t[2]": "succeeded", "z": "succeeded"}},
		{"condition about the index", "    for-each: {items: [a, b]}\n    run-condition: \"{index} > 0\"\n    run: echo {item}\n", dag.Succeeded, 0,
			map[string]string{"t": "succeeded", "t[0]": "skipped", "t[1]": "succeeded", "z": "succeeded"}},
		{"condition about the loop", "    for-each: {items: 1..3}\n    run-condition: \"1 > 2\"\n    run: echo {item}\n", dag.Succeeded, 0,
			map[string]string{"t": "skipped", "z": "succeeded"}},
		{"condition that cannot be decided", "    for-each: {items: [a]}\n    run-condition: \"{item} > 2\"\n    run: echo {item}\n", dag.Failed, 1,
			map[string]string{"t": "failed", "t[0]": "failed", "z": "skipped"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			text, ignore := strings.ReplaceAll(c.text, "IGNORE", ""), ""
			if text != c.text {
				ignore = "ignore-errors: true\n"
			}
			res := b.run(context.Background(), ignore+"steps:\n  - name: t\n"+text+"  - name: z\n    run: echo z\n", nil)
			b.want(res, c.run, c.want)
			if res.ExitCode != c.code {
				t.Errorf("exit code %d, want %d", res.ExitCode, c.code)
			}
		})
	}
}

// TestLoopReferences: what other steps read of a loop.
func TestLoopReferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, loop, reads string
		want              string // "!" and a message where the reader fails
	}{
		{"output", "run: echo {item}", "{t.output}", `["a","b"]`},
		{"one item", "run: echo {item}", "{t.json[1]}", "b"},
		{"a field of one", "bash: echo '{\"x\":[1,\"{item}\"]}'", "{t.json[0].x[1]}", "a"},
		{"past the end", "run: echo {item}", "{t.json[2]}", "!{t.json[2]}: the value does not have this field"},
		{"status", "run: echo {item}", "{t.status} {t.exit-code} {t.attempts}", "succeeded 0 1"},
		{"one that was skipped", "run: echo {item}\n    run-condition: \"{item} == 'a'\"", "{t.output}", `["a",null]`},
		{"too much", "output: {buffer-limit: 8}\n    bash: echo 123456{item}", "{t.json[0]}", "!the step's output was cut at its buffer-limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			res := b.run(context.Background(), "steps:\n  - name: t\n    for-each: {items: [a, b]}\n    "+c.loop+"\n  - name: z\n    run: echo -n "+c.reads+"\n", nil)
			message, fails := strings.CutPrefix(c.want, "!")
			z := res.Step("z")
			if !fails && z.Output != c.want || fails && !strings.Contains(z.Message, message) {
				t.Errorf("%s: %q %q %s, want %q", z.Status, z.Output, z.Message, res.Message, c.want)
			}
		})
	}
}

// TestLoopBodies: a loop over whatever a step can be.
func TestLoopBodies(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.file("inner.yaml", "name: inner\ndescription: i\nparameters: {WHO: {description: w}, N: {type: number, description: n}}\n"+
		"steps:\n  - name: one\n    run: echo {WHO}\n  - name: two\n    run: echo -n {one.output}:{N}:{item}\n")
	b.define(gostep.GoTool{Name: "gone", Description: "g", Run: func(context.Context, *gostep.StepInput) (any, error) { return "from Go", nil }}.Definition())
	for _, c := range []struct {
		name, text string
		want       []any
		paths      []string
	}{
		{"a tool", "for-each: {items: [{w: a, n: 1}, {w: \"b c\", n: 2}]}\n    use-tool: inner\n    with: {WHO: \"{item.w}\", N: \"{item.n}\"}", []any{"a:1:{item}", "b c:2:{item}"},
			[]string{"t", "t[0]", "t[0]/one", "t[0]/two", "t[1]", "t[1]/one", "t[1]/two"}},
		{"a group", "for-each: {items: [a, b]}\n    steps:\n      - name: one\n        run: echo {item}\n      - name: two\n        run: echo -n {one.output}{index}", []any{"a0", "b1"},
			[]string{"t", "t[0]", "t[0]/one", "t[0]/two", "t[1]", "t[1]/one", "t[1]/two"}},
		{"a loop in a group in a loop", "for-each: {items: [a, b], as: outer, key: \"{outer}\"}\n    steps:\n      - name: in\n        for-each: {items: [x, y], key: \"{item}\"}\n        run: echo -n {outer}{item}{index}\n", []any{`["ax0","ay1"]`, `["bx0","by1"]`},
			[]string{"t", "t[a]", "t[a]/in", "t[a]/in[x]", "t[a]/in[y]", "t[b]", "t[b]/in", "t[b]/in[x]", "t[b]/in[y]"}},
		{"items of the item", "for-each: {items: [[1, 2], [3]], as: outer}\n    steps:\n      - name: in\n        for-each: {items: \"{outer}\"}\n        run: echo -n {item}\n", []any{`["1","2"]`, `["3"]`},
			[]string{"t", "t[0]", "t[0]/in", "t[0]/in[0]", "t[0]/in[1]", "t[1]", "t[1]/in", "t[1]/in[0]"}},
		{"a tool written in Go", "for-each: {items: [1]}\n    use-tool: gone", []any{"from Go"}, []string{"t", "t[0]", "t[0]/gone"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bed := *b
			bed.T = t
			res := bed.run(context.Background(), "steps:\n  - name: t\n    "+c.text+"\n", nil)
			if diff := cmp.Diff(c.want, outputs(t, res, "t")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, res.Message)
			}
			var paths []string
			for _, s := range res.Steps {
				paths = append(paths, s.ID)
			}
			if diff := cmp.Diff(c.paths, paths); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGoStepItem: a step written in Go has its item, which is its own.
func TestGoStepItem(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	spoil := func(_ context.Context, in *gostep.StepInput) (any, error) {
		m := in.Item.(map[string]any)
		v := m["n"]
		m["n"] = "spoilt"
		return map[string]any{"n": v}, nil
	}
	step := gostep.GoStep("t", spoil)
	entry := func(n int64) tool.Value {
		return tool.Value{Map: []tool.Entry{{Key: "n", Value: tool.Value{Scalar: n}}}}
	}
	step.Loop = &tool.Loop{Items: &tool.Value{List: []tool.Value{entry(1), entry(2)}}}
	step.ErrorHandling.Retry = &tool.Retry{Attempts: 0}
	again := gostep.GoStep("again", spoil)
	again.Loop = step.Loop
	none := gostep.GoStep("none", func(_ context.Context, in *gostep.StepInput) (any, error) { return in.Item == nil, nil })
	b.define(&tool.Definition{Name: "go-loop", Description: "d", Steps: []*tool.Step{step, again, none}})
	p, err := engine.Compile(b.lib, "go-loop")
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(b.config).Run(context.Background(), p, nil)
	if err != nil || res.Status != dag.Succeeded {
		t.Fatal(err, res)
	}
	for _, s := range []string{"t", "again"} {
		if diff := cmp.Diff([]any{`{"n":1}`, `{"n":2}`}, outputs(t, res, s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s, diff)
		}
	}
	if res.Output != "true" {
		t.Errorf("outside of a loop: %s", res.Output)
	}
}

// TestItemsOfCallers: a caller's values that begin with a dash are refused among
// items as elsewhere, and secrets are hidden in them.
func TestItemsOfCallers(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const list = "parameters: {LIST: {type: array, description: l}, S: {description: s, default: \"hush-hush\"}}\nenvironment: {secrets: [S]}\n"
	loop := func(items, run string) string {
		return list + "steps:\n  - name: t\n    for-each: {items: " + items + "}\n    run: " + run + "\n"
	}
	for _, text := range []string{loop(`"{LIST}"`, "echo {item}"), loop(`["{LIST[0]}"]`, "echo {item}"), loop(`"filter({LIST}, true)"`, "echo {item}"),
		list + "steps:\n  - name: t\n    matrix: {a: \"{LIST}\"}\n    run: echo {matrix.a}\n"} {
		var refused *value.ParamsError
		if _, err := compile(t, t.TempDir(), "description: Loops\n"+text).Bind(engine.RunEnv{}, map[string]any{"LIST": []any{"-rf"}}); !errors.As(err, &refused) || refused.Problems[0].Name != "LIST" {
			t.Errorf("%s\n%v", text, err)
		}
	}
	if res := b.run(context.Background(), loop(`"{LIST}"`, "echo -- {item}"), map[string]any{"LIST": []any{"-rf"}}); res.Status != dag.Succeeded {
		t.Errorf("after --: %s", res.Message)
	}
	res := b.run(context.Background(), loop(`["{S}", open]`, "echo {item}"), nil)
	if all, _ := json.Marshal(res); strings.Contains(string(all), "hush-hush") || !slices.Contains(items(res, "t"), "[0]") {
		t.Errorf("a secret shows: %s", all)
	}
	if diff := cmp.Diff([]any{"***", "open"}, outputs(t, res, "t")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
