package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/fold"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/observe/runstats"
	"github.com/flowrun/flowrun/internal/service/notify"
	"github.com/flowrun/flowrun/library"
)

// durationCase is a recorded run: what happened at which second after it was created.
type durationCase struct {
	name   string
	events func(l *lifeline)
	// want has took, waited and idle in seconds of the run ("") and of steps: -1 is from the creation until now, -8 from
	// the seventh second until now.
	want map[string][3]int
}

var durationCases = []durationCase{
	{"succeeds after a retry", func(l *lifeline) {
		l.begin(2)
		l.start(2, "work", 1)
		l.retry(3, "work")
		l.start(13, "work", 2)
		l.end(15, "work", dag.Succeeded)
		l.over(15, dag.Succeeded)
	}, map[string][3]int{"": {15, 0, 0}, "work": {13, 0, 0}}},
	{"waits for a person, suspended, and is carried on", func(l *lifeline) {
		l.begin(0)
		l.start(0, "gate", 1)
		l.wait(1, "gate")
		l.resume(900, 899)
		l.end(901, "gate", dag.Succeeded)
		l.start(901, "ship", 1)
		l.end(904, "ship", dag.Succeeded)
		l.over(904, dag.Succeeded)
	}, map[string][3]int{"": {904, 900, 0}, "gate": {901, 900, 0}, "ship": {3, 0, 0}}},
	{"fails, and is resumed", func(l *lifeline) {
		l.begin(0)
		l.start(0, "work", 1)
		l.end(4, "work", dag.Failed)
		l.over(4, dag.Failed)
		l.resume(104, 100, "work")
		l.start(104, "work", 1)
		l.end(106, "work", dag.Succeeded)
		l.over(106, dag.Succeeded)
	}, map[string][3]int{"": {106, 0, 100}, "work": {2, 0, 0}}},
	{"is killed 30 s after its last event, and resumed", func(l *lifeline) {
		l.begin(0)
		l.start(0, "work", 1)
		l.resume(100, 70, "work")
		l.start(100, "work", 1)
		l.end(105, "work", dag.Succeeded)
		l.over(105, dag.Succeeded)
	}, map[string][3]int{"": {105, 0, 70}, "work": {5, 0, 0}}},
	{"runs", func(l *lifeline) {
		l.begin(0)
		l.start(0, "work", 1)
	}, map[string][3]int{"": {-1, 0, 0}, "work": {-1, 0, 0}}},
}

// TestDurationsAgree: all documents, the statistics, notifications and the fold of the events have the same
// durations of a run and its steps. (That the page's fold has them too is tested in package fold.)
func TestDurationsAgree(t *testing.T) {
	t.Parallel()
	p := compile(t, t.TempDir(), "steps:\n  - name: work\n    bash: 'true'\n  - name: gate\n    approve: Go?\n  - name: ship\n    bash: 'true'\n")
	ctx := t.Context()
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("far", -11*3600)} {
		for _, c := range durationCases {
			t.Run(c.name+" "+zone.String(), func(t *testing.T) {
				l := newLifeline(t, p, zone)
				c.events(l)
				l.check(ctx, c.want)
			})
		}
		t.Run("is interrupted "+zone.String(), func(t *testing.T) {
			l := newLifeline(t, p, zone)
			l.begin(0)
			l.start(0, "work", 1)
			if err := l.ledger.Close(); err != nil {
				t.Fatal(err)
			}
			info, err := l.store.Info(ctx, "run")
			if err != nil || info.LastSign.IsZero() {
				t.Fatal(info, err)
			}
			seconds := int(info.LastSign.Sub(l.zero).Seconds())
			l.check(ctx, map[string][3]int{"": {seconds, 0, 0}, "work": {seconds, 0, 0}})
		})
		t.Run("is suspended "+zone.String(), func(t *testing.T) {
			l := newLifeline(t, p, zone)
			l.begin(0)
			l.start(0, "gate", 1)
			l.wait(7, "gate")
			if err := l.ledger.Suspend("step gate waits", false); err != nil {
				t.Fatal(err)
			}
			l.check(ctx, map[string][3]int{"": {-1, -8, 0}, "gate": {-1, -8, 0}})
		})
	}
}

// lifeline records a run that was created an hour ago.
type lifeline struct {
	t      *testing.T
	store  *history.Memory
	ledger history.Ledger
	zero   time.Time
	seq    uint64
	begun  map[dag.ID]time.Time
}

func newLifeline(t *testing.T, p *engine.Plan, zone *time.Location) *lifeline {
	l := &lifeline{t: t, store: history.NewMemory(), zero: time.Now().Add(-time.Hour).Truncate(time.Millisecond).In(zone), begun: map[dag.ID]time.Time{}}
	var err error
	l.ledger, err = l.store.Begin(t.Context(), &history.Record{ID: "run", Tool: "under-test", Created: l.zero, Sources: p.Sources(), Params: map[string]any{}, Given: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lifeline) at(s int) time.Time { return l.zero.Add(time.Duration(s) * time.Second) }

func (l *lifeline) add(s int, e dag.Event) {
	l.t.Helper()
	l.seq++
	e.V, e.Seq, e.Run, e.Time = dag.EventVersion, l.seq, "run", l.at(s)
	if err := l.ledger.Append(l.t.Context(), []dag.Event{e}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lifeline) begin(s int) {
	l.add(s, dag.Event{Kind: dag.RunStarted, Queued: time.Duration(s) * time.Second})
}

func (l *lifeline) start(s int, node dag.ID, attempt int) {
	if attempt == 1 {
		l.begun[node] = l.at(s)
	}
	l.add(s, dag.Event{Kind: dag.StepStarted, Node: node, Attempt: attempt})
}

func (l *lifeline) result(s int, node dag.ID, st dag.Status) *dag.Result {
	return &dag.Result{Status: st, Started: l.begun[node], Ended: l.at(s)}
}

func (l *lifeline) retry(s int, node dag.ID) {
	l.add(s, dag.Event{Kind: dag.StepRetrying, Node: node, Attempt: 1, Due: l.at(s + 10), Result: l.result(s, node, dag.Failed)})
}

func (l *lifeline) wait(s int, node dag.ID) {
	r := l.result(s, node, dag.Waiting)
	r.Ended, r.Wait = time.Time{}, &dag.Wait{Kind: "approval", Asks: true, Prompt: "Go?"}
	l.add(s, dag.Event{Kind: dag.StepWaiting, Node: node, Result: r})
}

func (l *lifeline) end(s int, node dag.ID, st dag.Status) {
	l.add(s, dag.Event{Kind: dag.StepFinished, Node: node, Result: l.result(s, node, st)})
}

func (l *lifeline) over(s int, st dag.Status) {
	l.add(s, dag.Event{Kind: dag.RunFinished, Result: &dag.Result{Status: st, Started: l.zero, Ended: l.at(s)}})
}

// resume records that the run is resumed, and that it had no owner for so many seconds.
func (l *lifeline) resume(s, idle int, reset ...dag.ID) {
	l.add(s, dag.Event{Kind: dag.RunResumed, Queued: time.Duration(idle) * time.Second, Reset: reset})
}

// check compares what all say about the run.
func (l *lifeline) check(ctx context.Context, want map[string][3]int) {
	l.t.Helper()
	past, err := engine.LoadRun(ctx, l.store, library.New(library.Config{}), "run")
	if err != nil {
		l.t.Fatal(err)
	}
	r := past.Result()
	now := r.AsOf
	folded := fold.New[struct{}](fold.Plan{})
	for i := range past.Events {
		folded.Apply(&past.Events[i])
	}
	type times struct {
		Took   int64 `json:"duration_ms"`
		Waited int64 `json:"waited_ms"`
		Idle   int64 `json:"idle_ms"`
	}
	var doc struct {
		times
		Started time.Time
		Steps   []struct {
			times
			ID string
		}
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	stats, err := runstats.Of(ctx, "under-test", []history.RunInfo{past.Info}, 1, func(_ context.Context, _ string, after uint64) ([]dag.Event, error) {
		return past.Events[after:], nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	of := func(d fold.Durations) times {
		return times{d.Took.Milliseconds(), d.Waited.Milliseconds(), d.Idle.Milliseconds()}
	}
	same := func(who string, got, want any) {
		l.t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			l.t.Errorf("%s: %v, want %v", who, got, want)
		}
	}
	run := of(folded.Durations(past.Info.Until(now)))
	same("run.v1", doc.times, run)
	same("run.v1, start", doc.Started.UnixMilli(), l.zero.UnixMilli())
	listed := rundocs.RunOf(past.Info, now)
	same("runs.v1", listed.DurationMS, run.Took)
	same("notification", notify.Rule{Message: "{run.duration}"}.Text(notify.Outcome{Result: r}), time.Duration(r.Duration().Round(time.Millisecond)))
	if past.Info.Status.Settled() && past.Info.Status != dag.Interrupted {
		same("stats", stats.Total.Max, run.Took)
		same("stats of the runs", stats.History.Runs[0].Duration, run.Took)
	}
	steps := map[string]times{"": run}
	for _, s := range doc.Steps {
		f := folded.Find(dag.ID(s.ID))
		if f == nil || f.Status == dag.Pending {
			same("run.v1, "+s.ID, s.times, times{})
			continue
		}
		steps[s.ID] = of(f.Durations(past.Info.Until(now)))
		same("run.v1, "+s.ID, s.times, steps[s.ID])
		for _, tally := range stats.Steps {
			if tally.Name == s.ID && f.Status.Settled() && tally.Runs == 1 {
				same("stats, "+s.ID, tally.Max, steps[s.ID].Took)
			}
		}
	}
	for path, w := range want {
		so := now.Sub(l.zero).Milliseconds()
		number := func(s int) int64 {
			if s < 0 {
				return so - int64(-s-1)*1000
			}
			return int64(s) * 1000
		}
		got := steps[path]
		for i, x := range []int64{got.Took, got.Waited, got.Idle} {
			if diff := x - number(w[i]); diff > 999 || diff < -999 {
				l.t.Errorf("%q: %+v, want %v", path, got, w)
			}
		}
	}
}
