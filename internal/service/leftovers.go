package service

import (
	"context"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// endLeftovers ends what runs that were killed since the last poll have left. Their programs cannot do it, and the
// next run of their tool may be far away.
func (a *adopter) endLeftovers(ctx context.Context, open []history.RunInfo) {
	now := map[string]int{}
	var fresh []string
	var cut []history.RunInfo
	for _, info := range open {
		if info.Status != dag.Interrupted || info.Released || a.executor.Owns(info.ID) {
			continue
		}
		now[info.ID] = info.Epoch
		if epoch, known := a.interrupted[info.ID]; !known || epoch != info.Epoch {
			if fresh = append(fresh, info.ID); a.cutOff != nil && OfServices(info) {
				cut = append(cut, info)
			}
		}
	}
	starts := a.interrupted == nil
	a.interrupted = now
	if len(fresh) == 0 {
		return
	}
	a.work.Go(func() {
		for _, info := range cut {
			a.cutOff(ctx, info)
		}
	})
	a.work.Go(func() { // the grace period of the processes may be long
		if !starts { // when the service starts, most of them were killed long ago
			a.log.Info("ending what a killed run has left", "runs", fresh)
		}
		if err := a.engine.EndLeftovers(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("cannot end everything that a killed run has left", "error", err)
		}
	})
}
