package console

import (
	"time"

	"github.com/flowrun/flowrun/dag"
)

// queueLineInterval is the minimum time between two lines about a run in the queue, because its
// position may change often.
const queueLineInterval = 10 * time.Second

// queueState is the state of a run that waits in the queue.
type queueState struct {
	waitsFor string    // what it waits for; "" if it does not wait
	since    time.Time // when it began to wait
	reported time.Time // when a line was last written about it
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
	switch w := &p.queued; {
	case what == "":
		p.line(dag.Event{Time: now}, dim, "continues after "+Short(now.Sub(w.since))+" in the queue")
		p.queued = queueState{}
	case w.waitsFor == "":
		p.queued = queueState{what, now, now}
		p.line(dag.Event{Time: now}, yellow, Clean(what))
	case w.waitsFor != what && now.Sub(w.reported) >= queueLineInterval:
		w.reported = now
		p.line(dag.Event{Time: now}, dim, Clean(what))
		fallthrough
	default:
		w.waitsFor = what
	}
}

// Waits shows in the header what a run in the queue waits for; "" means that the run continues.
func (v *View) Waits(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tree.queueStatus == "" {
		v.tree.queuedSince = time.Now()
	}
	v.tree.queueStatus = Clean(what)
	v.requestFrame()
}
