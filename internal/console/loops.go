package console

import (
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/fold"
)

// maxItems is how many items of a loop have lines of their own. A loop over more has
// lines about how far it is, and about the first items that failed.
const (
	maxItems    = 20
	maxFailures = 10
)

// reported is what a Plain keeps with a loop.
type reported struct {
	tenths int // of the items
	asked  int // how many wait, or waited, for an answer
}

// Recall takes in what has happened before a run is taken up: how many items its loops
// have, and how many of them are done. Nothing is written.
func (p *Plain) Recall(past []dag.Event) {
	for i := range past {
		s := p.run.Apply(&past[i])
		if s == nil || past[i].Kind != dag.StepFinished {
			continue
		}
		if in := s.Parent.Inside; in.Items > 0 {
			s.Parent.Data.tenths = 10 * min(in.Ended.Good, in.Items) / in.Items
		}
	}
}

// around is the outermost loop over many items that a step runs in, nil for none.
func around(s *fold.Step[reported]) (loop *fold.Step[reported]) {
	for s != nil {
		if s = s.Parent; s != nil && s.Inside.Items > maxItems {
			loop = s
		}
	}
	return loop
}

func failed(r *dag.Result) bool { return r.Status == dag.Failed || r.Status == dag.TimedOut }

// progress is how far a loop is.
func progress(in *fold.Inside[reported]) string {
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

// inLoop tells of a step in a loop over many items: a failure as any other, as long as
// there are few, and each tenth of the items.
func (p *Plain) inLoop(l, s *fold.Step[reported], e dag.Event, quiet bool) {
	if e.Kind == dag.StepWaiting && e.Result.Wait.Asks && !quiet { // somebody is to do something about it
		if l.Data.asked++; l.Data.asked <= maxFailures {
			p.line(e, yellow, "waits for "+Awaited(e.Result.Wait, e.Time))
		}
		if l.Data.asked == maxFailures+1 {
			p.line(dag.Event{Node: l.Path, Time: e.Time}, yellow, "more items are waiting")
		}
	}
	if e.Kind != dag.StepFinished {
		return
	}
	in, item := l.Inside, s.Parent == l
	bad := in.Ended.Failed + in.Ended.Tolerated // with this one
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
	if tenth := 10 * min(in.Ended.All(), in.Items) / in.Items; tenth > l.Data.tenths && !quiet {
		l.Data.tenths = tenth
		p.line(dag.Event{Node: l.Path, Time: e.Time}, dim, progress(in))
	}
}
