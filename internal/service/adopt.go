package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service/executor"
)

// adopter resumes the runs of the services that have no owner. Only the follower's goroutine calls it.
type adopter struct {
	control  *Control
	engine   *engine.Engine
	executor *executor.Executor
	parked   *Parking
	cutOff   func(context.Context, history.RunInfo) // Config.CutOff
	log      *slog.Logger
	work     *sync.WaitGroup // of what outlasts a poll

	waiting     map[string]*waitConditions // what the waiting runs wait for
	interrupted map[string]int             // epochs of the interrupted runs at the last poll; nil before the first
}

// adopt resumes the interrupted runs that belong to the services and have no owner. If two
// services attempt it, the Store admits one of them.
func (a *adopter) adopt(ctx context.Context, open []history.RunInfo) {
	orphans := map[string]bool{}
	for _, info := range open {
		if info.Origin == "" || info.Status != dag.Interrupted && info.Status != dag.Waiting || a.executor.Owns(info.ID) {
			continue
		}
		orphans[info.ID] = true
		if info.Status == dag.Waiting || !OfServices(info) || a.parked.holds(info.ID) {
			continue // see resumeWaiting
		}
		a.tryAdopt(ctx, info)
	}
	a.parked.keepOnly(orphans)
}

// tryAdopt resumes a run. If that fails, it leaves the run to people.
func (a *adopter) tryAdopt(ctx context.Context, info history.RunInfo) {
	switch err := a.control.adopt(ctx, info.ID, nil); {
	case err == nil, errors.Is(err, outcome.ErrDraining):
	case errors.Is(err, history.ErrLive), errors.Is(err, history.ErrChanged), errors.Is(err, history.ErrNoRun):
		// Another service resumed or finished it first.
	default:
		a.parked.park(info, err)
	}
}
