package console

import (
	"time"

	"github.com/flowrun/flowrun/dag"
)

// waitPause is the minimum time between two lines about a run in the queue, because its position
// may change often.
const waitPause = 10 * time.Second

// standing is the state of a run that waits in the queue.
type standing struct {
	what  string    // what it waits for; "" if it does not wait
	since time.Time // when it began to wait
	told  time.Time // when a line was last written about it
}

// Waits reports that the run waits in the queue. what is a sentence without a subject, such as
// "waits for lock db"; "" means that the run continues.
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

// Waits shows in the header what a run in the queue waits for; "" means that the run continues.
func (v *View) Waits(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tree.waits == "" {
		v.tree.waiting = time.Now()
	}
	v.tree.waits = Clean(what)
	v.stir()
}
