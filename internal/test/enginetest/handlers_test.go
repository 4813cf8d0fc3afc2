package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// trace is the order in which the steps of a run began, those of loops without
// their items.
type trace []string

func (tr *trace) option() engine.RunOption {
	return engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepStarted {
			*tr = append(*tr, string(e.Node))
		}
	}))
}

// TestHandlers: which handlers run after what, in which order, and what happens to
// the run.
func TestHandlers(t *testing.T) {
	t.Parallel()
	const all = `
on-success: [{name: good, run: echo good}]
on-failure: [{name: bad, run: "echo {run.status} {run.exit-code} {run.failed-step}"}]
finally: [{name: end, run: "echo {run.status} {run.exit-code}<{run.failed-step}>"}]
`
	for _, c := range []struct {
		name, text string
		status     dag.Status
		code       int
		output     string
		order      []string
		outputs    map[string]string
	}{
		{name: "after success", text: "steps: [{name: a, run: echo a}]" + all, output: "a\n",
			order: []string{"a", "good", "end"}, outputs: map[string]string{"end": "succeeded 0<>\n"}},
		{name: "after failure", text: "steps: [{name: a, bash: exit 3}, {name: b, run: echo b}]" + all, status: dag.Failed, code: 3,
			order: []string{"a", "bad", "end"}, outputs: map[string]string{"bad": "failed 3 a\n", "end": "failed 3<a>\n"}},
		{name: "the first failure in plan order is named", text: "steps: [{name: a, bash: 'sleep 0.1; exit 3', parallel: true}, {name: b, bash: exit 4, parallel: true}]" + all, status: dag.Failed, code: 3,
			order: []string{"a", "b", "bad", "end"}, outputs: map[string]string{"bad": "failed 3 a\n"}},
		{name: "a failure that is tolerated is none", text: "steps: [{name: a, bash: exit 3, continue-on-error: true}]" + all,
			order: []string{"a", "good", "end"}},
		{name: "a recovered run has failed", text: "steps: [{name: a, bash: exit 3}, {name: b, run: echo b, run-condition: failure()}]" + all, status: dag.Failed, code: 3, output: "b\n",
			order: []string{"a", "b", "bad", "end"}},
		{name: "after a timeout of a step", text: "steps: [{name: a, run: sleep 300, timeout: 100}]" + all, status: dag.Failed, code: 124,
			order: []string{"a", "bad", "end"}, outputs: map[string]string{"bad": "failed 124 a\n"}},
		{name: "after fail-fast", text: "fail-fast: true\nsteps: [{name: a, run: sleep 300}, {name: b, bash: exit 4, parallel: true}]" + all, status: dag.Failed, code: 4,
			order: []string{"a", "b", "bad", "end"}, outputs: map[string]string{"bad": "failed 4 b\n"}},
		{name: "after a timeout of the tool", text: "timeout: 300\nsteps: [{name: a, run: sleep 300}]" + all, status: dag.TimedOut, code: 124,
			order: []string{"a", "bad", "end"}, outputs: map[string]string{"end": "timed-out 124<>\n"}},
		{name: "a handler that fails fails the run", text: "steps: [{name: a, run: echo a}]\non-success: [{name: good, bash: exit 9}, {name: more, run: echo more}]\nfinally: [{name: end, run: 'echo {run.status}'}]\n", status: dag.Failed, code: 9, output: "a\n",
			order: []string{"a", "good", "end"}, outputs: map[string]string{"end": "failed\n"}},
		{name: "but not over the failure before it", text: "steps: [{name: a, bash: exit 3}]\non-failure: [{name: bad, bash: exit 9}]\n", status: dag.Failed, code: 3,
			order: []string{"a", "bad"}},
		{name: "a list is a chain", text: "steps: [{name: a, bash: exit 3}]\non-failure: [{name: h1, run: echo h1}, {name: h2, run: 'echo {h1.output}2'}, {name: h3, run: echo h3, run-condition: \"{h2.output} == 'no'\"}, {name: h4, run: echo h4}]\n", status: dag.Failed, code: 3,
			order: []string{"a", "h1", "h2", "h4"}, outputs: map[string]string{"h2": "h12\n"}},
		{name: "a handler mentions steps", text: "steps: [{name: a, run: echo a}, {name: b, bash: 'echo err >&2; exit 3'}]\non-failure: [{name: h, run: 'echo {a.output} {b.error} {b.exit-code}'}]\n", status: dag.Failed, code: 3,
			order: []string{"a", "b", "h"}, outputs: map[string]string{"h": "a err 3\n"}},
		{name: "of a step", text: "steps:\n  - {name: a, bash: exit 3, on-failure: [{name: bad, run: 'echo {a.exit-code}'}], on-success: [{name: good, run: echo}], finally: [{name: end, run: 'echo {a.status}'}]}\n  - {name: b, run: echo b}\n", status: dag.Failed, code: 3,
			order: []string{"a", "bad", "end"}, outputs: map[string]string{"bad": "3\n", "end": "failed\n"}},
		{name: "of a step that went well", text: "steps:\n  - {name: a, run: echo a, on-failure: [{name: bad, run: echo}], on-success: [{name: good, run: echo good}], finally: [{name: end, run: echo last}]}\n  - {name: b, run: echo b}\n", output: "b\n",
			order: []string{"a", "good", "end", "b"}},
		{name: "of a step that was skipped", text: "steps:\n  - {name: a, run: echo a, run-condition: 1 > 2, on-failure: [{name: bad, run: echo}], on-success: [{name: good, run: echo good}], finally: [{name: end, run: echo last}]}\n  - {name: b, run: echo b}\n", output: "b\n",
			order: []string{"b"}},
		{name: "of a step that is tolerated", text: "steps:\n  - {name: a, bash: exit 3, continue-on-error: true, on-failure: [{name: bad, run: echo}], on-success: [{name: good, run: echo good}]}\n  - {name: b, run: echo b}\n", output: "b\n",
			order: []string{"a", "bad", "b"}},
		{name: "parallel handlers", text: "steps: [{name: a, run: echo a}]\nfinally: [{name: h1, bash: 'until [ -e {WORKSPACE}/h2 ]; do sleep 0.01; done'}, {name: h2, bash: 'touch {WORKSPACE}/h2', parallel: true}, {name: h3, run: echo h3}]\n", output: "a\n",
			order: []string{"a", "h1", "h2", "h3"}},
		{name: "wait-for among handlers", text: "steps: [{name: a, run: echo a}]\nfinally: [{name: h1, run: echo h1, wait-for: [h2]}, {name: h2, run: echo h2}]\n", output: "a\n",
			order: []string{"a", "h2", "h1"}},
		{name: "the outcome of a step", text: "steps:\n  - {name: a, run: echo a, on-success: [{name: good, run: 'echo {run.status} {run.exit-code}'}]}\n  - {name: b, bash: exit 4, on-failure: [{name: bad, run: 'echo {run.status} {run.exit-code} {run.failed-step}'}], finally: [{name: end, run: 'echo {run.status} {a.output}'}]}\n",
			status: dag.Failed, code: 4, output: "", order: []string{"a", "good", "b", "bad", "end"}, outputs: map[string]string{"good": "succeeded 0\n", "bad": "failed 4 b\n", "end": "failed a\n"}},
		{name: "a loop as a handler", text: "steps: [{name: a, run: echo a}]\nfinally: [{name: h, for-each: {items: [x, y], max-parallel: 1}, run: 'echo -n {item}{run.status}'}]\n", output: "a\n",
			order: []string{"a", "h", "h[0]", "h[1]"}, outputs: map[string]string{"h": "[\"xsucceeded\",\"ysucceeded\"]\n"}},
		{name: "a tool as a handler", text: "steps: [{name: a, bash: exit 3}]\non-failure: [{name: h, use-tool: tell, with: {WHAT: '{run.failed-step} {run.exit-code}'}}]\n", status: dag.Failed, code: 3,
			order: []string{"a", "h", "h/tell"}, outputs: map[string]string{"h": "a 3\n"}},
		{name: "a group as a handler", text: "steps: [{name: a, bash: exit 3}]\non-failure: [{name: h, steps: [{name: h1, run: 'echo {run.failed-step}'}, {name: h2, run: 'echo {h1.output}!'}]}]\n", status: dag.Failed, code: 3,
			order: []string{"a", "h", "h/h1", "h/h2"}, outputs: map[string]string{"h": "a!\n"}},
		{name: "handlers in a group", text: "steps:\n  - name: g\n    steps:\n      - {name: a, bash: exit 3, on-failure: [{name: bad, run: 'echo {a.exit-code}'}]}\n    finally: [{name: end, run: 'echo {g.status}'}]\n  - {name: z, run: echo z}\n", status: dag.Failed, code: 3,
			order: []string{"g", "g/a", "g/bad", "end"}, outputs: map[string]string{"g/bad": "3\n", "end": "failed\n"}},
		{name: "handlers of items", text: "steps:\n  - name: g\n    for-each: {items: [1, 2], max-parallel: 1}\n    steps:\n      - {name: a, bash: '[ {item} = 2 ]', on-failure: [{name: bad, run: 'echo {item}'}]}\n", status: dag.Failed, code: 1, output: "[\"\",\"\"]\n",
			order: []string{"g", "g[0]", "g[0]/a", "g[0]/bad", "g[1]", "g[1]/a"}, outputs: map[string]string{"g[0]/bad": "1\n"}},
		{name: "handlers of a loop", text: "steps:\n  - name: t\n    for-each: {items: [1, 2], max-parallel: 1}\n    bash: 'exit {item}'\n    on-failure: [{name: bad, run: 'echo {t.exit-code}'}]\n", status: dag.Failed, code: 1, output: "[\"\",\"\"]\n",
			order: []string{"t", "t[0]", "t[1]", "bad"}, outputs: map[string]string{"bad": "1\n"}},
		{name: "handlers of a nested tool", text: "steps: [{name: n, use-tool: fails}, {name: z, run: echo z, run-condition: failure()}]\n", status: dag.Failed, code: 3, output: "z\n",
			order: []string{"n", "n/a", "n/bad", "n/end", "z"}, outputs: map[string]string{"n/bad": "failed 3 a\n", "n/end": "failed 3<a>\n"}},
		{name: "cleanup comes after handlers", text: "steps: [{name: a, run: echo a}]\nfinally: [{name: h, bash: 'touch {WORKSPACE}/made'}]\nresources: {cleanup: [{final-command: 'rm {WORKSPACE}/made'}]}\n", output: "a\n",
			order: []string{"a", "h", "@cleanup"}},
		{name: "steps with the names of the engine's nodes", text: "steps: [{name: ended, run: echo a}, {name: b, run: echo b, parallel: true}, {name: cleanup, run: echo c}, {name: d, run: echo d, parallel: true}, {name: finally, run: echo e, finally: [{name: before, run: echo f}]}]\nresources: {cleanup: [{final-command: 'true'}]}\n", output: "e\n",
			order: []string{"ended", "b", "cleanup", "d", "finally", "before", "@cleanup"}},
		{name: "ignore-errors covers handlers", text: "ignore-errors: true\nsteps: [{name: a, bash: exit 3}]\nfinally: [{name: h, bash: exit 4}]\n",
			order: []string{"a", "h"}},
		{name: "a condition that asks how it goes", text: "steps: [{name: a, bash: exit 3}]\non-failure: [{name: h1, bash: exit 4}, {name: h2, run: echo h2}, {name: h3, run: echo h3, run-condition: always()}]\n", status: dag.Failed, code: 3,
			order: []string{"a", "h1", "h3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.file("tell.yaml", "name: tell\ndescription: t\nbash: echo {WHAT}\nparameters: {WHAT: {description: w}}\n")
			b.file("fails.yaml", "name: fails\ndescription: f\nsteps: [{name: a, bash: exit 3}]"+all)
			var order trace
			res := b.run(context.Background(), c.text, nil, order.option())
			if c.status == 0 {
				c.status = dag.Succeeded
			}
			if res.Status != c.status || res.ExitCode != c.code || res.Output != c.output {
				t.Errorf("the run %s (%d) %q: %s; want %s (%d) %q", res.Status, res.ExitCode, res.Output, res.Message, c.status, c.code, c.output)
			}
			if diff := cmp.Diff(c.order, []string(order)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			for step, want := range c.outputs {
				if s := res.Step(step); s == nil || s.Output != want {
					t.Errorf("%s: %+v, want %q", step, s, want)
				}
			}
		})
	}
}

// TestHandlersAfterCancel: what is cancelled still finishes.
func TestHandlersAfterCancel(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var order trace
	res := b.run(ctx, `
steps:
  - {name: a, run: sleep 300, finally: [{name: own, run: 'echo {a.status}'}]}
  - {name: never, run: echo, finally: [{name: nothing, run: echo}]}
on-success: [{name: good, run: echo}]
on-failure: [{name: bad, run: echo}]
finally: [{name: end, run: 'echo {run.status}'}, {name: more, run: echo more}]
`, nil, order.option(), cancelAt("a", cancel))
	if res.Status != dag.Cancelled {
		t.Errorf("the run %s: %s", res.Status, res.Message)
	}
	if diff := cmp.Diff([]string{"a", "own", "end", "more"}, []string(order)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if s := res.Step("end"); s.Output != "cancelled\n" {
		t.Errorf("end: %+v", s)
	}
}

// TestHandlersReadWhatWasCancelled: a handler sees what a step, a group or a loop had
// printed when it was cancelled, and nothing of what never began.
func TestHandlersReadWhatWasCancelled(t *testing.T) {
	t.Parallel()
	const stuck = "bash: \"echo '[1]'; echo trouble >&2; touch printed; sleep 300\""
	for name, c := range map[string]struct{ step, reads, want string }{
		"a step":           {stuck, "'{a.output} {a.json[0]} {a.error} {a.status}'", "[1] 1 trouble cancelled"},
		"its times":        {stuck, `'{a.duration >= 0 ? "yes" : "no"} {a.attempts}'`, "yes 1"},
		"a tried one":      {"error-handling: {retry: {attempts: 1, delay: 300000}}\n    bash: echo once; touch printed; exit 3", "'{a.output}'", "once"},
		"a group":          {"steps: [{name: in, run: echo first}, {name: then, " + stuck + "}]", "'{a.output}'", "first"},
		"a loop":           {"for-each: {items: 1..3, max-parallel: 1}\n    bash: \"echo {item}; [ {item} = 1 ] || { touch printed; sleep 300; }\"", "'{a.output} {a.json[0]}'", `["1","2",null] 1`},
		"never begun":      {stuck, "'<{z.output}{z.duration}{z.error}>'", "<>"},
		"a loop not begun": {stuck, "'<{y.output}>'", "<>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			res := b.run(ctx, `
steps:
  - name: a
    `+c.step+`
  - {name: watch, parallel: true, bash: "until [ -e printed ]; do sleep 0.02; done; sleep 0.1"}
  - {name: now, wait-for: watch, run: sleep 300}
  - {name: z, wait-for: a, run: echo z}
  - {name: y, wait-for: a, for-each: {items: [1]}, run: echo y}
finally:
  - name: end
    run: echo `+c.reads+`
`, nil, cancelAt("now", cancel))
			if s := res.Step("end"); res.Status != dag.Cancelled || s.Output != c.want+"\n" {
				t.Errorf("the run %s; end %s: %q %q, want %q", res.Status, s.Status, s.Output, s.Message, c.want)
			}
		})
	}
}

// TestHandlersSeeSecretsMasked: what a handler reads about the run holds no secret.
func TestHandlersAndSecrets(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	res := b.run(context.Background(), `
parameters: {S: {description: s, default: hush-hush}}
environment: {secrets: [S]}
steps: [{name: a, bash: "echo {S} >&2; exit 3"}]
on-failure: [{name: h, bash: "echo {a.error} | tee {WORKSPACE}/told"}]
`, nil)
	told, err := os.ReadFile(filepath.Join(b.dir, "told"))
	if err != nil || strings.TrimSpace(string(told)) != "hush-hush" {
		t.Errorf("the handler read %q: %v", told, err)
	}
	if s := res.Step("h"); s.Output != "***\n" {
		t.Errorf("%+v", s)
	}
}
