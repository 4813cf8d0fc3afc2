package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

// TestRunEvents holds what the events of a run count: attempts, steps, and the items of a loop instead of the loop.
func TestRunEvents(t *testing.T) {
	p, err := NewProgram(Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1e9, 0)
	r := p.Run("t")
	event := func(kind dag.Kind, node dag.ID, reason string, res *dag.Result) {
		at = at.Add(time.Second)
		r.Emit(dag.Event{Kind: kind, Node: node, Reason: reason, Time: at, Result: res})
	}
	ended := func(s dag.Status, reason string) *dag.Result {
		return &dag.Result{Status: s, Reason: reason, Started: at, Ended: at.Add(time.Second), Usage: dag.Usage{User: time.Second}}
	}
	event(dag.RunStarted, "", "", nil)
	event(dag.StepStarted, "a", "", nil)
	event(dag.StepRetrying, "a", dag.ReasonExit, ended(dag.Failed, dag.ReasonExit))
	event(dag.StepRetrying, "a", dag.ReasonRepeat, ended(dag.Succeeded, ""))
	event(dag.StepFinished, "a", "", ended(dag.TimedOut, dag.ReasonTimeout))
	event(dag.StepFinished, "c", "", ended(dag.Reused, reasonCache))
	for _, item := range []dag.ID{"l[x]", "l[y/z#2]"} {
		event(dag.StepStarted, item, "", nil)
		event(dag.StepFinished, item, "", ended(dag.Succeeded, ""))
	}
	event(dag.StepFinished, "l", "", ended(dag.Succeeded, ""))
	event(dag.RunFinished, "", "", &dag.Result{Status: dag.Failed})
	r.Close()
	lost := p.Run("lost")
	lost.Emit(dag.Event{Kind: dag.RunStarted, Time: at})
	lost.Close()
	file := filepath.Join(t.TempDir(), "metrics")
	if err := p.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		counts := strings.Contains(line, "_total{") || strings.Contains(line, "_count{") || strings.Contains(line, "_running{")
		if counts && strings.Contains(line, `tool="`) && !strings.HasSuffix(line, " 0") {
			got = append(got, line)
		}
	}
	want := []string{
		`flowrun_run_duration_seconds_count{tool="t"} 1`,
		`flowrun_runs_total{status="failed",tool="t"} 1`,
		`flowrun_runs_total{status="interrupted",tool="lost"} 1`,
		`flowrun_step_cache_hits_total{step="c",tool="t"} 1`,
		`flowrun_step_cpu_seconds_total{mode="user",step="a",tool="t"} 3`,
		`flowrun_step_cpu_seconds_total{mode="user",step="l",tool="t"} 2`,
		`flowrun_step_duration_seconds_count{step="a",tool="t"} 1`,
		`flowrun_step_duration_seconds_count{step="l",tool="t"} 2`,
		`flowrun_step_queue_wait_seconds_count{tool="t"} 3`,
		`flowrun_step_retries_total{step="a",tool="t"} 1`,
		`flowrun_step_timeouts_total{step="a",tool="t"} 1`,
		`flowrun_steps_total{status="reused",step="c",tool="t"} 1`,
		`flowrun_steps_total{status="succeeded",step="l",tool="t"} 2`,
		`flowrun_steps_total{status="timed-out",step="a",tool="t"} 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestKnown checks that the series of a tool and of its steps exist before the first run, and that those of what needs attention
// and of the schedules exist, too.
func TestKnown(t *testing.T) {
	p, err := NewProgram(Options{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	service, err := p.Service(State{Runs: func() (int, int) { return 0, 0 }, Pools: func() []Pool { return nil }, AttentionKinds: []string{"waiting", "interrupted"},
		Attention: func() []Attention { return []Attention{{"waiting", "t"}, {"waiting", "t"}, {"waiting", "many"}} },
		Schedules: func() []Schedule {
			return []Schedule{{Name: "s", Tool: "t", Next: time.Unix(60, 0)}, {Name: "paused", Tool: "t"}}
		}})
	if err != nil {
		t.Fatal(err)
	}
	p.Known("t", []string{"a", "a/b", "beyond the limit"})
	p.Known("u", nil)
	p.Known("many", nil)
	service.SchedulesMissed("s", 0)
	file := filepath.Join(t.TempDir(), "metrics")
	if err := p.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`flowrun_runs_total{status="failed",tool="t"} 0`, `flowrun_runs_total{status="interrupted",tool="u"} 0`,
		`flowrun_steps_total{status="failed",step="a/b",tool="t"} 0`, `flowrun_step_retries_total{step="a",tool="t"} 0`,
		`flowrun_attention{kind="waiting",tool="t"} 2`, `flowrun_attention{kind="waiting",tool="other"} 1`, `flowrun_attention{kind="interrupted",tool="u"} 0`, `flowrun_attention{kind="interrupted",tool=""} 0`,
		`flowrun_schedule_missed_total{schedule="s"} 0`, `flowrun_schedule_next_timestamp_seconds{schedule="s",tool="t"} 60`, `flowrun_schedule_previous_timestamp_seconds{schedule="paused",tool="t"} 0`,
		`flowrun_schedule_lag_seconds_count 0`, `flowrun_run_queue_wait_seconds_count 0`,
	} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	for _, label := range []string{"beyond the limit", `flowrun_runs_total{status="failed",tool="many"}`} {
		if strings.Contains(string(text), label) {
			t.Errorf("%s has a series, which is left to what runs", label)
		}
	}
	if strings.Contains(string(text), `next_timestamp_seconds{schedule="paused"`) {
		t.Error("a paused schedule has a next time")
	}
}
