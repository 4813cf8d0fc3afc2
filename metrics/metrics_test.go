package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/metrics"
)

// values returns the series of a registry that are not zero, histograms by their count and
// sum. Labels are in the order of their names: status, step, tool.
func values(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			labels := make([]string, len(m.Label))
			for i, l := range m.Label {
				labels[i] = l.GetValue()
			}
			name := strings.TrimPrefix(f.GetName(), "flowrun_") + "{" + strings.Join(labels, ",") + "}"
			switch {
			case m.Histogram != nil:
				list[name+" count"], list[name+" sum"] = float64(m.Histogram.GetSampleCount()), m.Histogram.GetSampleSum()
			case m.Counter != nil:
				list[name] = m.Counter.GetValue()
			case !strings.HasPrefix(name, "build_info"):
				list[name] = m.Gauge.GetValue()
			}
		}
	}
	maps.DeleteFunc(list, func(name string, _ float64) bool { return strings.HasPrefix(name, "last_success") }) // see TestLastSuccess
	for name, v := range list {
		if v == 0 {
			delete(list, name)
		}
	}
	return list
}

func measure(t *testing.T, o metrics.Options) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	m, err := metrics.New(reg, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, reg
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// at returns an event some seconds after noon.
func at(second int, kind dag.Kind, node dag.ID, res *dag.Result) dag.Event {
	return dag.Event{Kind: kind, Node: node, Time: noon.Add(time.Duration(second) * time.Second), Result: res}
}

func ended(s dag.Status, took time.Duration) *dag.Result {
	return &dag.Result{Status: s, Started: noon, Ended: noon.Add(took)}
}

func TestCounts(t *testing.T) {
	late := ended(dag.TimedOut, time.Second)
	late.Reason = dag.ReasonTimeout
	outOfTime := ended(dag.Cancelled, time.Second)
	outOfTime.Reason = dag.ReasonTimeout
	cached := &dag.Result{Status: dag.Reused, Reason: "cache", Started: noon, Ended: noon.Add(time.Hour)}
	kept := &dag.Result{Status: dag.Reused, Started: noon, Ended: noon.Add(time.Hour)}
	loud := ended(dag.Succeeded, time.Second)
	loud.Stdout, loud.Stderr = &dag.Output{Truncated: true}, &dag.Output{Truncated: true}
	queued := at(1, dag.StepStarted, "a", nil)
	queued.Queued = 3 * time.Second

	for _, c := range []struct {
		name   string
		events []dag.Event
		want   map[string]float64
	}{
		{"a run under way", []dag.Event{at(0, dag.RunStarted, "", nil)}, map[string]float64{"runs_running{t}": 1}},
		{"a run that ended", []dag.Event{at(0, dag.RunStarted, "", nil), at(7, dag.RunFinished, "", ended(dag.Failed, 7*time.Second))},
			map[string]float64{"runs_total{failed,t}": 1, "run_duration_seconds{t} count": 1, "run_duration_seconds{t} sum": 7}},
		{"a resumed run", []dag.Event{at(100, dag.RunResumed, "", nil), at(104, dag.RunFinished, "", ended(dag.Succeeded, 104*time.Second))}, // since its first start, as flowrun runs shows it
			map[string]float64{"runs_total{succeeded,t}": 1, "run_duration_seconds{t} count": 1, "run_duration_seconds{t} sum": 104}},
		{"a step that waited for a slot", []dag.Event{queued},
			map[string]float64{"runs_running{t}": 1, "step_queue_wait_seconds{t} count": 1, "step_queue_wait_seconds{t} sum": 3}},
		{"retried, fallen back", []dag.Event{at(1, dag.StepRetrying, "a", late), at(2, dag.StepFallback, "a", late), at(3, dag.StepFinished, "a", ended(dag.Succeeded, 3*time.Second))},
			map[string]float64{"runs_running{t}": 1, "step_retries_total{a,t}": 1, "step_fallbacks_total{a,t}": 1, "step_timeouts_total{a,t}": 2,
				"steps_total{succeeded,a,t}": 1, "step_duration_seconds{a,t} count": 1, "step_duration_seconds{a,t} sum": 3}},
		{"stopped because the tool took too long", []dag.Event{at(1, dag.StepFinished, "a", outOfTime)},
			map[string]float64{"runs_running{t}": 1, "steps_total{cancelled,a,t}": 1}},
		{"skipped", []dag.Event{at(1, dag.StepFinished, "a", &dag.Result{Status: dag.Skipped, Ended: noon})},
			map[string]float64{"runs_running{t}": 1, "steps_total{skipped,a,t}": 1}},
		{"its condition failed", []dag.Event{at(1, dag.StepFinished, "a", &dag.Result{Status: dag.Failed, Reason: dag.ReasonCondition, Ended: noon})},
			map[string]float64{"runs_running{t}": 1, "steps_total{failed,a,t}": 1}},
		{"reused", []dag.Event{at(1, dag.StepFinished, "a", cached), at(1, dag.StepFinished, "b", kept)},
			map[string]float64{"runs_running{t}": 1, "steps_total{reused,a,t}": 1, "steps_total{reused,b,t}": 1, "step_cache_hits_total{a,t}": 1}},
		{"cut in both streams", []dag.Event{at(1, dag.StepFinished, "a", loud)},
			map[string]float64{"runs_running{t}": 1, "output_truncated_total{a,t}": 2, "steps_total{succeeded,a,t}": 1,
				"step_duration_seconds{a,t} count": 1, "step_duration_seconds{a,t} sum": 1}},
		{"used by two attempts", []dag.Event{at(1, dag.StepRetrying, "a", &dag.Result{Status: dag.Failed, Usage: dag.Usage{User: time.Second, System: 500 * time.Millisecond}}),
			at(1, dag.StepFinished, "a", &dag.Result{Status: dag.Failed, Usage: dag.Usage{User: 250 * time.Millisecond, MaxRSS: 1 << 20}})},
			map[string]float64{"runs_running{t}": 1, "step_retries_total{a,t}": 1, "steps_total{failed,a,t}": 1,
				"step_cpu_seconds_total{user,a,t}": 1.25, "step_cpu_seconds_total{system,a,t}": 0.5,
				"step_max_rss_bytes{a,t} count": 1, "step_max_rss_bytes{a,t} sum": 1 << 20}},
		{"refused connections of two attempts", []dag.Event{at(1, dag.StepRetrying, "a", &dag.Result{Status: dag.Failed, Refused: 2}),
			at(1, dag.StepFinished, "a", &dag.Result{Status: dag.Failed, Refused: 1})},
			map[string]float64{"runs_running{t}": 1, "step_retries_total{a,t}": 1, "steps_total{failed,a,t}": 1, "step_connections_refused_total{a,t}": 3}},
		{"a nested tool has the output of its last step", []dag.Event{at(1, dag.StepFinished, "n#2/a", loud), at(2, dag.StepFinished, "n", loud)},
			map[string]float64{"runs_running{t}": 1, "output_truncated_total{n/a,t}": 2,
				"steps_total{succeeded,n,t}": 1, "step_duration_seconds{n,t} count": 1, "step_duration_seconds{n,t} sum": 1,
				"steps_total{succeeded,n/a,t}": 1, "step_duration_seconds{n/a,t} count": 1, "step_duration_seconds{n/a,t} sum": 1}},
		{"a loop counts as its items", []dag.Event{at(1, dag.StepFinished, "l[a/b]", ended(dag.Succeeded, time.Second)),
			at(1, dag.StepFinished, "l[c]", ended(dag.Failed, 2*time.Second)), at(1, dag.StepFinished, "l", ended(dag.Failed, 9*time.Second))},
			map[string]float64{"runs_running{t}": 1, "steps_total{succeeded,l,t}": 1, "steps_total{failed,l,t}": 1,
				"step_duration_seconds{l,t} count": 2, "step_duration_seconds{l,t} sum": 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, reg := measure(t, metrics.Options{})
			run := m.Run("t")
			for _, e := range c.events {
				run.Emit(e)
			}
			if diff := cmp.Diff(c.want, values(t, reg)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCloseCountsWhatNeverEnded covers a run whose journal fails, so that there is no event
// of its end.
func TestCloseCountsWhatNeverEnded(t *testing.T) {
	m, reg := measure(t, metrics.Options{})
	lost, whole, refused := m.Run("t"), m.Run("t"), m.Run("t")
	lost.Emit(at(0, dag.RunStarted, "", nil))
	whole.Emit(at(0, dag.RunStarted, "", nil))
	whole.Emit(at(1, dag.RunFinished, "", ended(dag.Succeeded, time.Second)))
	for _, r := range []interface{ Close() }{lost, whole, refused} {
		r.Close()
		r.Close()
	}
	want := map[string]float64{"runs_total{interrupted,t}": 1, "runs_total{succeeded,t}": 1,
		"run_duration_seconds{t} count": 1, "run_duration_seconds{t} sum": 1}
	if diff := cmp.Diff(want, values(t, reg)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCountersBeginAtZero covers increase(), which does not see the increment of a counter
// that starts at one.
func TestCountersBeginAtZero(t *testing.T) {
	m, reg := measure(t, metrics.Options{})
	run := m.Run("t")
	run.Emit(at(0, dag.StepStarted, "a", nil))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, f := range families {
		got[f.GetName()] = len(f.Metric)
	}
	for name, want := range map[string]int{"flowrun_runs_total": 5, "flowrun_steps_total": 7, "flowrun_step_retries_total": 1, "flowrun_step_timeouts_total": 1} {
		if got[name] != want {
			t.Errorf("%s: %d series, want %d", name, got[name], want)
		}
	}
}

// TestLastSuccess checks that only a success sets the time of a tool's last success.
func TestLastSuccess(t *testing.T) {
	m, reg := measure(t, metrics.Options{})
	last := func(tool string) float64 {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, s := range f.Metric {
				if f.GetName() == "flowrun_last_success_timestamp_seconds" && s.Label[0].GetValue() == tool {
					return s.Gauge.GetValue()
				}
			}
		}
		return 0
	}
	m.Succeeded("old", time.Unix(1000, 0))
	good, bad := m.Run("good"), m.Run("bad")
	good.Emit(at(1, dag.RunFinished, "", ended(dag.Succeeded, time.Second)))
	bad.Emit(at(1, dag.RunFinished, "", ended(dag.Failed, time.Second)))
	if last("old") != 1000 || last("good") < 1000 || last("bad") != 0 {
		t.Errorf("old %v, good %v, bad %v", last("old"), last("good"), last("bad"))
	}
}

func TestLabelsAreBounded(t *testing.T) {
	m, reg := measure(t, metrics.Options{Limit: 3})
	for i := range 10 {
		run := m.Run(fmt.Sprintf("tool%d", i))
		run.Emit(at(0, dag.StepFinished, "a", ended(dag.Failed, time.Second)))
		run.Emit(at(0, dag.StepFinished, "a", ended(dag.Failed, time.Second)))
		run.Close()
	}
	got := values(t, reg)
	for name, want := range map[string]float64{"steps_total{failed,a,tool2}": 2, "steps_total{failed,a,tool3}": 0, "steps_total{failed,other,other}": 14,
		"runs_total{interrupted,tool2}": 1, "runs_total{interrupted,tool3}": 0, "runs_total{interrupted,other}": 7} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

func TestLoad(t *testing.T) {
	_, reg := measure(t, metrics.Options{Load: func() (int, int) { return 3, 5 }})
	want := map[string]float64{"steps_running{}": 3, "steps_queued{}": 5}
	if diff := cmp.Diff(want, values(t, reg)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoInOneRegistryAreRefused(t *testing.T) {
	_, reg := measure(t, metrics.Options{})
	_, err := metrics.New(reg, metrics.Options{})
	if err == nil || !strings.Contains(err.Error(), "create one Metrics for each registry") {
		t.Errorf("error %v", err)
	}
}

// slow is a journal that takes its time and fails.
type slow struct{}

func (slow) Append(context.Context, []dag.Event) error {
	time.Sleep(2 * time.Millisecond)
	return errors.New("disk full")
}
func (slow) Sync(context.Context) error { return nil }

func TestJournal(t *testing.T) {
	m, reg := measure(t, metrics.Options{})
	j := m.Journal(slow{})
	if err := j.Append(t.Context(), nil); err == nil || err.Error() != "disk full" {
		t.Errorf("error %v", err)
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Error(err)
	}
	got := values(t, reg)
	if got["journal_append_seconds{} count"] != 1 || got["journal_append_seconds{} sum"] < .002 || got["journal_sync_seconds{} count"] != 1 {
		t.Errorf("%v", got)
	}
}

// TestManyRunsAtOnce shares one Metrics between runs of the same tools.
func TestManyRunsAtOnce(t *testing.T) {
	m, reg := measure(t, metrics.Options{Limit: 20})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			run := m.Run(fmt.Sprintf("tool%d", i%2))
			defer run.Close()
			for n := range 100 {
				run.Emit(at(0, dag.StepFinished, dag.ID(fmt.Sprintf("s%d", n%50)), ended(dag.Succeeded, time.Second)))
			}
		})
	}
	for range 20 {
		values(t, reg)
	}
	all.Wait()
	steps := 0.0
	for name, v := range values(t, reg) {
		if strings.HasPrefix(name, "steps_total") {
			steps += v
		}
	}
	if steps != 800 {
		t.Errorf("%v steps, want 800", steps)
	}
}

// stream returns the events of one step of a live run.
func stream() []dag.Event {
	queued := at(1, dag.StepStarted, "setup#2/test[linux/amd64]#2/build", nil)
	queued.Queued = time.Millisecond
	return []dag.Event{queued, at(1, dag.StepRetrying, queued.Node, ended(dag.Failed, 30*time.Millisecond)), queued,
		at(2, dag.StepFinished, queued.Node, ended(dag.Succeeded, time.Second))}
}

// TestEmitDoesNotAllocate checks that an event allocates nothing.
func TestEmitDoesNotAllocate(t *testing.T) {
	m, _ := measure(t, metrics.Options{})
	run, events := m.Run("t"), stream()
	allocs := testing.AllocsPerRun(1000, func() {
		for _, e := range events {
			run.Emit(e)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for the events of a step, want 0", allocs)
	}
}

// BenchmarkEmit measures the cost of one event.
func BenchmarkEmit(b *testing.B) {
	m, err := metrics.New(prometheus.NewRegistry(), metrics.Options{})
	if err != nil {
		b.Fatal(err)
	}
	run, events := m.Run("t"), stream()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		run.Emit(events[i%len(events)])
	}
}
