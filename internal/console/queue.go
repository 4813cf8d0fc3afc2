package console

import (
	"time"

	"github.com/flowrun/flowrun/dag"
)

// waitPause is the least time between two lines about what a run in line waits for. The
// line moves up as fast as others end.
const waitPause = 10 * time.Second

// standing is a run that waits for its turn.
type standing struct {
	what  string    // it waits for; "" when it does not
	since time.Time // that it waits
	told  time.Time // when a line was last written about it
}

// Waits tells that the run stands in line: what is a sentence without a subject, such as
// "waits for lock db". "" is that its turn has come.
func (p *Plain) Waits(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.began.IsZero() {
		p.began = now
	}
	switch w := &p.waits; {
	case what == "":
		p.line(dag.Event{Time: now}, dim, "continues after "+Short(now.Sub(w.since))+" in the queue")
		p.waits = standing{}
	case w.what == "":
		p.waits = standing{what, now, now}
		p.line(dag.Event{Time: now}, yellow, Clean(what))
	case w.what != what && now.Sub(w.told) >= waitPause:
		w.told = now
		p.line(dag.Event{Time: now}, dim, Clean(what))
		fallthrough
	default:
		w.what = what
	}
}

// Waits shows in the header what the run in line waits for; "" that its turn has come.
func (v *View) Waits(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tree.waits == "" {
		v.tree.waiting = time.Now()
	}
	v.tree.waits = Clean(what)
	v.stir()
}
