package runstats_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/runstats"
)

// TestUsage checks the percentiles of what the attempts of a step used.
func TestUsage(t *testing.T) {
	start := time.Unix(1000, 0).UTC()
	var list []dag.Event
	for i := range 20 {
		node := dag.ID("each[" + strconv.Itoa(i) + "]")
		list = append(list, dag.Event{V: dag.EventVersion, Seq: uint64(2*i + 1), Kind: dag.StepStarted, Node: node, Attempt: 1, Time: start},
			dag.Event{V: dag.EventVersion, Seq: uint64(2*i + 2), Kind: dag.StepFinished, Node: node, Attempt: 1, Time: start, Result: &dag.Result{Status: dag.Succeeded, Started: start, Ended: start,
				Usage: dag.Usage{User: time.Duration(i) * time.Second, System: time.Second, MaxRSS: int64(i/10) * 1000}}})
	}
	list = append(list, dag.Event{V: dag.EventVersion, Seq: 41, Kind: dag.StepStarted, Node: "quick", Attempt: 1, Time: start},
		dag.Event{V: dag.EventVersion, Seq: 42, Kind: dag.StepFinished, Node: "quick", Attempt: 1, Time: start,
			Result: &dag.Result{Status: dag.Succeeded, Started: start, Ended: start, Usage: dag.Usage{User: 400 * time.Microsecond}}})
	s, err := runstats.Of(t.Context(), "tool", []history.RunInfo{{ID: "one", Status: dag.Succeeded, Started: start, Ended: start}}, 1, func(_ context.Context, _ string, after uint64) ([]dag.Event, error) {
		return list[after:], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Steps[0]; *got.CPU50 != 10_000 || *got.CPU95 != 19_000 || *got.RSS50 != 1000 || *got.RSS95 != 1000 {
		t.Errorf("%+v", got)
	}
	if got := s.Steps[1]; got.CPU50 == nil || *got.CPU50 != 0 || got.RSS50 != nil { // 0 and unknown are two things
		t.Errorf("less than a millisecond of CPU time: %+v", got)
	}
	if got := s.Total; got.CPU50 != nil || got.RSS95 != nil {
		t.Errorf("of whole runs nothing is known: %+v", got)
	}
}

// TestGrid checks how steps ended in each run: a step inside a loop has the worst result of all
// items, and a step that a run did not reach has none.
func TestGrid(t *testing.T) {
	start := time.Unix(1000, 0).UTC()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var seq uint64
	began := func(s int, node dag.ID) dag.Event {
		seq++
		return dag.Event{V: dag.EventVersion, Seq: seq, Kind: dag.StepStarted, Node: node, Attempt: 1, Time: at(s)}
	}
	ended := func(s int, node dag.ID, st dag.Status) dag.Event {
		seq++
		return dag.Event{V: dag.EventVersion, Seq: seq, Kind: dag.StepFinished, Node: node, Attempt: 1, Time: at(s), Result: &dag.Result{Status: st, Started: start, Ended: at(s)}}
	}
	events := map[string][]dag.Event{
		"new": {began(0, "build"), ended(1, "build", dag.Succeeded), began(1, "each"), began(1, "each[0]"), ended(2, "each[0]", dag.Failed), began(1, "each[1]"), ended(4, "each[1]", dag.Succeeded),
			ended(4, "each", dag.Succeeded), began(4, "group"), began(4, "group/a[x]"), ended(5, "group/a[x]", dag.TimedOut), ended(5, "group/a[y]", dag.Succeeded), ended(6, "group", dag.Failed)},
		"old": {began(0, "gone"), ended(2, "gone", dag.Skipped), began(0, "build"), ended(3, "build", dag.Failed)},
	}
	runs := []history.RunInfo{{ID: "new", Status: dag.Failed, Started: start, Ended: at(6)}, {ID: "old", Status: dag.Succeeded, Started: start, Ended: at(3)}}
	s, err := runstats.Of(t.Context(), "tool", runs, 1, func(_ context.Context, id string, after uint64) (list []dag.Event, err error) {
		for _, e := range events[id] {
			if e.Seq > after {
				list = append(list, e)
			}
		}
		return list, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.History.Sort([]string{"group", "group/a", "build", "each"})
	got, err := json.Marshal(s.History.Steps)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"group","states":["failed",""]},{"name":"group/a","states":["timed-out",""]},{"name":"build","states":["succeeded","failed"]},{"name":"each","states":["succeeded",""]},{"name":"gone","states":["","skipped"]}]`
	if string(got) != want {
		t.Errorf("the grid is %s", got)
	}
	if s.Total.Runs != 2 || s.Total.Rate != 0.5 || s.Total.P95 != 6000 || s.History.Runs[1].Duration != 3000 {
		t.Errorf("%+v %+v", s.Total, s.History.Runs)
	}
}

// TestFlakyAndTrend checks how retries are counted, and which runs are compared with which.
func TestFlakyAndTrend(t *testing.T) {
	start := time.Unix(1000, 0).UTC()
	type end struct {
		status   dag.Status
		attempts int
		fallback bool
		seconds  int
	}
	var runs []history.RunInfo
	events := map[string][]dag.Event{}
	for i, e := range []end{ // newest first
		{dag.Succeeded, 1, false, 6}, {dag.Failed, 3, false, 8},
		{dag.Succeeded, 2, false, 2}, {dag.Succeeded, 3, true, 2}, {dag.Succeeded, 1, false, 1},
	} {
		id, ended := strconv.Itoa(i), start.Add(time.Duration(e.seconds)*time.Second)
		runs = append(runs, history.RunInfo{ID: id, Status: e.status, Started: start, Ended: ended})
		events[id] = []dag.Event{{V: dag.EventVersion, Seq: 1, Kind: dag.StepStarted, Node: "load", Attempt: 1, Time: start},
			{V: dag.EventVersion, Seq: 2, Kind: dag.StepFinished, Node: "load", Attempt: e.attempts, Time: ended,
				Result: &dag.Result{Status: e.status, Attempts: e.attempts, Fallback: e.fallback, Started: start, Ended: ended}}}
	}
	s, err := runstats.Of(t.Context(), "tool", runs, 2, func(_ context.Context, id string, after uint64) ([]dag.Event, error) {
		return events[id][after:], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tally := range []*runstats.Tally{s.Total, s.Steps[0]} {
		now, before := tally.Recent, tally.Earlier
		if tally.Flaky != 1 || tally.FlakyRate != 0.2 || now.Runs != 2 || now.Rate != 0.5 || now.FlakyRate != 0 || now.P50 != 6000 ||
			before.Runs != 3 || before.Rate != 1 || before.FlakyRate != 1./3 || before.P50 != 2000 {
			t.Errorf("%+v recent %+v earlier %+v", tally, now, before)
		}
	}
	if s.Total.Attempts != 0 || s.Steps[0].Attempts != 10 || s.Steps[0].MaxAttempts != 3 {
		t.Errorf("%+v %+v", s.Total, s.Steps[0])
	}
}
