package console

import (
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// maxItems is how many items a loop may have for each to get its own lines. A loop over more has
// lines about its progress and about its first maxFailures failed items.
const (
	maxItems    = 20
	maxFailures = 10
)

// loopProgress is what a Plain stores for each loop.
type loopProgress struct {
	reportedTenths int // tenths of the items that were reported
	waitingItems   int // number of items that wait, or have waited, for an answer
}

// Recall applies the events of a run before it is resumed, so that the progress of its loops
// continues correctly. It writes nothing.
func (p *Plain) Recall(past []dag.Event) {
	for i := range past {
		s := p.run.Apply(&past[i])
		if s == nil || past[i].Kind != dag.StepFinished {
			continue
		}
		if in := s.Parent.Inside; in.Items > 0 {
			s.Parent.Data.reportedTenths = 10 * min(in.Ended.Good, in.Items) / in.Items
		}
	}
}

// enclosingLoop returns the outermost loop over many items that contains a step, or nil.
func enclosingLoop(s *fold.Step[loopProgress]) (loop *fold.Step[loopProgress]) {
	for s != nil {
		if s = s.Parent; s != nil && s.Inside.Items > maxItems {
			loop = s
		}
	}
	return loop
}

func failed(r *dag.Result) bool { return r.Status == dag.Failed || r.Status == dag.TimedOut }

// progress describes how far a loop is.
func progress(in *fold.Inside[loopProgress]) string {
	c := &in.Ended
	s := fmt.Sprintf("%d/%d ok", c.Good, in.Items)
	if bad := c.Failed + c.Tolerated; bad > 0 {
		s += fmt.Sprintf(", %d failed", bad)
	}
	if c.Other > 0 {
		s += fmt.Sprintf(", %d skipped or cancelled", c.Other)
	}
	return s
}

// inLoop writes the lines for a step in a loop over many items: its first failures like any
// other failure, and one line for each tenth of the items.
func (p *Plain) inLoop(l, s *fold.Step[loopProgress], e dag.Event, quiet bool) {
	if e.Kind == dag.StepWaiting && e.Result.Wait.Asks && !quiet { // a person must act
		if l.Data.waitingItems++; l.Data.waitingItems <= maxFailures {
			p.line(e, yellow, "waits for "+Awaited(e.Result.Wait, e.Time))
		}
		if l.Data.waitingItems == maxFailures+1 {
			p.line(dag.Event{Node: l.Path, Time: e.Time}, yellow, "more items are waiting")
		}
	}
	if e.Kind != dag.StepFinished {
		return
	}
	in, item := l.Inside, s.Parent == l
	bad := in.Ended.Failed + in.Ended.Tolerated // including this one
	before := bad
	if item && failed(e.Result) {
		before--
	}
	if failed(e.Result) && !e.Result.Tolerated && before < maxFailures {
		p.finished(s, e)
	}
	if !item {
		return
	}
	if failed(e.Result) && bad == maxFailures {
		p.line(dag.Event{Node: l.Path, Time: e.Time}, red, "further failures are only counted")
	}
	if tenth := 10 * min(in.Ended.All(), in.Items) / in.Items; tenth > l.Data.reportedTenths && !quiet {
		l.Data.reportedTenths = tenth
		p.line(dag.Event{Node: l.Path, Time: e.Time}, dim, progress(in))
	}
}
