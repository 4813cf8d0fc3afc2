package remote

import (
	"context"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// OnlyAnswersLeft reports whether everything that is left of a run waits for answers.
func OnlyAnswersLeft(run string, plan *flowrun.Plan, state *dag.State) bool {
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

// WaitsFor returns what a run waits for.
func WaitsFor(q history.Question) string {
	return fmt.Sprintf("step %s waits for approval: %s", q.Step, strings.Join(strings.Fields(q.Prompt), " "))
}

// addWaiting gives an open run that only waits for answers the status that a local run has, which no
// process owns.
func (s *Store) addWaiting(ctx context.Context, info *history.RunInfo) error {
	p, err := flowrun.LoadRun(ctx, s.Memory, s.library(), info.ID)
	if err != nil {
		return err
	}
	state := dag.NewState(info.ID, p.Plan.Graph(), nil)
	for _, e := range p.Events {
		state.Apply(e)
	}
	if OnlyAnswersLeft(info.ID, p.Plan, state) {
		info.Status, info.Message = dag.Waiting, WaitsFor(p.Questions()[0])
	}
	return nil
}
