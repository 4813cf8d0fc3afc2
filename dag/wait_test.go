package dag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// asks is a runner that asks, and fails when nobody has answered in time.
func asks(within time.Duration) dag.Runner {
	return runner(func(context.Context, *dag.Call) (dag.Result, error) {
		w := &dag.Wait{Kind: "question", Asks: true, Prompt: "go on?"}
		if within > 0 {
			w.Until, w.Then = time.Now().Add(within), &dag.Result{ExitCode: 1, Reason: "unanswered"}
		}
		return dag.Result{Status: dag.Waiting, Wait: w}, nil
	})
}

// pauses is a runner that waits for a time.
func pauses(d time.Duration) dag.Runner {
	return runner(func(context.Context, *dag.Call) (dag.Result, error) {
		return dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: "time", Until: time.Now().Add(d)}}, nil
	})
}

// person answers every question after a time.
type person struct {
	after   time.Duration
	says    func(path dag.ID) *dag.Result
	answers chan dag.Answer
}

func newPerson(after time.Duration, says func(dag.ID) *dag.Result) *person {
	return &person{after: after, says: says, answers: make(chan dag.Answer, 100)}
}

func yes(dag.ID) *dag.Result {
	return &dag.Result{Stdout: &dag.Output{Raw: "yes", Inline: "yes", Size: 3}}
}

func (p *person) Emit(e dag.Event) {
	if e.Kind == dag.StepWaiting && e.Result.Wait.Asks {
		a := dag.Answer{Node: e.Node, Wait: e.Seq, Result: p.says(e.Node)}
		time.AfterFunc(p.after, func() { p.answers <- a })
	}
}

func (p *person) options() dag.Options {
	return dag.Options{ID: "run", Slots: dag.NewSlots(1), Sinks: []dag.Sink{p}, Answers: p.answers, Attended: true}
}

func TestAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{},
			dag.Node{ID: "gate", Runner: asks(0)},
			dag.Node{ID: "beside", Runner: sleeps(time.Hour)}, // there is one slot, and who waits needs none
			dag.Node{ID: "last", After: []dag.ID{"gate"}, Runner: runner(func(_ context.Context, c *dag.Call) (dag.Result, error) {
				return dag.Result{Stdout: c.Result("gate").Stdout}, nil
			})})
		s := tells(t, t.Context(), g, newPerson(3*time.Hour, yes).options(), `
			0s run.started
			0s step.started gate
			0s step.waiting gate waiting
			0s step.started beside
			1h0m0s step.finished beside succeeded
			3h0m0s step.finished gate succeeded
			3h0m0s step.started last
			3h0m0s step.finished last succeeded
			3h0m0s run.finished succeeded
		`)
		s.All(func(path dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
			if path == "gate" && (r.Wait != nil || r.Ended.Sub(r.Started) != 3*time.Hour || r.Attempts != 1) {
				t.Errorf("the gate's result is %+v", r)
			}
		})
		if got := s.Result().Stdout.Raw; got != "yes" {
			t.Errorf("what was answered reached the last step as %q", got)
		}
	})
}

// TestEndOfWaitStands: neither another attempt nor a fallback follows a rejection or a
// timeout of a wait.
func TestEndOfWaitStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := dag.Policy{Attempts: 3, Fallback: answers(ok)}
		g := graph(t, dag.Settings{},
			dag.Node{ID: "no", Runner: asks(0), Policy: policy},
			dag.Node{ID: "late", Runner: asks(time.Minute), Policy: policy},
			dag.Node{ID: "limit", Runner: asks(0), Policy: dag.Policy{Attempts: 3, Timeout: 2 * time.Minute, Tolerate: true}},
			dag.Node{ID: "sooner", Runner: pauses(time.Second), Policy: dag.Policy{Timeout: time.Hour}})
		p := newPerson(time.Hour, func(dag.ID) *dag.Result { return nil })
		p.says = func(path dag.ID) *dag.Result {
			return &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: "rejected"}
		}
		tells(t, t.Context(), g, p.options(), `
			0s run.started
			0s step.started no
			0s step.waiting no waiting
			0s step.started late
			0s step.waiting late waiting
			0s step.started limit
			0s step.waiting limit waiting
			0s step.started sooner
			0s step.waiting sooner waiting
			1s step.finished sooner succeeded
			1m0s step.finished late failed (unanswered)
			2m0s step.finished limit timed-out (timeout)
			1h0m0s step.finished no failed (rejected)
			1h0m0s run.finished failed (rejected)
		`)
	})
}

// TestWaitWithoutEnd: a wait that nothing could end fails, and so does a wait as the result
// of a wait.
func TestWaitWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: "nothing"}}
		again := dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: "time", Until: time.Now().Add(time.Second), Then: &endless}}
		g := graph(t, dag.Settings{},
			dag.Node{ID: "a", Runner: answers(endless)},
			dag.Node{ID: "b", Runner: answers(dag.Result{Status: dag.Waiting})},
			dag.Node{ID: "c", Runner: answers(again)})
		tells(t, t.Context(), g, dag.Options{Slots: dag.NewSlots(1)}, `
			0s run.started
			0s step.started a
			0s step.finished a failed
			0s step.started b
			0s step.finished b failed
			0s step.started c
			0s step.waiting c waiting
			1s step.finished c failed
			1s run.finished failed
		`)
	})
}

// TestCancelWhileWaiting: a cancel ends waiting nodes. One that would also start after a
// cancel keeps waiting until the cleanup time ends, unless it asks a person.
func TestCancelWhileWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		settings dag.Settings
		nodes    []dag.Node
		want     string
	}{
		"by the caller": {nodes: []dag.Node{{ID: "a", Runner: asks(0)}, {ID: "b", Runner: pauses(48 * time.Hour)}}, want: `
			24h0m0s run.cancelling (cancelled)
			24h0m0s step.finished b cancelled (cancelled)
			24h0m0s step.finished a cancelled (cancelled)
			24h0m0s run.finished cancelled (cancelled)`},
		"by a limit": {settings: dag.Settings{Timeout: time.Hour}, nodes: []dag.Node{{ID: "a", Runner: asks(0)}, {ID: "b", Runner: pauses(48 * time.Hour)}}, want: `
			1h0m0s run.cancelling (timeout)
			1h0m0s step.finished b cancelled (timeout)
			1h0m0s step.finished a cancelled (timeout)
			1h0m0s run.finished timed-out (timeout)`},
		"by fail-fast": {settings: dag.Settings{FailFast: true}, nodes: []dag.Node{{ID: "a", Runner: asks(0)}, {ID: "b", Runner: asks(time.Minute)}}, want: `
			1m0s step.finished b failed (unanswered)
			1m0s run.cancelling (fail-fast)
			1m0s step.finished a cancelled (fail-fast)
			1m0s run.finished failed (unanswered)`},
		"what cleans up": {nodes: []dag.Node{
			{ID: "a", Runner: asks(0), When: always}, {ID: "b", Runner: pauses(24*time.Hour + 10*time.Second), When: always}, {ID: "c", Runner: pauses(48 * time.Hour), When: always},
			{ID: "d", After: []dag.ID{"a"}, Runner: pauses(5 * time.Second), When: always}, {ID: "e", After: []dag.ID{"a"}, Runner: asks(0), When: always}}, want: `
			24h0m0s run.cancelling (cancelled)
			24h0m0s step.finished a cancelled (cancelled)
			24h0m0s step.started d
			24h0m0s step.started e
			24h0m0s step.waiting d waiting
			24h0m0s step.waiting e waiting
			24h0m0s step.finished e cancelled (cancelled)
			24h0m5s step.finished d succeeded
			24h0m10s step.finished b succeeded
			24h1m0s step.finished c cancelled (cancelled)
			24h1m0s run.finished cancelled (cancelled)`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				var d diary
				p := newPerson(1000*time.Hour, yes)
				o := p.options()
				o.Slots, o.Sinks = dag.NewSlots(9), []dag.Sink{&d}
				if _, err := dag.Run(ctx, graph(t, c.settings, c.nodes...), nil, o); err != nil {
					t.Fatal(err)
				}
				got := "\n"
				for _, line := range d.lines[slices.IndexFunc(d.lines, func(l string) bool { return l[0] != '0' }):] {
					got += "\t\t\t" + line + "\n"
				}
				if got != c.want+"\n" {
					t.Errorf("afterwards\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

// rested runs g until it waits.
func rested(t *testing.T, g *dag.Graph, o dag.Options, log *[]dag.Event) *dag.State {
	t.Helper()
	o.ID = "run"
	o.Sinks = append(o.Sinks, dag.SinkFunc(func(e dag.Event) { *log = append(*log, e) }))
	s, err := dag.Run(t.Context(), g, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Result() != nil {
		t.Fatalf("the run has ended: %+v", s.Result())
	}
	return s
}

// resumed is a state of the log, and the options to continue with it.
func resumed(g *dag.Graph, log []dag.Event, rules dag.Rules, as ...dag.Answer) dag.Options {
	s := dag.NewState("run", g, nil)
	for _, e := range log {
		s.Apply(e)
	}
	given := make(chan dag.Answer, len(as))
	for _, a := range as {
		given <- a
	}
	return dag.Options{ID: "run", Carry: s, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: s.Remainder(rules).Reset}}, Answers: given, Slots: dag.NewSlots(1)}
}

// waitOf is the number of the event by which a step waits.
func waitOf(log []dag.Event, path dag.ID) (n uint64) {
	for _, e := range log {
		if e.Kind == dag.StepWaiting && e.Node == path {
			n = e.Seq
		}
	}
	return n
}

// TestOnlyAnswersLeft: Run returns when everything left waits for answers, continues when
// it is resumed with one, and returns again.
func TestOnlyAnswersLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{Timeout: time.Hour},
			dag.Node{ID: "one", Runner: asks(0)},
			dag.Node{ID: "nest", Bind: func(context.Context, *dag.Call) (dag.Args, error) { return "inner", nil },
				Graph: graph(t, dag.Settings{}, dag.Node{ID: "two", Runner: asks(24 * time.Hour)})},
			dag.Node{ID: "nap", Runner: pauses(30 * time.Minute)},
			dag.Node{ID: "last", After: []dag.ID{"one", "nest"}, Runner: answers(ok)})
		began := time.Now()
		var log []dag.Event
		s := rested(t, g, dag.Options{}, &log)
		if took := time.Since(began); took != 30*time.Minute {
			t.Errorf("the run rested after %v: a time is waited for", took)
		}
		var waits []string
		s.Waits(func(path dag.ID, wait uint64, r *dag.Result) {
			waits = append(waits, fmt.Sprint(path, " ", wait == waitOf(log, path), " ", r.Wait.Prompt))
		})
		if got := fmt.Sprint(waits); got != "[one true go on? nest/two true go on?]" {
			t.Errorf("what waits is %s", got)
		}

		time.Sleep(20 * time.Hour)
		o := resumed(g, log, dag.Rules{}, dag.Answer{Node: "one", Wait: waitOf(log, "one"), Result: &dag.Result{}},
			dag.Answer{Node: "one", Wait: waitOf(log, "one"), Result: &dag.Result{Status: dag.Failed}}, // the first stands
			dag.Answer{Node: "nest", Wait: 1, Result: &dag.Result{}}, dag.Answer{Node: "nobody", Result: &dag.Result{}},
			dag.Answer{Node: "nest/two", Wait: waitOf(log, "nest/two") + 1, Result: &dag.Result{}}) // of another time
		rested(t, g, o, &log)
		if last := log[len(log)-1]; last.Kind != dag.StepFinished || last.Node != "one" || last.Result.Status != dag.Succeeded {
			t.Errorf("the answer gave %+v", last)
		}

		// Half an hour and twenty hours are over: its own time continues while the run is interrupted.
		tells(t, t.Context(), g, func() dag.Options {
			o := resumed(g, log, dag.Rules{})
			o.Attended, o.Answers = true, make(chan dag.Answer)
			return o
		}(), `
			0s run.resumed
			1h0m0s run.cancelling (timeout)
			1h0m0s step.finished nest/two cancelled (timeout)
			1h0m0s step.finished nest cancelled (timeout)
			1h0m0s step.finished last cancelled (timeout)
			1h0m0s run.finished timed-out (timeout)
		`)
		time.Sleep(10 * time.Hour)
		tells(t, t.Context(), g, resumed(g, log, dag.Rules{}), `
			0s run.resumed
			0s step.finished nest/two failed (unanswered)
			0s step.finished nest failed (unanswered)
			0s step.finished last skipped (upstream-failed)
			0s run.finished failed (unanswered)
		`)
		// An answer that was there in time stands, however late the run is resumed.
		tells(t, t.Context(), g, resumed(g, log, dag.Rules{}, dag.Answer{Node: "nest/two", Wait: waitOf(log, "nest/two"), Result: &dag.Result{}}), `
			0s run.resumed
			0s step.finished nest/two succeeded
			0s step.finished nest succeeded
			0s step.started last
			0s step.finished last succeeded
			0s run.finished succeeded
		`)
		// Sent back, it asks anew, and the old answer is none to that.
		o = resumed(g, log, dag.Rules{From: []dag.ID{"nest"}}, dag.Answer{Node: "nest/two", Wait: waitOf(log, "nest/two"), Result: &dag.Result{}})
		was := waitOf(log, "nest/two")
		rested(t, g, o, &log)
		if waitOf(log, "nest/two") == was {
			t.Error("what was sent back does not ask anew")
		}
	})
}

// TestAttended: the run continues while somebody is asked, and returns when every question
// is left to others or nobody is there any more.
func TestAttended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: asks(0)}, dag.Node{ID: "b", Runner: asks(0)})
		leaves := newPerson(time.Hour, func(dag.ID) *dag.Result { return nil })
		began := time.Now()
		var log []dag.Event
		rested(t, g, leaves.options(), &log)
		if took := time.Since(began); took != time.Hour {
			t.Errorf("the run rested after %v", took)
		}
		gone := make(chan dag.Answer)
		time.AfterFunc(2*time.Hour, func() { close(gone) })
		rested(t, g, dag.Options{Answers: gone, Attended: true}, &log)
		if took := time.Since(began); took != 3*time.Hour {
			t.Errorf("the run rested after %v", took)
		}
	})
}

// TestOnlyAnswersLeftIsDurable: when Run returns because of answers, everything is durable.
func TestOnlyAnswersLeftIsDurable(t *testing.T) {
	g := graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: asks(0)})
	j := &cutJournal{lives: 100}
	if _, err := dag.Run(t.Context(), g, nil, dag.Options{Journal: j}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(j.synced, len(j.events)); got != "[3] 3" {
		t.Errorf("synced %s", got)
	}
	bad := errors.New("the disk is full")
	if _, err := dag.Run(t.Context(), g, nil, dag.Options{Journal: unsynced{bad}}); !errors.Is(err, bad) {
		t.Errorf("the error is %v", err)
	}
}

type unsynced struct{ err error }

func (unsynced) Append(context.Context, []dag.Event) error { return nil }
func (u unsynced) Sync(context.Context) error              { return u.err }

// TestLoopOfWaits: in a loop with Parallel waiting items count; without it they do not.
func TestLoopOfWaits(t *testing.T) {
	for parallel, want := range map[int]int{0: 20, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			g := graph(t, dag.Settings{}, loopOver("l", dag.Each{Items: count(20), Item: dag.Node{Runner: asks(0)}, Parallel: parallel}))
			var log []dag.Event
			s := rested(t, g, dag.Options{Slots: dag.NewSlots(2)}, &log)
			asked := 0
			s.Waits(func(dag.ID, uint64, *dag.Result) { asked++ })
			if asked != want {
				t.Errorf("with %d at once, %d ask, want %d", parallel, asked, want)
			}
			o := resumed(g, log, dag.Rules{})
			p := newPerson(time.Minute, yes)
			o.Answers, o.Attended, o.Sinks = p.answers, true, []dag.Sink{p}
			s.Waits(func(path dag.ID, wait uint64, r *dag.Result) {
				p.answers <- dag.Answer{Node: path, Wait: wait, Result: yes(path)}
			})
			end, err := dag.Run(t.Context(), g, nil, o)
			if err != nil || end.Result().Status != dag.Succeeded {
				t.Errorf("resumed, the loop ends %+v, %v", end.Result(), err)
			}
		})
	}
}

// TestHeld checks that what waits for a step with an open question is held, directly or not, in nested graphs and behind
// them, and that everything else that never started is left.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := func(id dag.ID, up ...dag.ID) dag.Node { return dag.Node{ID: id, After: up, Runner: answers(ok)} }
		g := graph(t, dag.Settings{},
			dag.Node{ID: "one", Runner: asks(0)}, after("behind-one", "one"), after("later", "behind-one"),
			dag.Node{ID: "nest", Graph: graph(t, dag.Settings{}, dag.Node{ID: "two", Runner: asks(0)}, after("in", "two"))},
			after("behind-nest", "nest"), after("behind-both", "one", "nest"))
		var log []dag.Event
		s := rested(t, g, dag.Options{}, &log)
		for _, c := range []struct {
			open       []dag.ID
			left, held string
		}{
			{nil, "[behind-one later nest/in behind-nest behind-both]", "[]"},
			{[]dag.ID{"one"}, "[nest/in behind-nest]", "[behind-one later behind-both]"},
			{[]dag.ID{"nest/two"}, "[behind-one later]", "[nest/in behind-nest behind-both]"},
			{[]dag.ID{"one", "nest/two"}, "[]", "[behind-one later nest/in behind-nest behind-both]"},
		} {
			r := s.Remainder(dag.Rules{Open: c.open})
			if left, held := fmt.Sprint(r.Left), fmt.Sprint(r.Held); left != c.left || held != c.held {
				t.Errorf("open %v: left %s, held %s", c.open, left, held)
			}
		}
	})
}
