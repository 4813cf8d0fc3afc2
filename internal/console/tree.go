package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/fold"
)

// PlanInfo is what the narration of a run knows of its plan. Steps are named by paths as
// they stand in events. Every function may be nil.
type PlanInfo struct {
	// Tool is what runs.
	Tool string
	// Steps are the names of the steps inside a step, in plan order, those of the tool
	// for ""; none for one that runs a command.
	Steps func(path string) []string
	// Upstream are the steps that a step waits for directly.
	Upstream func(path string) []string
	// Handler says whether a step is a handler: that one is not called for is not told.
	Handler func(path string) bool
	// Lasting says whether a cancel leaves a step running: it cleans up.
	Lasting func(path string) bool
	// Pos is where a step is defined; line is 0 for one that is in no file.
	Pos func(path string) (file string, line, col int)
	// Command is what a step runs, as its author wrote it.
	Command func(path string) string
	// Logs are the files in which the output of a try that is under way may stand.
	Logs func(run, path string, attempt int) []string
}

// tree is what a View shows: the steps of a run, in lists by what is to be told of them, so
// that a frame costs what it shows and not the number of steps.
type tree struct {
	*fold.Run[mark]
	waits   string    // before the run begins: what it stands in line for
	waiting time.Time // since when
	scene   PlanInfo
	stopped string // why the run is stopped, in words; "" while it is not
	echoed  bool   // the run's output goes above the region as it is printed
}

// node is one step, or one item of a loop.
type node = fold.Step[mark]

// mark is what a View keeps with a step.
type mark struct {
	streams bool     // what it prints is shown elsewhere
	waits   []string // for what it waited when last asked
	asked   bool
	tail    logTail // belongs to who draws
}

func newTree(s PlanInfo) *tree {
	return &tree{scene: s, Run: fold.New[mark](fold.Plan{Steps: s.Steps, Handler: s.Handler})}
}

// apply folds one event.
func (t *tree) apply(e dag.Event) {
	t.Apply(&e)
	switch {
	case e.Kind == dag.RunResumed:
		t.stopped = ""
		for _, path := range e.Reset {
			if n := t.Find(path); n != nil {
				n.Data.waits, n.Data.asked = nil, false
			}
		}
	case e.Kind == dag.RunCancelling && e.Node == "":
		t.stopped = stopping(e, stoppable(t.Root, t.scene.Lasting))
	}
}

// nameOf is what a step is called in the step that holds it: its name, or its [KEY].
func nameOf(n *node) string {
	if n.Parent.Inside.Loop {
		return Clean(string(n.Path[len(n.Parent.Path):]))
	}
	return Clean(strings.TrimPrefix(string(n.Path.Base()), "@")) // @cleanup
}

// bad says whether a step failed and somebody minds.
func bad(r *dag.Result) bool { return failed(r) && !r.Tolerated }

// stoppable is how many steps in a step a cancel stops: those that run, but what cleans up.
func stoppable[T any](s *fold.Step[T], lasting func(path string) bool) (n int) {
	for leaf := range s.Leaves() {
		if lasting == nil || !lasting(string(leaf.Path)) {
			n++
		}
	}
	return n
}

// waitsFor is what keeps a pending step from starting: the steps that have not
// settled. None says that it waits for a slot.
func (t *tree) waitsFor(n *node) []string {
	if !n.Data.asked {
		n.Data.asked = true
		if t.scene.Upstream != nil {
			n.Data.waits = slices.Clone(t.scene.Upstream(string(n.Path)))
		}
	}
	left := n.Data.waits[:0]
	for _, up := range n.Data.waits {
		if m := t.Find(dag.ID(up)); m != nil && !m.Status.Settled() {
			left = append(left, up)
		}
	}
	n.Data.waits = left
	return left
}

// shownAbove says whether what a step prints goes above the region: it streams, or it is
// the last step of the plan, whose output is the run's.
func (t *tree) shownAbove(n *node) bool {
	if n.Data.streams || !t.echoed {
		return n.Data.streams
	}
	for ; n != t.Root; n = n.Parent {
		for _, c := range []*fold.List[mark]{&n.Parent.Inside.Pending, &n.Parent.Inside.Active, &n.Parent.Inside.Failed, &n.Parent.Inside.Done} {
			if c.Last != nil && c.Last.Order > n.Order {
				return false
			}
		}
	}
	return true
}

// elapsed is how long the run has taken.
func (t *tree) elapsed(now time.Time) time.Duration {
	if t.Since.IsZero() {
		return 0
	}
	if !t.Ended.IsZero() {
		now = t.Ended
	}
	return max(now.Sub(t.Since), 0)
}

// byOrder sorts nodes of one branch as the plan has them.
func byOrder(a, b *node) int { return cmp.Compare(a.Order, b.Order) }
