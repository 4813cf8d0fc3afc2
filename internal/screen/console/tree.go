package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// PlanInfo gives access to the plan of a run. Steps are named by their paths in events. Every
// function may be nil.
type PlanInfo struct {
	// Tool is the name of the tool that runs.
	Tool string
	// Steps returns the names of the steps inside a step, in plan order; "" means the tool. It
	// returns none for a step that runs a command.
	Steps func(path string) []string
	// Upstream returns the direct upstream steps of a step.
	Upstream func(path string) []string
	// Handler reports whether a step is a handler. A handler that is not needed is not shown.
	Handler func(path string) bool
	// Lasting reports whether a step continues after a cancellation because it cleans up.
	Lasting func(path string) bool
	// Pos returns where a step is defined; line is 0 if it is not in a file, and file is "" if the line is one of the
	// text that ran only, because the file has changed since.
	Pos func(path string) (file string, line, col int)
	// Command returns what a step runs, as its author wrote it.
	Command func(path string) string
	// Logs returns the files that may contain the output of a running attempt.
	Logs func(run, path string, attempt int) []string
}

// tree is the state that a View shows. It keeps the steps of a run in lists by their state, so
// that the cost of a frame depends on what it shows and not on the number of steps.
type tree struct {
	*fold.Run[viewState]
	stepWaits   stepWaits
	queueStatus string    // before the run starts: what it waits for in the queue
	queuedSince time.Time // when it began to wait
	plan        PlanInfo
	stopReason  string // the reason in words if the run is being stopped, or ""
	outputAbove bool   // the run's output is shown above the region
}

// node is one step, or one item of a loop.
type node = fold.Step[viewState]

// viewState is what a View stores for each step.
type viewState struct {
	streamed       bool     // its output is shown above the region
	unsettled      []string // upstream steps that had not settled when last checked
	upstreamLoaded bool
	tail           logTail // only used while drawing, under View.screen
}

func newTree(s PlanInfo) *tree {
	return &tree{plan: s, Run: fold.New[viewState](fold.Plan{Steps: s.Steps, Handler: s.Handler})}
}

// apply applies one event.
func (t *tree) apply(e dag.Event) {
	t.Apply(&e)
	switch {
	case e.Kind == dag.RunResumed:
		t.stopReason = ""
		for _, path := range e.Reset {
			if n := t.Find(path); n != nil {
				n.Data.unsettled, n.Data.upstreamLoaded = nil, false
			}
		}
	case e.Kind == dag.RunCancelling && e.Node == "":
		t.stopReason = stopMessage(e, countStoppable(t.Root, t.plan.Lasting))
	}
}

// displayName returns the name of a step inside the step that contains it, or the [KEY] of an item.
func displayName(n *node) string {
	if n.Parent.Inside.Loop {
		return Clean(string(n.Path[len(n.Parent.Path):]))
	}
	return Clean(strings.TrimPrefix(string(n.Path.Base()), "@")) // @cleanup
}

// countsAsFailed reports whether a step failed and the failure is not tolerated.
func countsAsFailed(r *dag.Result) bool { return failed(r) && !r.Tolerated }

// countStoppable returns how many running steps inside a step a cancellation stops; steps that
// clean up are not counted.
func countStoppable[T any](s *fold.Step[T], lasting func(path string) bool) (n int) {
	for leaf := range s.Leaves() {
		if lasting == nil || !lasting(string(leaf.Path)) {
			n++
		}
	}
	return n
}

// waitsFor returns the upstream steps of a pending step that have not settled. If there are
// none, the step waits for a slot.
func (t *tree) waitsFor(n *node) []string {
	if !n.Data.upstreamLoaded {
		n.Data.upstreamLoaded = true
		if t.plan.Upstream != nil {
			n.Data.unsettled = slices.Clone(t.plan.Upstream(string(n.Path)))
		}
	}
	left := n.Data.unsettled[:0]
	for _, up := range n.Data.unsettled {
		if m := t.Find(dag.ID(up)); m != nil && !m.Status.Settled() {
			left = append(left, up)
		}
	}
	n.Data.unsettled = left
	return left
}

// shownAbove reports whether a step's output is shown above the region: its output is streamed,
// or it is the last step of the plan, whose output is that of the run.
func (t *tree) shownAbove(n *node) bool {
	if n.Data.streamed || !t.outputAbove {
		return n.Data.streamed
	}
	for ; n != t.Root; n = n.Parent {
		for _, c := range []*fold.List[viewState]{&n.Parent.Inside.Pending, &n.Parent.Inside.Active, &n.Parent.Inside.Failed, &n.Parent.Inside.Done} {
			if c.Last != nil && c.Last.Order > n.Order {
				return false
			}
		}
	}
	return true
}

// byOrder compares nodes of one branch by plan order.
func byOrder(a, b *node) int { return cmp.Compare(a.Order, b.Order) }
