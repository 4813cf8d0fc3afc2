package fold

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// TestDurations holds what counts as waiting and what as time without an owner, of a run, of a
// group and of the steps in it. All times are seconds.
func TestDurations(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	started := func(s int, node dag.ID) dag.Event {
		return dag.Event{Kind: dag.StepStarted, Node: node, Attempt: 1, Time: at(s)}
	}
	waiting := func(s int, node dag.ID) dag.Event {
		return dag.Event{Kind: dag.StepWaiting, Node: node, Time: at(s), Result: &dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: "time"}}}
	}
	ended := func(s int, node dag.ID, st dag.Status) dag.Event {
		return dag.Event{Kind: dag.StepFinished, Node: node, Time: at(s), Result: &dag.Result{Status: st}}
	}
	run := func(s int, kind dag.Kind, queued int, reset ...dag.ID) dag.Event {
		return dag.Event{Kind: kind, Time: at(s), Queued: time.Duration(queued) * time.Second, Reset: reset}
	}
	over := func(s int, st dag.Status) dag.Event {
		return dag.Event{Kind: dag.RunFinished, Time: at(s), Result: &dag.Result{Status: st}}
	}
	for name, c := range map[string]struct {
		events []dag.Event
		now    int
		want   map[dag.ID][3]int // took, waited, idle; "" is the run
	}{
		"the time in the queue counts": {[]dag.Event{run(10, dag.RunStarted, 4), over(12, dag.Succeeded)}, 99, map[dag.ID][3]int{"": {6, 0, 0}}},
		"a wait counts, and is told apart": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "gate"), waiting(1, "gate"), ended(17, "gate", dag.Succeeded), over(18, dag.Succeeded)}, 99,
			map[dag.ID][3]int{"": {18, 16, 0}, "gate": {17, 16, 0}}},
		"a run that waits has taken so long": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "gate"), waiting(1, "gate")}, 21, map[dag.ID][3]int{"": {21, 20, 0}, "gate": {21, 20, 0}}},
		"it does not wait while another step runs": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "gate"), started(0, "work"), waiting(1, "gate"), ended(5, "work", dag.Succeeded)}, 8,
			map[dag.ID][3]int{"": {8, 3, 0}, "gate": {8, 7, 0}, "work": {5, 0, 0}}},
		"a group waits if all that is active in it waits": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "work"), started(0, "group"), started(0, "group/gate"), waiting(2, "group/gate"),
			ended(6, "group/gate", dag.Succeeded), ended(7, "group", dag.Succeeded)}, 9, map[dag.ID][3]int{"": {9, 0, 0}, "group": {7, 4, 0}}},
		"a suspended run waits, with or without an owner": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "gate"), waiting(1, "gate"), run(30, dag.RunResumed, 29), ended(31, "gate", dag.Succeeded)}, 32,
			map[dag.ID][3]int{"": {32, 30, 0}, "gate": {31, 30, 0}}},
		"a failed run is idle until it is resumed": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "a"), ended(10, "a", dag.Failed), over(10, dag.Failed), run(100, dag.RunResumed, 90, "a"),
			started(101, "a"), ended(105, "a", dag.Succeeded), over(106, dag.Succeeded)}, 999, map[dag.ID][3]int{"": {106, 0, 90}, "a": {4, 0, 0}}},
		"a killed one from its last sign of life": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "a"), run(100, dag.RunResumed, 20, "a"), started(101, "a")}, 105,
			map[dag.ID][3]int{"": {105, 0, 20}, "a": {4, 0, 0}}},
		"of one that an earlier version resumed, from its last event": {[]dag.Event{run(0, dag.RunStarted, 0), started(7, "a"), run(100, dag.RunResumed, 0, "a")}, 105, map[dag.ID][3]int{"": {105, 0, 93}, "a": {0, 0, 0}}},
		"a group that continues was idle too": {[]dag.Event{run(0, dag.RunStarted, 0), started(0, "g"), started(0, "g/a"), ended(10, "g/a", dag.Failed), ended(10, "g", dag.Failed), over(10, dag.Failed),
			run(50, dag.RunResumed, 40, "g/a"), started(51, "g/a"), ended(55, "g/a", dag.Succeeded), ended(56, "g", dag.Succeeded)}, 60, map[dag.ID][3]int{"": {60, 0, 40}, "g": {56, 0, 40}}},
		"the clock was set back": {[]dag.Event{run(50, dag.RunStarted, 0), started(50, "a"), ended(10, "a", dag.Succeeded), over(10, dag.Succeeded)}, 5, map[dag.ID][3]int{"": {0, 0, 0}, "a": {0, 0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := New[struct{}](Plan{})
			for i := range c.events {
				r.Apply(&c.events[i])
			}
			for path, want := range c.want {
				d := r.Durations(at(c.now))
				if path != "" {
					d = r.Find(path).Durations(at(c.now))
				}
				if got := [3]int{int(d.Took.Seconds()), int(d.Waited.Seconds()), int(d.Idle.Seconds())}; got != want {
					t.Errorf("%q: took, waited, idle are %v, want %v", path, got, want)
				}
			}
		})
	}
}

// TestResultTimes: once there is a result, its times count, and those of the events do not.
func TestResultTimes(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	r := New[struct{}](Plan{})
	for _, e := range []dag.Event{{Kind: dag.RunStarted, Time: at(0)}, {Kind: dag.StepStarted, Node: "a", Attempt: 1, Time: at(1)},
		{Kind: dag.StepFinished, Node: "a", Time: at(84), Result: &dag.Result{Status: dag.Succeeded, Started: at(3), Ended: at(81)}}} {
		r.Apply(&e)
	}
	if got := r.Find("a").Durations(at(999)).Took; got != 78*time.Millisecond {
		t.Errorf("the step took %v, want 78ms", got)
	}
}
