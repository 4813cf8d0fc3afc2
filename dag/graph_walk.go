package dag

import (
	"fmt"
	"slices"
	"time"
)

// graphWalk walks a graph: nodes with names, which wait for each other.
type graphWalk struct{ *Graph }

// openGraph makes the frame of one walk of g. Its nodes start after it is bound.
func (s *State) openGraph(g *Graph, prefix string, up place) *frame {
	f := &frame{walk: graphWalk{g}, prefix: prefix, parent: up, expanded: true, nodes: make([]nodeState, len(g.nodes)), unsettled: g.steps}
	f.walk.reopen(s, f)
	return f
}

func (w graphWalk) def(i int32) *Node { return &w.nodes[i] }

func (w graphWalk) path(prefix string, i int32) ID { return ID(prefix) + w.nodes[i].ID }

func (w graphWalk) lookup(part string) (int32, bool) {
	i, ok := w.index[ID(part)]
	return i, ok
}

func (w graphWalk) timeout() time.Duration { return w.settings.Timeout }

func (w graphWalk) args(v View) Args { return v.f.args }

func (w graphWalk) result(v View, id ID) *Result {
	if i, ok := w.index[id]; ok && (v.i < 0 || w.waitsFor(v.i, id)) {
		return v.f.nodes[i].res
	}
	if v.f.parent.f != nil && w.settings.InheritResults {
		return v.f.parent.view().Result(id)
	}
	return nil
}

// waitsFor reports whether node i may read the result of id. Workers must not read results
// that may still be written; those of After had settled before the worker started.
func (w graphWalk) waitsFor(i int32, id ID) bool {
	after := w.nodes[i].After
	return slices.Contains(after, id) || slices.ContainsFunc(after, func(up ID) bool {
		n := &w.nodes[w.index[up]]
		return n.isJoin() && n.Summarizes != nil && slices.Contains(n.After, id)
	})
}

func (w graphWalk) bind(s *State, f *frame, e *Event) { s.bindGraph(f, e.args) }

func (w graphWalk) statusChanged(*State, *frame, Status, Status) {}

// nodeSettled notifies the dependents of a node that it has settled.
func (w graphWalk) nodeSettled(s *State, f *frame, i int32, bad bool) (fails bool) {
	s.notifyDependents(f, i, bad)
	return bad && w.settings.FailFast && !w.nodes[i].Cleanup
}

// reopen counts what every node waits for, and marks the nodes that wait for nothing as
// ready.
func (w graphWalk) reopen(s *State, f *frame) {
	for i := range f.nodes {
		f.nodes[i].pending = w.waits[i]
	}
	for i, n := range w.waits {
		if n == 0 {
			s.nodeReady(f, int32(i))
		}
	}
}

func (w graphWalk) completer(f *frame) func(*Result) {
	if w.settings.Finish == nil {
		return nil
	}
	return func(r *Result) { w.settings.Finish(View{f: f, i: -1}, r) }
}

// lastStepRan reports whether the last step of a graph ran; if that step is a nested graph
// and failed, the last step inside must have run too. When a run fails, only this step's
// output becomes the output of the run: what earlier steps printed is not the answer of the
// tool.
func (w graphWalk) lastStepRan(f *frame) bool {
	for i := len(f.nodes) - 1; i >= 0; i-- {
		n, def := &f.nodes[i], &w.nodes[i]
		if def.isJoin() || def.Cleanup || def.NoOutput {
			continue
		}
		if inner := f.children[int32(i)]; inner != nil && !n.status.successful() {
			if g, ok := inner.walk.(graphWalk); ok && !g.lastStepRan(inner) {
				return false
			}
		}
		return n.status.Executed()
	}
	return false
}

// summarize returns the result of a graph from the nodes that have settled. It is failed if
// a step failed and that is not tolerated, with the exit code of the first such step in
// plan order. Its output is that of the last step in plan order that was executed.
func (w graphWalk) summarize(f *frame) *Result {
	var t tally
	for i := range f.nodes {
		t.count(f, int32(i))
	}
	r := t.result(f)
	if f.parent.f == nil && r.Status != Succeeded && !w.lastStepRan(f) {
		r.Stdout, r.Value, r.Structured, r.Content = nil, nil, false, nil
	}
	return r
}

// summarizeJoin returns the result of the nodes that a join summarizes.
func (f *frame) summarizeJoin(join *Node) *Result {
	var t tally
	for _, id := range join.Summarizes {
		t.count(f, f.index(id))
	}
	return t.result(f)
}

// tally collects the results of nodes that have settled. Indexes are stored plus one, so
// that the zero tally is empty.
type tally struct {
	failed, last int32 // the first node that failed, the last that was executed
	cancelled    bool
}

func (t *tally) count(f *frame, i int32) {
	n, def := &f.nodes[i], f.def(i)
	if n.res == nil || !n.status.Settled() || def.isJoin() || def.Cleanup {
		return
	}
	if n.res.taints() && n.status != Skipped && (t.failed == 0 || i < t.failed) {
		t.failed = i + 1
	}
	if n.status.Executed() && !def.NoOutput {
		t.last = max(t.last, i+1)
	}
	t.cancelled = t.cancelled || n.status == Cancelled
}

func (t *tally) result(f *frame) *Result {
	r := &Result{Status: Succeeded}
	failed, last, cancelled := t.failed-1, t.last-1, t.cancelled
	switch {
	case f.timedOut:
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	case cancelled && (failed < 0 || f.stopped != ReasonFailFast):
		r.Status, r.ExitCode, r.Reason = Cancelled, ExitCancelled, f.stopped
	case failed >= 0:
		bad := f.nodes[failed].res
		r.Status, r.ExitCode, r.Reason = Failed, max(bad.ExitCode, 1), bad.Reason
		r.Culprit = f.def(failed).ID
		r.Problem, r.Permanent = bad.Problem, bad.Problem != nil && bad.Permanent
		what := f.nodes[failed].status.String()
		switch f.nodes[failed].status {
		case TimedOut:
			what = "timed out"
		case Interrupted:
			what = "was interrupted"
		}
		r.Message = fmt.Sprintf("step %s %s", f.path(failed), what)
	}
	if last >= 0 {
		out := f.nodes[last].res
		r.Stdout, r.Value, r.Structured, r.Content = out.Stdout, out.Value, out.Structured, out.Content
	}
	return r
}
