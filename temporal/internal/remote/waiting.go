package remote

import (
	"context"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// addWaiting gives an open run that only waits for answers the status that a local run has, which no
// process owns.
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
	return nil
}
