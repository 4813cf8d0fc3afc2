package command

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/notice"
)

// TestNoticesOfWorker: a worker says which processes it has ended after a run.
func TestNoticesOfWorker(t *testing.T) {
	x := prepare(t, `
name: t
steps:
  - name: a
    bash: |
      sleep 300 &
      until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.01; done # it is bash for a moment
      echo left
`, nil)
	var out bytes.Buffer
	env := &ui.Env{Terminal: ui.Terminal{Stderr: &out}}
	x.host.Report = func(run string, notices []notice.Notice, err error) { report(env, run, notices, err) }
	if r := x.run(); r.Status.String() != "succeeded" || r.Output != "left\n" {
		t.Fatalf("%v %q", r.Status, r.Output)
	}
	x.host.Close()
	if line := out.String(); !strings.HasPrefix(line, "flowrun: run "+x.input.Record.ID+": ") || !strings.Contains(line, "sleep") {
		t.Errorf("the worker prints %q", line)
	}
}

// TestPoolFlag: a wrong --pool, and one that Temporal cannot carry out exactly, are refused.
func TestPoolFlag(t *testing.T) {
	settings := map[string]history.Pool{"db": {Slots: 4}, "paced": {Slots: 4, Rate: history.Rate{N: 10, Per: time.Minute}}}
	for _, c := range []struct {
		flags string
		want  map[string]int
		error string
	}{
		{"", map[string]int{}, ""},
		{"gpu=2", map[string]int{"gpu": 2}, ""},
		{"gpu=2 db=1", map[string]int{"gpu": 2, "db": 1}, ""},
		{"gpu=10000", map[string]int{"gpu": 10000}, ""},
		{"gpu", nil, `invalid --pool "gpu": write NAME=n`},
		{"gpu=", nil, `invalid --pool "gpu="`},
		{"=2", nil, `invalid --pool "=2"`},
		{"gpu=0", nil, `invalid --pool "gpu=0"`},
		{"gpu=-1", nil, `invalid --pool "gpu=-1"`},
		{"gpu=2.5", nil, `invalid --pool "gpu=2.5"`},
		{"gpu=two", nil, `invalid --pool "gpu=two"`},
		{"gpu=10001", nil, `with 1 to 10000 slots`},
		{"gpu=99999999999999999999", nil, `with 1 to 10000 slots`},
		{"gpu=2=3", nil, `invalid --pool "gpu=2=3"`},
		{"gpu=1 gpu=2", nil, "--pool gpu is given twice"},
		{"paced=1", nil, "pool paced has a rate of 10/m in the settings"},
	} {
		got, err := parsePools(nil, strings.Fields(c.flags), settings)
		switch {
		case c.error == "" && (err != nil || !maps.Equal(got, c.want)):
			t.Errorf("--pool %s: %v, %v, want %v", c.flags, got, err, c.want)
		case c.error != "" && (err == nil || !strings.Contains(err.Error(), c.error)):
			t.Errorf("--pool %s: %v, want %s", c.flags, err, c.error)
		}
	}
}

// TestRefusedPlans: a definition that workers cannot carry out as a local run does is refused with the reason.
func TestRefusedPlans(t *testing.T) {
	settings := map[string]history.Pool{"paced": {Slots: 4, Rate: history.Rate{N: 10, Per: time.Minute}}}
	for _, c := range []struct{ definition, error string }{
		{"steps: [{name: a, pool: gpu, run: echo}]", ""},
		{"pool: gpu\nrun: echo", ""},
		{"locks: [db]\nrun: echo", "it needs lock db, and the workers of a service have no queue for that"},
		{"max-active-runs: 1\nrun: echo", "one of 1 concurrent runs"},
		{"steps: [{name: a, locks: [db], run: echo}]", "step a needs lock db, and the workers of a service have no queue for that; a pool with one slot keeps steps apart, too"},
		{"steps: [{name: a, pool: gpu, locks: [db], run: echo}]", "step a needs lock db"},
		{"steps: [{name: a, pool: {name: gpu, slots: 2}, run: echo}]", "step a wants 2 slots of pool gpu, and a worker gives one slot to each step"},
		{"steps: [{name: g, steps: [{name: a, pool: {name: gpu, slots: 2}, run: echo}]}]", "step g/a wants 2 slots of pool gpu"},
		{"steps: [{name: a, pool: gpu, priority: 3, run: echo}]", "step a has a priority"},
		{"steps: [{name: a, pool: paced, run: echo}]", "pool paced has a rate of 10/m in the settings, and Temporal cannot limit how often its steps start so exactly"},
		{"steps: [{name: a, pool: gpu, run: echo}, {name: b, pool: paced, run: echo}]", "pool paced has a rate"},
		{"state: {count: {type: integer, default: 0}}\nrun: echo", "keeps state between its runs, and workers have no history in common"},
		{"steps: [{name: a, ssh: web1, bash: echo}]", "its steps run over ssh, which workers do not support"},
		{"steps: [{name: a, container: {image: \"docker.io/library/alpine:3.20\"}, run: echo}]", "it has steps with container, which workers do not start"},
		{"retry-run: {attempts: 1, on: [exit]}\nsteps: [{name: a, bash: echo}]", "it has retry-run, and workers do not retry runs"},
		{"steps: [{name: a, run: echo, artifacts: [a.txt]}]", ""},
	} {
		plan := compilePlan(t, c.definition)
		var refusal *ui.RefusedError // which exits with 5
		switch err := checkPlan(plan, settings); {
		case c.error == "" && err != nil:
			t.Errorf("%s: %v", c.definition, err)
		case c.error != "" && (!errors.As(err, &refusal) || !strings.HasPrefix(err.Error(), "cannot run t on Temporal: ") || !strings.Contains(err.Error(), c.error)):
			t.Errorf("%s: %v, want %s", c.definition, err, c.error)
		}
	}
}
