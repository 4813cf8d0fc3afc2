package keptstate

import (
	"context"
	"errors"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// Journal is the journal of a run whose tools keep values. The Store that keeps the values together with the events can
// refuse them. If the run has ended with success, it is then failed instead. Values that a step keeps at once are then
// kept with the run, so that its end fails for the same reason.
type Journal struct {
	dag.Journal
	Failed func(*dag.Event) // is called with the end of a run that is failed instead, before it is recorded; nil: nothing is
}

// Append implements dag.Journal.
func (j Journal) Append(ctx context.Context, events []dag.Event) error {
	err := j.Journal.Append(ctx, events)
	refused, ok := errors.AsType[*history.StateError](err)
	if !ok {
		return err
	}
	for i := range events {
		if e := &events[i]; refuse(e, refused) && e.Kind == dag.RunFinished && j.Failed != nil {
			j.Failed(e)
		}
	}
	return j.Journal.Append(ctx, events)
}

// refuse gives an event another result if its result cannot stay, and reports whether it did.
func refuse(e *dag.Event, refused *history.StateError) bool {
	if e.Result == nil {
		return false
	}
	r := *e.Result
	switch {
	case e.Kind == dag.StepFinished && len(r.State()) > 0:
		list := slices.Clone(r.State())
		for i := range list {
			list[i].Step = false
		}
		r.SetState(list)
	case e.Kind == dag.RunFinished && r.Status == dag.Succeeded:
		r.SetState(nil)
		r.Status, r.ExitCode, r.Reason, r.Message = dag.Failed, 1, steps.ReasonState, refused.Error()
		if refused.Conflict {
			r.Reason = ReasonConflict
			r.Message += "; run the tool again, or give the key a merge"
		}
		e.Reason = r.Reason
	default:
		return false
	}
	e.Result = &r
	return true
}
