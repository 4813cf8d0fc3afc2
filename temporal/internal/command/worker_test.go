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

// TestPoolFlag: a wrong --pool is refused.
func TestPoolFlag(t *testing.T) {
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
	} {
		got, err := parsePools(nil, strings.Fields(c.flags))
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
	settings := map[string]history.Pool{"db": {Slots: 2}, "paced": {Slots: 4, Rate: history.Rate{N: 10, Per: time.Minute}}}
	for _, c := range []struct{ definition, error string }{
		{"steps: [{name: a, pool: gpu, run: echo}]", ""},
		{"pool: gpu\nrun: echo", ""},
		{"locks: [db]\nrun: echo", ""},
		{"max-active-runs: 1\nrun: echo", ""},
		{"steps: [{name: a, locks: [db], priority: 3, run: echo}]", ""},
		{"steps: [{name: a, pool: gpu, locks: [db], run: echo}]", ""},
		{"steps: [{name: a, pool: {name: db, slots: 2}, priority: 3, run: echo}]", ""},
		{"steps: [{name: a, pool: paced, run: echo}]", ""},
		{"steps: [{name: a, pool: {name: db, slots: 3}, run: echo}]", "step a wants 3 slots of pool db, which has 2 in the settings"},
		{"steps: [{name: a, pool: {name: gpu, slots: 2}, run: echo}]", "step a wants 2 slots of pool gpu, and the settings do not say how many it has: set pools.gpu"},
		{"steps: [{name: g, steps: [{name: a, pool: {name: gpu, slots: 2}, run: echo}]}]", "step g/a wants 2 slots of pool gpu"},
		{"steps: [{name: a, pool: gpu, priority: 3, run: echo}]", "step a has a priority, and the settings do not say how many slots pool gpu has"},
		{"state: {count: {type: integer, default: 0}}\nrun: echo", ""},
		{"steps: [{name: a, ssh: web1, bash: echo}]", ""},
		{"steps: [{name: g, steps: [{name: a, run: echo, repeat: {until: 'false', every: 300ms, timeout: 1s}}]}]", "step g/a repeats for a limited time with less than a second between two rounds"},
		{"steps: [{name: a, run: echo, repeat: {until: 'false', every: 300ms, max: 3}}]", ""},
		{"steps: [{name: a, run: echo, repeat: {until: 'false', every: 1s, timeout: 1m}}]", ""},
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
