package dag

import "fmt"

// completes says whether the result of a walk has to be completed, which a worker does:
// that may write files.
func (f *frame) completes() bool {
	if f.rounds != nil {
		return f.rounds.Gather != nil
	}
	return f.g.settings.Finish != nil
}

// complete completes the result of a walk whose nodes have all settled.
func (f *frame) complete(r *Result) {
	if f.rounds == nil {
		f.g.settings.Finish(View{f: f, i: -1}, r)
		return
	}
	results := make([]*Result, len(f.nodes))
	for i := range f.nodes {
		results[i] = f.nodes[i].res
	}
	f.rounds.Gather(f.up.view(), results, r)
}

// end is the result of a walk whose nodes have all settled, as far as they tell.
func (f *frame) end() *Result {
	var r *Result
	if f.rounds != nil {
		r = f.gather()
	} else {
		r = f.finish()
	}
	if f.up.f == nil && r.Status != Succeeded && !f.endRan() {
		r.Stdout, r.Value, r.Structured, r.Content = nil, nil, false, nil
	}
	r.Started = f.began
	return r
}

// endRan reports whether the last step of a graph, and if that failed as a graph the
// last one inside it, ran. Without success only its output is the run's: what an earlier
// step printed is not what the run was for.
func (f *frame) endRan() bool {
	for i := len(f.nodes) - 1; i >= 0; i-- {
		n, def := &f.nodes[i], f.def(int32(i))
		if def.join() || def.Aside || def.Silent {
			continue
		}
		inner := f.children[int32(i)]
		return n.status.Executed() && (n.status.well() || inner == nil || inner.rounds != nil || inner.endRan())
	}
	return false
}

// finish is the result of a graph as far as its nodes have settled: failed when a
// step failed untolerated, with the exit code of the first such step in plan
// order; its output is that of the last executed step in plan order.
func (f *frame) finish() *Result {
	var t tally
	for i := range f.nodes {
		t.count(f, int32(i))
	}
	return t.result(f)
}

// sumUp is finish over nothing but what a join sums up.
func (f *frame) sumUp(join *Node) *Result {
	var t tally
	for _, id := range join.Sums {
		t.count(f, f.g.index[id])
	}
	return t.result(f)
}

// tally is what nodes that have settled come to together. Places are by number plus
// one, so that the zero tally is empty.
type tally struct {
	failed, last int32 // the first that failed, the last that was executed
	cancelled    bool
}

func (t *tally) count(f *frame, i int32) {
	n, def := &f.nodes[i], f.def(i)
	if n.res == nil || !n.status.Settled() || def.join() || def.Aside {
		return
	}
	if n.res.bad() && n.status != Skipped && (t.failed == 0 || i < t.failed) {
		t.failed = i + 1
	}
	if n.status.Executed() && !def.Silent {
		t.last = max(t.last, i+1)
	}
	t.cancelled = t.cancelled || n.status == Cancelled
}

func (t *tally) result(f *frame) *Result {
	r := &Result{Status: Succeeded}
	failed, last, cancelled := t.failed-1, t.last-1, t.cancelled
	switch {
	case f.late:
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	case cancelled && (failed < 0 || f.stopped != ReasonFailFast):
		r.Status, r.ExitCode, r.Reason = Cancelled, ExitCancelled, f.stopped
	case failed >= 0:
		bad := f.nodes[failed].res
		r.Status, r.ExitCode, r.Reason = Failed, max(bad.ExitCode, 1), bad.Reason
		r.Culprit = f.def(failed).ID
		r.Problem, r.Permanent = bad.Problem, bad.Problem != nil && bad.Permanent
		r.Message = fmt.Sprintf("step %s %s", f.path(failed), f.nodes[failed].status)
	}
	if last >= 0 {
		out := f.nodes[last].res
		r.Stdout, r.Value, r.Structured, r.Content = out.Stdout, out.Value, out.Structured, out.Content
	}
	return r
}
