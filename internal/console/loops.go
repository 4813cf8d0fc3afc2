package console

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// mostItems is how many items of a loop have lines of their own. A loop over more has
// lines about how far it is, and about the first items that failed.
const (
	mostItems    = 20
	mostFailures = 10
)

// loop is how far a loop over many items is.
type loop struct {
	path                   dag.ID
	items                  int
	good, bad, other, told int // told: in tenths of the items
	asked                  int // how many wait, or waited, for an answer
}

// learn notes how many items a loop goes over.
func (p *Plain) learn(e dag.Event) *loop {
	if p.loops == nil {
		p.loops = map[dag.ID]*loop{}
	}
	l := &loop{path: e.Node, items: e.Items}
	p.loops[e.Node] = l
	return l
}

// Recall takes in what has happened before a run is taken up: how many items its loops
// have, and how many of them are done. Nothing is written.
func (p *Plain) Recall(past []dag.Event) {
	for _, e := range past {
		switch e.Kind {
		case dag.StepExpanded:
			p.learn(e)
		case dag.StepFinished:
			if l := p.around(e.Node); l != nil && l.has(e.Node) && e.Result.Status.Executed() && !failed(e.Result) {
				l.count(e.Result)
				l.told = 10 * l.done() / l.items
			}
		}
	}
}

// around is the outermost loop over many items that a step runs in, nil for none.
func (p *Plain) around(step dag.ID) *loop {
	if len(p.loops) == 0 || !strings.Contains(string(step), "[") {
		return nil
	}
	for _, outer := range step.Holders() {
		if l := p.loops[outer]; l != nil && l.items > mostItems {
			return l
		}
	}
	return nil
}

// has says whether a path is that of an item, and not of a step inside one.
func (l *loop) has(path dag.ID) bool {
	rest := string(path[len(l.path):])
	return strings.HasPrefix(rest, "[") && strings.IndexByte(rest, ']') == len(rest)-1
}

func failed(r *dag.Result) bool { return r.Status == dag.Failed || r.Status == dag.TimedOut }

func (l *loop) count(r *dag.Result) {
	switch {
	case failed(r):
		l.bad++
	case r.Status == dag.Succeeded || r.Status == dag.Reused:
		l.good++
	default:
		l.other++
	}
}

func (l *loop) done() int { return min(l.good+l.bad+l.other, l.items) }

func (l *loop) String() string {
	s := fmt.Sprintf("%d/%d ok", l.good, l.items)
	if l.bad > 0 {
		s += fmt.Sprintf(", %d failed", l.bad)
	}
	if l.other > 0 {
		s += fmt.Sprintf(", %d skipped or cancelled", l.other)
	}
	return s
}

// inLoop tells of a step in a loop over many items: a failure as any other, as long as
// there are few, and each tenth of the items.
func (p *Plain) inLoop(l *loop, e dag.Event, quiet bool) {
	if e.Kind == dag.StepWaiting && e.Result.Wait.Asks && !quiet { // somebody is to do something about it
		if l.asked++; l.asked <= mostFailures {
			p.line(e, yellow, "waits for "+Awaited(e.Result.Wait, e.Time))
		}
		if l.asked == mostFailures+1 {
			p.line(dag.Event{Node: l.path, Time: e.Time}, yellow, "more of them wait")
		}
	}
	if e.Kind != dag.StepFinished {
		return
	}
	if failed(e.Result) && !e.Result.Tolerated && l.bad < mostFailures {
		p.finished(e)
	}
	if !l.has(e.Node) {
		return
	}
	l.count(e.Result)
	if failed(e.Result) && l.bad == mostFailures {
		p.line(dag.Event{Node: l.path, Time: e.Time}, red, "further failures are only counted")
	}
	if tenth := 10 * l.done() / l.items; tenth > l.told && !quiet {
		l.told = tenth
		p.line(dag.Event{Node: l.path, Time: e.Time}, dim, l.String())
	}
}
