package remote

import (
	"context"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// addWaiting gives an open run that only waits for answers the status that a local run has, which no
// process owns, and says of others what they wait for in the queue.
func (s *Store) addWaiting(ctx context.Context, info *history.RunInfo) error {
	p, err := engine.LoadRun(ctx, s.Memory, s.library(), info.ID)
	if err != nil {
		return err
	}
	state := dag.NewState(info.ID, p.Plan.Graph(), nil)
	for _, e := range p.Events {
		state.Apply(e)
	}
	if interpreter.OnlyAnswersLeft(info.ID, p.Plan, state) {
		info.Status, info.Message = dag.Waiting, p.Plan.WaitsFor(info.ID, state)
	}
	if info.Message == "" && len(p.Plan.LockDemands())+len(p.Plan.StepDemands()) > 0 {
		list, err := Positions(ctx, s.client, s.queue, info.ID)
		if err != nil || len(list) == 0 {
			return err
		}
		info.Message = positionText(list[0])
	}
	return nil
}
