package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestScriptResults: what a script returns is the step's output and what {step.json}
// sees (contracts).
func TestScriptResults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ code, output, seen string }{
		{`return 'text';`, `text`, ``},
		{`return '{"a":1}';`, `{"a":1}`, `{"a":1}`},
		{`return {b: [1, {c: 2.50}], a: '<é>'};`, `{"b":[1,{"c":2.5}],"a":"<é>"}`, `{"a":"<é>","b":[1,{"c":2.5}]}`},
		{`return [];`, `[]`, ``},
		{`return 12345678901;`, `12345678901`, `12345678901`},
		{`return false;`, `false`, `false`},
		{`return null;`, `null`, ``},
		{`return;`, ``, ``},
		{`return '';`, ``, ``},
		{`await Promise.resolve(); return Promise.resolve(7);`, `7`, `7`},
	} {
		t.Run(test.code, func(t *testing.T) {
			b := newBed(t)
			text := "output: \"{make.output}\"\nsteps:\n  - name: make\n    js: |\n      " + test.code + "\n"
			if res := b.run(context.Background(), text, nil); res.Status != dag.Succeeded || res.Output != test.output {
				t.Errorf("%s %s: printed %q, want %q", res.Status, res.Steps[0].Message, res.Output, test.output)
			}
			if test.seen == "" {
				return
			}
			text = strings.Replace(text, "make.output", "make.json", 1)
			if res := b.run(context.Background(), text, nil); res.Output != test.seen {
				t.Errorf("%s: json is %q, want %q", res.Message, res.Output, test.seen)
			}
		})
	}
}

// TestScriptRoles: what the roles see and may return.
func TestScriptRoles(t *testing.T) {
	t.Parallel()
	entry := func(name string, v any) tool.Entry { return tool.Entry{Key: name, Value: tool.Value{Scalar: v}} }
	for _, test := range []struct {
		role    tool.Role
		code    string
		vars    []tool.Entry
		output  string
		problem *dag.Problem // where: left out
		message string
	}{
		{role: tool.RolePre, code: `return { q: input + 1 };`, vars: []tool.Entry{entry("input", int64(1))}, output: `{"q":2}`},
		{role: tool.RolePre, code: `return [1];`, problem: &dag.Problem{Code: "result", Category: "validation"}, message: "must return an object, but returned an array"},
		{role: tool.RolePre, code: `return 'x';`, problem: &dag.Problem{Code: "result", Category: "validation"}, message: "returned text"},
		{role: tool.RolePre, code: `if (false) return {};`, problem: &dag.Problem{Code: "result", Category: "validation"}, message: "returned nothing"},
		{role: tool.RolePre, code: `return null;`, problem: &dag.Problem{Code: "result", Category: "validation"}, message: "returned null"},
		{role: tool.RolePost, code: `return outputText + output.length;`, vars: []tool.Entry{entry("output", "abc")}, output: `abc3`},
		{role: tool.RolePost, code: `return [outputText, 1];`, vars: []tool.Entry{entry("output", "abc"), entry("outputText", "ABC")}, output: `["ABC",1]`},
		{role: tool.RolePost, code: `throw new RangeError('too much');`, problem: &dag.Problem{Code: "RangeError", Category: "development", Retryable: true}, message: "RangeError: too much"},
	} {
		t.Run(string(test.role)+" "+test.code, func(t *testing.T) {
			def := &tool.Definition{Name: "under-test", Single: true, Format: tool.Markdown, Steps: []*tool.Step{{Name: "under-test",
				Body: &tool.JSCode{Role: test.role, Code: diagnostic.Plain(test.code), Vars: test.vars}}}}
			b := newBed(t)
			plan, err := engine.CompileDefinition(b.lib, def)
			if err != nil {
				t.Fatal(err)
			}
			res, err := engine.New(b.config).Run(context.Background(), plan, nil, engine.WithRunEnv(b.world))
			if err != nil {
				t.Fatal(err)
			}
			got := res.Steps[0]
			if got.Problem != nil {
				got.Problem.Where, got.Problem.Solution = "", ""
			}
			if diff := cmp.Diff(test.problem, got.Problem); diff != "" || res.Output != test.output || !strings.Contains(got.Message, test.message) {
				t.Errorf("output %q, message %q; problem (-want +got):\n%s", res.Output, got.Message, diff)
			}
		})
	}
}

// TestScriptProblemTravels: why a nested tool's script failed is known of the step that
// uses the tool, in the result, in events, and when the run is read back.
func TestScriptProblemTravels(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.file("inner.yaml", "name: inner\ndescription: Inner.\njs: |\n  throw new RangeError('no');\n")
	store := history.NewMemory()
	b.config.Store = store
	var finished *dag.Event
	res := b.run(context.Background(), "steps:\n  - name: use\n    use-tool: ./inner.yaml\n", nil, engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepFinished && e.Node == "use" {
			finished = &e
		}
	})))
	want := &dag.Problem{Code: "RangeError", Category: "development", Retryable: true, Where: res.Steps[1].Problem.Where}
	if !strings.HasSuffix(want.Where, "inner.yaml:4:9") {
		t.Errorf("where: %q", want.Where)
	}
	past, err := engine.LoadRun(context.Background(), store, b.lib, res.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]*dag.Problem{"result": res.Steps[0].Problem, "event": finished.Result.Problem, "history": past.Result().Steps[0].Problem} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestScriptEdges: a script waits for the steps that it names and for no others, and
// reads both of their streams.
func TestScriptEdges(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	text := `
steps:
  - name: a
    bash: echo out; echo err >&2
  - name: b-2
    wait-for: []
    bash: printf '%8000s' x
  - name: c
    wait-for: []
    bash: "true"
  - name: read
    wait-for: []
    js: |
      const all = steps.a;
      return [all.output, all.stderr, all.exitCode, all.status, all.json, steps['b-2'].output.length, steps['b-2']['exit-code']];
`
	p := b.compile(text)
	if diff := cmp.Diff([]string{"a", "b-2"}, p.Upstream("read")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if res := b.run(context.Background(), text, nil); res.Output != `["out","err",0,"succeeded",null,8000,0]` {
		t.Errorf("%s: %s", res.Steps[3].Message, res.Output)
	}
}

// TestScriptReadsNoJSON: json of a step that printed something else is an error, as in a
// placeholder, and null where there was nothing to print.
func TestScriptReadsNoJSON(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	res := b.run(context.Background(), "steps:\n  - name: a\n    bash: echo text\n  - name: b\n    js: return steps.a.json;\n", nil)
	if s := res.Steps[1]; s.Reason != dag.ReasonInput || !strings.Contains(s.Message, "cannot read steps.a.json: the step's output is not JSON") {
		t.Errorf("%s: %s", s.Reason, s.Message)
	}
	res = b.run(context.Background(), "steps:\n  - name: a\n    run-condition: \"false\"\n    bash: echo 1\n  - name: b\n    js: return [steps.a.json, steps.a.status, steps.a.exitCode];\n", nil)
	if res.Output != `[null,"skipped",null]` {
		t.Errorf("%s: %s", res.Steps[1].Message, res.Output)
	}
}

// TestTransforms: JavaScript over value.
func TestTransforms(t *testing.T) {
	t.Parallel()
	const endless = `(() => { while (value) {} })()`
	js, hasty := hooks.New(hooks.Config{}), hooks.New(hooks.Config{Timeout: time.Second})
	t.Cleanup(func() { js.Close(); hasty.Close() })
	for _, test := range []struct {
		typ, transform string
		given          any
		want           any
		refused        string
	}{
		{"string", `value.toUpperCase().replace(/\s+/g,'-')`, "a b  c", "A-B-C", ""},
		{"string", `value.toLowerCase()`, "ABC", "abc", ""},
		{"string", `value.length`, "abc", int64(3), ""},
		{"string", `value === 'yes'`, "yes", true, ""},
		{"number", `Math.floor`, 2.7, int64(2), ""},
		{"number", `int`, -2.7, int64(-2), ""},
		{"number", `value * 1.5`, 3, 4.5, ""},
		{"number", `value / 0`, 3, nil, "null"},
		{"boolean", `!value`, true, false, ""},
		{"array", `value + 1`, []any{"a", "b"}, []any{"a1", "b1"}, ""},
		{"object", `value.a`, map[string]any{"a": "x"}, "x", ""},
		{"string", `value ? 'a' : 'b'`, "", "b", ""},
		{"string", `[value]`, "x", nil, "an array"},
		{"string", `void value`, "x", nil, "nothing"},
		{"string", `value.a.b`, "x", nil, "TypeError"},
		{"string", endless, "x", nil, "took longer|longer than"},
	} {
		t.Run(test.transform, func(t *testing.T) {
			b := newBed(t)
			quoted, _ := json.Marshal(test.transform)
			p := b.compile(fmt.Sprintf("parameters:\n  P: {description: P., type: %s, transform: %s}\nbash: echo {P}\n", test.typ, quoted))
			if b.world.JavaScript = js; test.transform == endless {
				b.world.JavaScript = hasty
			}
			args, err := p.Bind(b.world, map[string]any{"P": test.given})
			var bad *value.ParamsError
			switch {
			case test.refused != "":
				if !errors.As(err, &bad) || bad.Problems[0].Code != "transform" || !containsAny(bad.Problems[0].Message, strings.Split(test.refused, "|")) {
					t.Errorf("got %v, want an error with %q", err, test.refused)
				}
			case err != nil:
				t.Error(err)
			default:
				if diff := cmp.Diff(test.want, args.Value("P")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// TestScriptAlongside: many scripts at once, each in a world of its own.
func TestScriptAlongside(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	res := b.run(context.Background(), `
steps:
  - name: each
    for-each: {items: 1..60}
    js: |
      globalThis.seen = (globalThis.seen || 0) + 1;
      console.log('item ' + item);
      return seen * 100 + item;
  - name: sum
    js: return steps.each.json.reduce((a, b) => a + b, 0);
`, nil)
	if res.Output != "7830" {
		t.Errorf("%s: %s", res.Message, res.Output)
	}
}

// TestScriptCancelled: a run that is cancelled does not wait for a script.
func TestScriptCancelled(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ctx, cancel := context.WithCancel(context.Background())
	b.config.JavaScript = hooks.New(hooks.Config{Timeout: waittest.Limit})
	defer b.config.JavaScript.Close()
	p := b.compile("steps:\n  - name: spin\n    js: |\n      let n = 1;\n      while (n > 0) { n = 1; }\n      return n;\n")
	res, err := engine.New(b.config).Run(ctx, p, nil, engine.WithRunEnv(b.world), engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepStarted {
			cancel()
		}
	})))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != dag.Cancelled || res.Steps[0].Status != dag.Cancelled {
		t.Errorf("%s, the step %s", res.Status, res.Steps[0].Status)
	}
}
