package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// compiled compiles a definition without its name and description. It can use the tool inner.
func compiled(t *testing.T, text string) *plan.Plan {
	t.Helper()
	lib := library.New(library.Config{WorkingDirectory: t.TempDir()})
	defs := map[string]*tool.Definition{}
	for name, body := range map[string]string{"t": text, "inner": "parameters: {N: {description: n, type: number}, M: {description: m, default: x}}\noutput: '{i.output}-{N}-{M}'\n" +
		"outputs: {n: '{N}'}\nsteps:\n  - {name: h, bash: echo, wait-for: []}\n  - {name: i, bash: echo, wait-for: []}\nresources: {cleanup: [{final-command: c1}, {final-command: c2}]}\n"} {
		def, found := decode.File(name+".yaml", []byte("name: "+name+"\ndescription: d\n"+body+"\n"))
		if err := found.Err(); err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		defs[name] = def
	}
	if err := lib.Add(defs["inner"]); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Definition(lib, "", defs["t"])
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// outcome is a run without processes: each command prints the path of its step in capitals, and fails if fails has the
// path. It returns the status of each node that has run, and the result of the run.
func outcome(t *testing.T, p *plan.Plan, fails ...string) (string, *dag.Result) {
	t.Helper()
	session, err := steps.Open(steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	bound, err := call.Bind(t.Context(), p, (&call.RunEnv{Workspace: t.TempDir()}).Filled(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := bound.Frame()
	if err := a.Begin(t.Context(), session, "run", ""); err != nil {
		t.Fatal(err)
	}
	failed := map[string]bool{}
	for _, path := range fails {
		failed[path] = true
	}
	around := func(_ context.Context, c *dag.Call, _ dag.Runner) (res dag.Result, err error) {
		if failed[string(c.Path)] {
			return dag.Result{Status: dag.Failed, ExitCode: 3, Message: "as the test says"}, nil
		}
		res.Stdout, err = session.Text(c.Path, c.Attempt, strings.ToUpper(string(c.Path)))
		res.Status = dag.Succeeded
		return res, err
	}
	state, err := dag.Run(t.Context(), p.Graph, a, dag.Options{Around: around})
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	state.All(func(path dag.ID, _ *dag.Node, s dag.Status, r *dag.Result) {
		if r != nil && !strings.Contains(string(path), "@") {
			words = append(words, fmt.Sprintf("%s:%s", path, s))
		}
	})
	return strings.Join(words, " "), state.Result()
}

// names are the steps of a plan in its order.
func names(p *plan.Plan) string {
	var words []string
	for _, s := range p.Steps {
		words = append(words, s.Def.Name)
		if s.Nested != nil {
			words = append(words, "("+names(s.Nested)+")")
		}
	}
	return strings.Join(words, " ")
}

const part = `
output: '{d.output}'
steps:
  - {name: a, bash: echo, on-failure: [{name: h, bash: echo}]}
  - {name: b, bash: echo, wait-for: []}
  - {name: c, bash: 'echo {a.output}', wait-for: a}
  - {name: u, use-tool: inner, with: {N: 1}, wait-for: [b]}
  - {name: d, bash: echo}
finally: [{name: end, bash: echo}]
`

// TestCut reduces a plan to a step and what is upstream of it.
func TestCut(t *testing.T) {
	p := compiled(t, part)
	for _, c := range []struct {
		cut        func(*plan.Plan, string) (*plan.Plan, error)
		step, want string
	}{
		{graph.Until, "a", "a h"}, {graph.Until, "b", "b"}, {graph.Until, "c", "a h c"}, {graph.Until, "u", "b u (h i)"}, {graph.Until, "d", "a h b c u (h i) d"},
		{graph.Until, "end", "a h b c u (h i) d end"}, {graph.Until, "e", "no step e"}, {graph.Until, "@cleanup", "no step @cleanup"}, {graph.Until, "u/i", "no step u/i"},
		{graph.Only, "c", "a c"}, {graph.Only, "u", "b u (h i)"}, {graph.Only, "u/i", "b u (i)"}, {graph.Only, "u/x", "no step x"}, {graph.Only, "c/x", "no step c/x"},
	} {
		cut, err := c.cut(p, c.step)
		got := ""
		var unknown *plan.StepError
		switch {
		case errors.As(err, &unknown):
			got = "no step " + unknown.Step
		case err != nil:
			t.Fatal(err)
		default:
			got = names(cut)
			if cut.CutTo != c.step || cut.Output != nil {
				t.Errorf("%s: cut to %s with the output %v", c.step, cut.CutTo, cut.Output)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.step, got, c.want)
		}
	}
	if got := names(p); got != "a h b c u (h i) d end" {
		t.Errorf("the plan itself is now %s", got)
	}
	if ran, r := outcome(t, must(graph.Until(p, "c"))); ran != "a:succeeded h:skipped c:succeeded" || call.Raw(r.Stdout) != "C" {
		t.Errorf("%s; %s", ran, call.Raw(r.Stdout))
	}
}

// TestHandlersOfPart checks that a part of a tool has the handlers of its steps, and the gate that its handlers wait for.
func TestHandlersOfPart(t *testing.T) {
	p := compiled(t, `
steps:
  - {name: a, run: echo a, on-success: [{name: ah, run: echo ah}]}
  - {name: b, run: echo b, finally: [{name: bh, run: echo bh}]}
  - {name: c, run: echo c}
finally: [{name: end, run: echo end}, {name: also, run: echo also, parallel: true}]
`)
	for step, want := range map[string]string{"b": "a ah b bh", "end": "a ah b bh c end", "also": "a ah b bh c end also"} {
		cut := must(graph.Until(p, step))
		if got := names(cut); got != want {
			t.Errorf("until %s: %s, want %s", step, got, want)
		}
		if ran, r := outcome(t, cut); r.Status != dag.Succeeded {
			t.Errorf("until %s: %s, %s", step, r.Status, ran)
		}
	}
}

func must(p *plan.Plan, err error) *plan.Plan {
	if err != nil {
		panic(err)
	}
	return p
}

// TestTimeout checks that a limit of the caller makes that of the definition only shorter.
func TestTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{"bash: echo": time.Minute, "bash: echo\ntimeout: 2m": time.Minute, "bash: echo\ntimeout: 30s": 0} {
		p := compiled(t, text)
		if limited := must(graph.WithTimeout(p, time.Minute)); limited.Timeout != want || p.Timeout != 0 {
			t.Errorf("%s: %s and %s", text, limited.Timeout, p.Timeout)
		}
	}
}

// TestHandlers holds which handlers run, by how their step or tool ended.
func TestHandlers(t *testing.T) {
	const own = "steps:\n  - {name: a, bash: echo, on-success: [{name: good, bash: echo}], on-failure: [{name: bad, bash: echo}], finally: [{name: end, bash: echo}]}\n"
	const all = "steps:\n  - {name: a, bash: echo}\non-success: [{name: good, bash: echo}]\non-failure: [{name: bad, bash: echo}, {name: worse, bash: echo}]\nfinally: [{name: end, bash: echo}]\n"
	for _, c := range []struct {
		text, fails, want string
	}{
		{own, "", "a:succeeded good:succeeded bad:skipped end:succeeded"},
		{own, "a", "a:failed good:skipped bad:succeeded end:succeeded"},
		{all, "", "a:succeeded good:succeeded bad:skipped worse:skipped end:succeeded"},
		{all, "a", "a:failed good:skipped bad:succeeded worse:succeeded end:succeeded"},
		{all, "a bad", "a:failed good:skipped bad:failed worse:skipped end:succeeded"},
	} {
		if got, _ := outcome(t, compiled(t, c.text), strings.Fields(c.fails)...); got != c.want {
			t.Errorf("%s with the failures %q: %s, want %s", c.text, c.fails, got, c.want)
		}
	}
}

// TestFinish holds the output, the outputs and the message of a graph.
func TestFinish(t *testing.T) {
	const used = "outputs: {n: '{u.outputs.n}'}\nsteps:\n  - {name: u, use-tool: inner, with: {N: 7}}\n"
	for _, c := range []struct{ name, text, fails, want string }{
		{"the last step", "steps: [{name: a, bash: echo}, {name: b, bash: echo}]", "", "succeeded B {}: "},
		{"a template", "output: '{a.output}.'\nsteps: [{name: a, bash: echo}, {name: b, bash: echo}]", "", "succeeded A. {}: "},
		{"a template of a run that failed", "output: '{a.output}.'\nsteps: [{name: a, bash: echo}, {name: b, bash: echo}]", "b", "failed A. {}: step b failed"},
		{"a template of what did not run", "output: '{b.output}.'\nsteps: [{name: a, bash: echo}, {name: b, bash: echo}]", "a", "failed  {}: step a failed"},
		{"a template that fails", "output: '{a.json.x}'\nsteps: [{name: a, bash: echo}]", "", "failed A {}: cannot render the tool's output"},
		{"a tool", used, "", `succeeded U/I-7-x {"n":7}: `},
		{"a parameter that is wrong", strings.ReplaceAll(used, "7", "'{b.output}'") + "  - {name: b, bash: echo}\n", "", "failed"},
		{"a cleanup that fails", used, "u/@cleanup", `succeeded U/I-7-x {"n":7}: step u: as the test says`},
		{"a loop", "outputs: {all: '{u.outputs.n}'}\nsteps: [{name: u, for-each: {items: [1, 2]}, use-tool: inner, with: {N: '{item}'}}]", "", `succeeded ["U[0]/I-1-x","U[1]/I-2-x"] {"all":[1,2]}: `},
	} {
		_, r := outcome(t, compiled(t, c.text), strings.Fields(c.fails)...)
		values := "{}"
		if r.Outputs != nil {
			values = string(r.Outputs.Values)
		}
		got := fmt.Sprintf("%s %s %s: %s", r.Status, strings.TrimSpace(call.Raw(r.Stdout)), values, r.Message)
		if !strings.HasPrefix(got, c.want) || strings.HasSuffix(c.want, ": ") && got != c.want {
			t.Errorf("%s (-want +got):\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}
