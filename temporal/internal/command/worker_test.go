package command

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

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

// TestRefusedPlans: what workers cannot carry out as a local run does is refused with the reason, and exit code 5.
func TestRefusedPlans(t *testing.T) {
	plan := compilePlan(t, "steps: [{name: a, pool: {name: db, slots: 3}, run: echo}]")
	err := checkPlan(plan, map[string]history.Pool{"db": {Slots: 2}})
	var refusal *ui.RefusedError // which exits with 5
	if want := "cannot run t on Temporal: step a wants 3 slots of pool db, which has 2 in the settings; use fewer slots"; !errors.As(err, &refusal) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := checkPlan(plan, map[string]history.Pool{"db": {Slots: 3}}); err != nil {
		t.Error(err)
	}
}
