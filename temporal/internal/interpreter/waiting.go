package interpreter

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// OnlyAnswersLeft reports whether everything that is left of a run waits for answers.
func OnlyAnswersLeft(run string, plan *engine.Plan, state *dag.State) bool {
	if len(plan.Questions(run, state)) == 0 {
		return false
	}
	only := true
	state.All(func(_ dag.ID, n *dag.Node, status dag.Status, r *dag.Result) {
		switch {
		case status == dag.Running && n.Graph == nil && n.Each == nil, status == dag.Retrying,
			status == dag.Waiting && (r == nil || r.Wait == nil || !r.Wait.Asks):
			only = false
		}
	})
	return only
}

// noteWaiting keeps in the memo of the workflow what the run waits for, for lists of runs.
func (r *run) noteWaiting(events []dag.Event) error {
	r.asks = r.asks || slices.ContainsFunc(events, asks)
	if !r.asks {
		return nil
	}
	waits := ""
	if id, state := r.input.Record.ID, r.machine.State(); OnlyAnswersLeft(id, r.plan, state) {
		waits = r.plan.WaitsFor(id, state)
	}
	if waits == r.waits {
		return nil
	}
	r.waits = waits
	memo := map[string]any{WaitsMemo: nil} // removes it
	if waits != "" {
		memo[WaitsMemo] = waits
	}
	return workflow.UpsertMemo(r.ctx, memo)
}

// asks reports whether a step waits for an answer from this event on.
func asks(e dag.Event) bool {
	return e.Result != nil && e.Result.Wait != nil && e.Result.Wait.Asks
}
