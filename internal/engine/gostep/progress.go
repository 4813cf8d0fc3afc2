package gostep

import (
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// Progress reports how far the work is: done of total, which is 0 if it is unknown, and what is being done. It is shown
// while the step runs, and a client of MCP that asked for progress gets it. It does nothing after the step has ended.
// Safe for concurrent use.
func (in *StepInput) Progress(done, total float64, message string) {
	if in.reports != nil {
		in.reports.send(done, total, message)
	}
}

// reports passes on the reports of an attempt until it ends.
type reports struct {
	session *steps.Session
	call    *dag.Call

	mu    sync.Mutex
	ended bool
}

func (r *reports) send(done, total float64, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended && r.session != nil {
		r.session.Progress(steps.Progress{Step: r.call.Path, Attempt: r.call.Attempt, Done: done, Total: total, Message: message})
	}
}

func (r *reports) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
