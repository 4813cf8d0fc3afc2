package dag

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// upstream is a way for a step to reach an end state.
type upstream struct {
	name  string
	bad   bool
	steps func(id string) []step
	after string // "cancel": only a cancelled run has it
	told  bool   // an end that only a journal can tell: Run never reaches it
}

// one is an upstream step alone.
func one(s step) func(string) []step {
	return func(id string) []step { s.id = id; return []step{s} }
}

// loops is an upstream step that goes over items which end as the words say.
func loops(s step, least int, words ...string) func(string) []step {
	s.loop = &loopStep{least: least, numbered: true, keys: words}
	for _, w := range words {
		s.loop.words = append(s.loop.words, []string{w})
	}
	return one(s)
}

var upstreams = []upstream{
	{name: "succeeded", steps: one(step{})},
	{name: "reused", steps: one(step{tries: []string{"reused"}})},
	{name: "failed", bad: true, steps: one(step{tries: []string{"fail"}})},
	{name: "failed, tolerated", steps: one(step{tries: []string{"fail"}, tolerate: true})},
	{name: "timed-out", bad: true, steps: one(step{tries: []string{"timeout"}})},
	{name: "timed-out, tolerated", steps: one(step{tries: []string{"timeout"}, tolerate: true})},
	{name: "failed, then a fallback", steps: one(step{tries: []string{"fail"}, fallback: "ok"})},
	{name: "skipped (condition)", steps: one(step{when: "{a.output} == 'y'"})},
	{name: "skipped (upstream-failed)", bad: true, steps: func(id string) []step {
		return []step{{id: id + "-before", tries: []string{"fail"}}, {id: id, after: []string{id + "-before"}}}
	}},
	{name: "failed (condition)", bad: true, steps: one(step{when: "{a.output} > 1"})},
	{name: "rejected", bad: true, steps: one(step{tries: []string{"ask-fail"}})},
	{name: "a loop that succeeded", steps: loops(step{}, 0, "ok", "ok")},
	{name: "a loop over nothing", steps: loops(step{}, 0)},
	{name: "a loop that failed", bad: true, steps: loops(step{}, 0, "ok", "fail")},
	{name: "a loop that failed, tolerated", steps: loops(step{tolerate: true}, 0, "ok", "fail")},
	{name: "a loop with a failed item, of which one must succeed", steps: loops(step{}, 1, "ok", "fail")},
	{name: "cancelled", after: "cancel", steps: one(step{tries: []string{"hang"}})},
	{name: "interrupted", bad: true, told: true, steps: one(step{})},
}

// scene is three upstream steps, a probe that waits for all of them, and, where
// the run is cancelled, a step that is still running when that happens.
func scene(ups []upstream, cond string, cancelled bool) []step {
	var steps []step
	var after []string
	for i, u := range ups {
		id := fmt.Sprintf("u%d", i+1)
		steps = append(steps, u.steps(id)...)
		after = append(after, id)
	}
	if cancelled {
		steps = append(steps, step{id: "gate", tries: []string{"hang"}})
		after = append(after, "gate")
	}
	return append(steps, step{id: "probe", after: after, when: cond})
}

// expected is the probe's end and the run's, by the rules.
func expected(ups []upstream, cond string, cancelled bool) (probe, run string) {
	tainted := false
	for _, u := range ups {
		tainted = tainted || u.bad
	}
	probe = strings.Replace(decision(cond, tainted, cancelled), "runs", "succeeded", 1)
	switch {
	case cancelled:
		return probe, "cancelled"
	case tainted, probe == "failed": // behind every taint there is a failure
		return probe, "failed"
	}
	return probe, "succeeded"
}

// TestTruthTable goes through every combination of three upstream end states, every
// condition, cancelled or not, by hand over Next and Apply.
func TestTruthTable(t *testing.T) {
	cases := 0
	for _, cond := range conditions {
		for _, cancelled := range []bool{false, true} {
			graphs := map[string]*Graph{}
			each(3, func(ups []upstream) {
				if sizetest.Chosen() == sizetest.Small && ups[1].name != ups[2].name {
					return // two different end states beside each other are enough
				}
				if !paired(ups) || !cancelled && slices.ContainsFunc(ups, func(u upstream) bool { return u.after == "cancel" }) {
					return // cannot be
				}
				cases++
				s := drive(t, graphs, ups, cond.name, cancelled)
				probe, run := expected(ups, cond.name, cancelled)
				if got := states(s)["probe"]; got != probe {
					t.Fatalf("%s, condition %q, cancelled %v: the probe ends %q, want %q", names(ups), cond.name, cancelled, got, probe)
				}
				if got := s.Result().Status.String(); got != run {
					t.Fatalf("%s, condition %q, cancelled %v: the run ends %s, want %s", names(ups), cond.name, cancelled, got, run)
				}
			})
		}
	}
	t.Logf("%d combinations", cases)
}

// paired keeps the ways a loop can end, beside two others, to where those are the
// same: all of them would take long.
func paired(ups []upstream) bool {
	loop := slices.ContainsFunc(ups, func(u upstream) bool { return strings.HasPrefix(u.name, "a loop") })
	return !loop || ups[1].name == ups[2].name
}

func each(n int, visit func([]upstream)) {
	ups := make([]upstream, n)
	var rec func(i int)
	rec = func(i int) {
		if i == n {
			visit(ups)
			return
		}
		for _, ups[i] = range upstreams {
			rec(i + 1)
		}
	}
	rec(0)
}

func names(ups []upstream) string {
	var ns []string
	for _, u := range ups {
		ns = append(ns, u.name)
	}
	return strings.Join(ns, " + ")
}

// drive runs one scene by hand. Steps that hang report last, once the cancel has
// come.
func drive(t *testing.T, graphs map[string]*Graph, ups []upstream, cond string, cancelled bool) *State {
	key := names(ups)
	if graphs[key] == nil {
		graphs[key] = graphOf(t, scene(ups, cond, cancelled), Settings{})
	}
	d := newDriver(t, graphs[key], 100, nil)
	is := func(j job, name string) bool {
		id := j.at.f.def(j.at.i).ID
		return len(id) == 2 && ups[id[1]-'1'].name == name
	}
	d.lost = func(j job) bool { return is(j, "interrupted") }
	d.pick = func(int) int {
		i := slices.IndexFunc(d.out, func(j job) bool {
			return j.at.f.def(j.at.i).ID != "gate" && !is(j, "cancelled")
		})
		if i < 0 && len(d.asked) > 0 {
			return len(d.out)
		}
		if i < 0 && d.state.root.stopped == "" {
			d.cancel()
		}
		return max(i, 0)
	}
	d.run()
	return d.state
}

// TestTruthTableRun goes through the same combinations, in any order of the three,
// with Run.
func TestTruthTableRun(t *testing.T) {
	for _, cond := range conditions {
		for _, cancelled := range []bool{false, true} {
			each(3, func(ups []upstream) {
				if !paired(ups) || !runnable(ups, cancelled) {
					return
				}
				s := runScene(t, ups, cond.name, cancelled)
				probe, run := expected(ups, cond.name, cancelled)
				got := []string{states(s)["probe"], s.Result().Status.String()}
				if diff := cmp.Diff([]string{probe, run}, got); diff != "" {
					t.Fatalf("%s, condition %q, cancelled %v: %s", names(ups), cond.name, cancelled, diff)
				}
			})
		}
	}
}

// runnable keeps one order of each three, of what Run can reach.
func runnable(ups []upstream, cancelled bool) bool {
	last := -1
	for _, u := range ups {
		i := slices.IndexFunc(upstreams, func(x upstream) bool { return x.name == u.name })
		if i < last || u.told || u.after == "cancel" && !cancelled {
			return false
		}
		last = i
	}
	return true
}

// runScene cancels the run when only steps that hang are left.
func runScene(t *testing.T, ups []upstream, cond string, cancelled bool) *State {
	g := graphOf(t, scene(ups, cond, cancelled), Settings{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	left := g.Len() - 1 // the probe
	for _, u := range append(slices.Clone(ups), upstream{name: "cancelled"}) {
		if u.name == "cancelled" && cancelled {
			left--
		}
	}
	given := make(chan Answer, len(ups))
	s, err := Run(ctx, g, nil, Options{Slots: NewSlots(8), Answers: given, Attended: true, Sinks: []Sink{SinkFunc(func(e Event) {
		if a := asked(e); a != nil {
			given <- *a
		}
		if e.Kind == StepFinished && !strings.HasSuffix(string(e.Node), "]") {
			left--
		}
		if left == 0 && cancelled {
			cancel()
		}
	})}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
