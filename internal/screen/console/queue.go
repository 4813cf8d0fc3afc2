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

// Waits reports that a step waits in the queue, or the run if step is "". what is a sentence
// without a subject, such as "waits for lock db"; "" means that it continues.
func (p *Plain) Waits(step dag.ID, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if step != "" {
		if p.waiting.set(step, Clean(what)) {
			p.line(dag.Event{Time: now, Node: step}, yellow, Clean(what))
		}
		return
	}
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

// stepWaits are the steps that wait in the queue, and what for.
type stepWaits map[dag.ID]string

// set notes what a step waits for, "" for nothing more. It reports whether the step begins to wait.
func (w *stepWaits) set(step dag.ID, what string) (begins bool) {
	if *w == nil {
		*w = stepWaits{}
	}
	begins = what != "" && (*w)[step] == ""
	if (*w)[step] = what; what == "" {
		delete(*w, step)
	}
	return begins
}

// Waits shows what a step in the queue waits for, or in the header if step is "" what the run
// waits for; "" means that it continues.
func (v *View) Waits(step dag.ID, what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if step != "" {
		v.tree.stepWaits.set(step, Clean(what))
		v.requestFrame()
		return
	}
	if v.tree.queueStatus == "" {
		v.tree.queuedSince = time.Now()
	}
	v.tree.queueStatus = Clean(what)
	v.requestFrame()
}
