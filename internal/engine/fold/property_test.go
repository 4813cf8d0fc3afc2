package fold_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

// TestSameAsState runs random graphs, each resumed several times from a prefix of its
// events, as after a crash. After each event the fold agrees with the State about every
// step, and in the end folding the recorded events gives the same as folding the live ones.
func TestSameAsState(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		d := &drawing{T: t, left: 25}
		g := d.graph(3)
		live := fold.New[struct{}](fold.Plan{})
		var journal []dag.Event
		for life := range rapid.IntRange(1, 3).Draw(t, "lives") {
			d.life, d.calls = life, atomic.Int32{}
			ctx, cancel := context.WithCancel(context.Background())
			d.cancel, d.cancelAt = cancel, int32(rapid.IntRange(-20, 20).Draw(t, "cancel at"))
			state := dag.NewState("run", g, nil)
			o := dag.Options{ID: "run", Slots: dag.NewSlots(3)}
			if life > 0 {
				journal = journal[:rapid.IntRange(1, len(journal)).Draw(t, "crash after")]
				state = folded(g, journal)
				live = fold.New[struct{}](fold.Plan{}) // who shows the run has what was recorded
				for i := range journal {
					live.Apply(&journal[i])
				}
				o.Carry, o.Opening = folded(g, journal), d.opening(state)
			}
			o.Sinks = []dag.Sink{dag.SinkFunc(func(e dag.Event) {
				e = recorded(t, e)
				journal = append(journal, e)
				live.Apply(&e)
				state.Apply(e)
				compare(t, &e, live, state)
			})}
			if _, err := dag.Run(ctx, g, nil, o); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		again := fold.New[struct{}](fold.Plan{})
		for i := range journal {
			again.Apply(&journal[i])
		}
		if diff := cmp.Diff(picture(live), picture(again)); diff != "" {
			t.Fatalf("live is -, recorded is +\n%s", diff)
		}
	})
}

// recorded is an event as a journal gives it back.
func recorded(t *rapid.T, e dag.Event) (back dag.Event) {
	b, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func folded(g *dag.Graph, journal []dag.Event) *dag.State {
	s := dag.NewState("run", g, nil)
	for _, e := range journal {
		s.Apply(e)
	}
	return s
}

// compare holds a fold against the State of the same events.
func compare(t *rapid.T, e *dag.Event, r *fold.Run[struct{}], s *dag.State) {
	ended, failed := map[dag.ID]fold.Counts{}, map[dag.ID]int{}
	s.All(func(path dag.ID, _ *dag.Node, status dag.Status, res *dag.Result) {
		step := r.Find(path)
		switch {
		case step != nil && step.Status != status:
			t.Fatalf("after %s %s %v: %s is %s, and %s in the fold", e.Kind, e.Node, e.Reset, path, status, step.Status)
		case step == nil && status != dag.Pending && !status.Settled():
			t.Fatalf("after %s %s %v: %s is %s, and not in the fold", e.Kind, e.Node, e.Reset, path, status)
		}
		if status.Settled() {
			up := dag.ID("")
			if around := path.Ancestors(); len(around) > 0 {
				up = around[len(around)-1].WithoutAttempts()
			}
			c := ended[up]
			switch {
			case status == dag.Succeeded || status == dag.Reused:
				c.Good++
			case status != dag.Failed && status != dag.TimedOut:
				c.Other++
			case res.Tolerated:
				c.Tolerated++
			default:
				c.Failed++
				failed[up]++
			}
			ended[up] = c
		}
	})
	if got, want := r.Settled, ended[""]; got != want.All() || r.Root.Inside.Ended != want {
		t.Fatalf("after %s %s %v: %d settled %+v, want %+v", e.Kind, e.Node, e.Reset, got, r.Root.Inside.Ended, want)
	}
	s.All(func(path dag.ID, n *dag.Node, _ dag.Status, _ *dag.Result) {
		step, loop := r.Find(path), s.Expanded(path)
		if step == nil || loop == nil || !step.IsLoop() || step.Inside.Items == 0 {
			return
		}
		if want := ended[path.WithoutAttempts()]; step.Inside.Ended != want || step.Inside.Items != loop.Items {
			t.Fatalf("after %s %s %v: of %d items of %s %+v, want %d and %+v", e.Kind, e.Node, e.Reset, step.Inside.Items, path, step.Inside.Ended, loop.Items, want)
		}
	})
	bounded(t, r.Root)
}

// bounded: what settled is kept in what continues, of a loop only the first that failed.
func bounded(t *rapid.T, s *fold.Step[struct{}]) {
	if s.Inside == nil {
		return
	}
	in := s.Inside
	if in.Loop && (in.Failed.Len > fold.KeptFailures || in.Done.Len > 0) {
		t.Fatalf("%s keeps %d that failed and %d more", s.Path, in.Failed.Len, in.Done.Len)
	}
	failures := 0
	for _, l := range []*fold.List[struct{}]{&in.Pending, &in.Active, &in.Failed, &in.Done} {
		for c := l.First; c != nil; c = c.Next {
			if c.Parent != s || c.List != l {
				t.Fatalf("%s is on a list that is not its own", c.Path)
			}
			failures += c.Failures
			bounded(t, c)
		}
	}
	if s.Failures < failures || s.Failures < 0 {
		t.Fatalf("%d failures in %s, and %d in what it holds", s.Failures, s.Path, failures)
	}
}

// picture is everything that a reader of a fold sees.
func picture(r *fold.Run[struct{}]) (lines []string) {
	lines = append(lines, fmt.Sprint(r.ID, r.Status, r.Began, r.Since, r.Resumed, r.Ended, r.Last, r.Total, r.Settled, r.Running, r.Root.Failures))
	var visit func(s *fold.Step[struct{}], depth int)
	visit = func(s *fold.Step[struct{}], depth int) {
		if s.Inside == nil {
			return
		}
		for i, l := range []*fold.List[struct{}]{&s.Inside.Pending, &s.Inside.Active, &s.Inside.Failed, &s.Inside.Done} {
			for c := l.First; c != nil; c = c.Next {
				var in fold.Counts
				if c.Inside != nil {
					in = c.Inside.Ended
				}
				lines = append(lines, fmt.Sprint(strings.Repeat("  ", depth), i, c.Path, c.Status, c.Attempt, c.Began, c.Since, c.Due, c.Failures, c.FailedItself, in))
				visit(c, depth+1)
			}
		}
	}
	visit(r.Root, 0)
	return lines
}

// drawing makes graphs, and decides what their steps do.
type drawing struct {
	*rapid.T
	left     int
	life     int
	calls    atomic.Int32
	cancelAt int32
	cancel   func()
}

func (d *drawing) graph(depth int) *dag.Graph {
	var nodes []dag.Node
	for i := range rapid.IntRange(1, 5).Draw(d.T, "nodes") {
		if d.left--; d.left < 0 && i > 0 {
			break
		}
		n := d.node(depth)
		n.ID = dag.ID(fmt.Sprintf("s%d", i))
		for _, up := range nodes {
			if rapid.IntRange(0, 2).Draw(d.T, "after") == 0 {
				n.After = append(n.After, up.ID)
			}
		}
		nodes = append(nodes, n)
	}
	g, err := dag.New(nodes, dag.Settings{FailFast: rapid.Bool().Draw(d.T, "fail-fast")})
	if err != nil {
		d.Fatal(err)
	}
	return g
}

func (d *drawing) node(depth int) (n dag.Node) {
	switch kind := rapid.IntRange(0, 5).Draw(d.T, "kind"); {
	case kind == 0 && depth > 0:
		n.Graph = d.graph(depth - 1)
	case kind == 1 && depth > 0:
		n.Each = &dag.Each{Item: d.node(depth - 1), Parallel: rapid.IntRange(0, 3).Draw(d.T, "parallel"),
			MinSuccess: rapid.IntRange(0, 3).Draw(d.T, "min"), FailFast: rapid.Bool().Draw(d.T, "hasty")}
		count := items(rapid.SampledFrom([]int{0, 1, 3, 14}).Draw(d.T, "items"))
		n.Each.Items = func(context.Context, *dag.Call) (dag.Items, error) { return count, nil }
	default:
		n.Runner = dag.RunnerFunc(d.run)
	}
	if rapid.IntRange(0, 5).Draw(d.T, "always") == 0 {
		n.When = &dag.When{Uses: dag.UsesCancel, Eval: func(dag.View) (bool, error) { return true, nil }}
	}
	n.Policy.Tolerate = rapid.IntRange(0, 4).Draw(d.T, "tolerate") == 0
	if n.Each == nil {
		n.Policy.Attempts = rapid.IntRange(0, 2).Draw(d.T, "retries")
		if n.Graph == nil && rapid.IntRange(0, 4).Draw(d.T, "fallback") == 0 {
			n.Policy.Fallback = dag.RunnerFunc(d.run)
		}
	}
	return n
}

// run is a step: what it does depends on its path, the attempt and the life of the run.
func (d *drawing) run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	if d.calls.Add(1) == d.cancelAt {
		d.cancel()
	}
	h := fnv.New32a()
	fmt.Fprint(h, c.Path, c.Attempt, d.life)
	switch h.Sum32() % 5 {
	case 0, 1:
		return dag.Result{ExitCode: 1}, nil
	case 2:
		return dag.Result{Status: dag.TimedOut, ExitCode: 124}, ctx.Err()
	case 3:
		return dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: "time", Until: time.Now()}}, nil
	}
	return dag.Result{}, nil
}

// opening are the events that the next life begins with.
func (d *drawing) opening(s *dag.State) []dag.Event {
	rerun := rapid.Bool().Draw(d.T, "rerun")
	left := s.Remainder(dag.Rules{Rerun: func(dag.ID, *dag.Node) bool { return rerun }})
	list := []dag.Event{{Kind: dag.RunResumed, Reset: slices.Clone(left.Reset)}}
	for _, path := range left.Interrupted {
		list = append(list, dag.Event{Kind: dag.StepFinished, Node: path, Result: &dag.Result{Status: dag.Interrupted, ExitCode: 1}})
	}
	return list
}

// items are a number of them.
type items int

func (n items) Len() int          { return int(n) }
func (n items) Keys() []string    { return nil }
func (n items) Digest() string    { return "" }
func (n items) Args(int) dag.Args { return nil }

// A loop over many items keeps only the active ones and costs little for each, however many
// failed.
func TestManyItems(t *testing.T) {
	const n = 50_000
	list := []dag.Event{{Kind: dag.RunStarted, Run: "run"}, {Kind: dag.StepStarted, Node: "test", Attempt: 1}, {Kind: dag.StepExpanded, Node: "test", Items: n}}
	for i := range n {
		item := dag.ID(fmt.Sprintf("test[%d]", i))
		r := &dag.Result{Status: []dag.Status{dag.Succeeded, dag.Failed, dag.Cancelled}[i%3]}
		list = append(list, dag.Event{Kind: dag.StepStarted, Node: item, Attempt: 1}, dag.Event{Kind: dag.StepFinished, Node: item, Result: r})
	}
	var r *fold.Run[struct{}]
	allocs := testing.AllocsPerRun(1, func() {
		r = fold.New[struct{}](fold.Plan{})
		for i := range list {
			r.Apply(&list[i])
		}
	})
	if most := 1.1; allocs > most*n {
		t.Errorf("%.2f allocations for an item, want at most %v", allocs/n, most)
	}
	if lines := picture(r); len(lines) != 2+fold.KeptFailures {
		t.Errorf("%d steps are kept, want the loop and the first %d that failed", len(lines)-1, fold.KeptFailures)
	}
}

func BenchmarkApply(b *testing.B) {
	r := fold.New[struct{}](fold.Plan{})
	b.ReportAllocs()
	list := []dag.Event{{Kind: dag.StepStarted, Node: "test", Attempt: 1}, {Kind: dag.StepExpanded, Node: "test", Items: 1},
		{Kind: dag.StepStarted, Node: "test[0]", Attempt: 1}, {Kind: dag.StepFinished, Node: "test[0]", Result: &dag.Result{Status: dag.Succeeded}}}
	for i := range 2 {
		r.Apply(&list[i])
	}
	for b.Loop() {
		r.Apply(&list[2])
		r.Apply(&list[3])
	}
}
