package interpreter

import (
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
)

// watch holds what the observers of a worker have for one run.
type watch struct {
	begun bool
	sinks []dag.Sink
	done  []func()
}

// observe passes new events to the observers. Events of the past are not new: another worker,
// or this one before, has passed them on.
func (r *run) observe(events []dag.Event) {
	if workflow.IsReplaying(r.ctx) || len(events) == 0 {
		return
	}
	w := &r.watch
	if !w.begun {
		w.begun = true
		w.begin(r.Observers, history.ObservedRun{ID: r.input.Record.ID, Tool: r.plan.Name(), Trace: r.input.Record.Trace, Caller: r.input.Record.Trace, Recorded: r.events})
	}
	for _, e := range events {
		for _, s := range w.sinks {
			s.Emit(e)
		}
	}
}

func (w *watch) begin(observers []engine.Observer, o history.ObservedRun) {
	for _, observe := range observers {
		sink, done := observe(o)
		if sink != nil {
			w.sinks = append(w.sinks, sink)
		}
		if done != nil {
			w.done = append(w.done, done)
		}
	}
}

func (w *watch) end() {
	for _, done := range w.done {
		done()
	}
}
