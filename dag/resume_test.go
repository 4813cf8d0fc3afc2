package dag

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// resumeFrom lets a driver continue where a journal ends, as a resume does: everything
// that ran when flowrun was killed runs again.
func (d *driver) resumeFrom(s *State) *Remainder {
	rest := s.Remainder(Rules{Rerun: func(ID, *Node) bool { return true }})
	d.take(s)
	for _, id := range rest.Reset {
		maps.DeleteFunc(d.due, func(path ID, _ time.Time) bool { return isInside(path, id) })
		for key := range d.begun {
			if name, _, _ := strings.Cut(key, " try "); isInside(ID(name), id) {
				delete(d.begun, key)
			}
		}
	}
	d.apply(&Event{Kind: RunResumed, Reset: rest.Reset})
	d.rebind(s.root)
	return rest
}

// isInside says whether a path is id or inside it, in whichever try.
func isInside(path, id ID) bool {
	rest, ok := strings.CutPrefix(string(path), string(id))
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '#' || rest[0] == '[')
}

func (d *driver) rebind(f *frame) {
	for i := range f.nodes {
		c := f.children[int32(i)]
		if f.nodes[i].status != Running || c == nil {
			continue
		}
		if c.bound {
			d.rebind(c)
		} else {
			d.out = append(d.out, job{at: place{f, int32(i)}, bind: true})
		}
	}
}

// TestResumeAnywhere: a run whose owner was killed in any turn, and which was resumed, ends
// as if nothing had happened, and runs nothing again that had settled.
func TestResumeAnywhere(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, total := oracle(steps, "", false)
		g := graphOf(t, steps, Settings{})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		crash := rapid.IntRange(1, 60).Draw(t, "crash in turn")
		d.turns = func(turn int) {
			if turn != crash || d.state.result != nil {
				return
			}
			s := replay(t, g, d.log)
			well := settledWell(s.root)
			rest := d.resumeFrom(s)
			well = slices.DeleteFunc(well, func(path ID) bool {
				return slices.ContainsFunc(rest.Reset, func(id ID) bool { return path != id && isInside(path, id) })
			})
			if i := slices.IndexFunc(well, func(path ID) bool { return slices.Contains(rest.Reset, path) }); i >= 0 {
				t.Fatalf("item %s settled well and is sent back", well[i])
			}
			before := len(d.log)
			d.decide()
			d.turns = func(int) { neverAgain(t, slices.Concat(rest.Kept, well), d.log[before:]) }
		}
		d.run()
		if diff := cmp.Diff(want, states(d.state)); diff != "" {
			t.Fatalf("end states (-rules +driver):\n%s", diff)
		}
		if got := d.state.Result().Status.String(); got != total {
			t.Fatalf("the run ends %s, want %s", got, total)
		}
		if diff := cmp.Diff(want, states(replay(t, g, d.log))); diff != "" {
			t.Fatalf("replayed (-rules +replay):\n%s", diff)
		}
	})
}

// settledWell are the items that settled well of loops that have not ended.
func settledWell(f *frame) (paths []ID) {
	for i, n := range f.nodes {
		if c := f.children[int32(i)]; c != nil && n.status == Running {
			paths = append(paths, settledWell(c)...)
		}
		if _, loops := f.walk.(*loopWalk); loops && n.status.Settled() && !n.res.taints() {
			paths = append(paths, f.path(int32(i)))
		}
	}
	return paths
}

func neverAgain(t *rapid.T, kept []ID, log []Event) {
	for _, e := range log {
		if e.Kind == StepStarted && slices.Contains(kept, e.Node) {
			t.Fatalf("%s was kept and started again", e.Node)
		}
	}
}

// TestResumeAfterCancel: a run that was cancelled at any moment and resumed ends as if it
// had not been cancelled, except for steps whose condition looks at the cancel.
func TestResumeAfterCancel(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := scriptGen().Filter(blind).Draw(t, "script")
		want, _ := oracle(steps, "", false)
		g := graphOf(t, steps, Settings{FailFast: false})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		when := rapid.IntRange(1, 60).Draw(t, "cancel in turn")
		d.turns = func(turn int) {
			if turn == when && d.state.result == nil {
				d.cancel()
				d.decide()
			}
		}
		d.run()
		d.turns = nil
		for again := 0; again < 2; again++ { // resuming what has ended changes nothing
			d.resumeFrom(replay(t, g, d.log))
			d.run()
			if diff := cmp.Diff(want, states(d.state)); diff != "" {
				t.Fatalf("end states (-rules +driver):\n%s", diff)
			}
		}
	})
}

// blind says that no step looks at the cancel.
func blind(steps []step) bool {
	return !slices.ContainsFunc(steps, func(s step) bool {
		return strings.Contains(s.when, "cancel") || strings.Contains(s.when, "always") || !blind(s.inner) ||
			s.loop != nil && !blind([]step{s.loop.item})
	})
}
