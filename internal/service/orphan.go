package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// A run that crashes the service must not do so forever. A run that was resumed
// maxAdoptions times within adoptionWindow, without one of its steps ending in between, is
// left to people.
const (
	maxAdoptions   = 3
	adoptionWindow = time.Hour
)

// errCrashLoop is the reason why such a run is no longer resumed.
var errCrashLoop = fmt.Errorf("it was resumed %d times within %v, and was interrupted each time before a step had ended", maxAdoptions, adoptionWindow)

// WhyLeft returns why services leave an interrupted run to people, nil if the next one resumes it. A running service may have
// another reason, see Parking.Why: its policy.
func WhyLeft(past *engine.RecordedRun, lib *library.Library) error {
	if !past.Info.Released && crashLoops(past) {
		return errCrashLoop
	}
	_, err := continuationOf(past, lib, (*engine.RecordedRun).Continue)
	return err
}

// crashLoops reports whether a run was resumed too often without getting any further.
func crashLoops(past *engine.RecordedRun) bool {
	return adoptions(past.Events, time.Now().Add(-adoptionWindow)) >= maxAdoptions
}

// OfServices reports whether services resume a run when it is interrupted. They do not resume the runs of people, nor, if it
// was killed, one that a model has called: its caller is gone, and may have called again.
func OfServices(info history.RunInfo) bool {
	return info.Origin != "" && (info.Released || !engine.CalledByModel(info.Origin))
}

// adopt continues a run that has no owner. If cancelFor is set, it continues the run in
// order to cancel it, for that reason.
func (c *Control) adopt(ctx context.Context, id string, cancelFor error) error {
	past, err := c.runs.Load(ctx, id)
	if err != nil {
		return err
	}
	if !c.inherited(past) && crashLoops(past) {
		return errCrashLoop
	}
	g, err := c.continuation(past, (*engine.RecordedRun).Continue)
	if err != nil {
		return err
	}
	base, first := onBehalf(ctx), func() {}
	if cancelFor == nil && cancelled(past.Events) { // its cancellation is completed: cleanup that has run does not run again
		cancelFor = errCancelled
	}
	if cancelFor != nil {
		ctx, cancel := context.WithCancelCause(base)
		base, first = ctx, func() { cancel(cancelFor) }
	}
	return c.continueRun(ctx, base, past, g, "resumed after an interruption", first)
}

// errCancelled is the reason for cancelling a run that was being cancelled when its owner
// was killed.
var errCancelled = errors.New("it was being cancelled when it was interrupted")

// inherited reports whether the run was released by an earlier service that stopped in an
// orderly way. Such a run did not crash that service, however often services are restarted.
// A run that was interrupted while this service owned it is not inherited.
func (c *Control) inherited(p *engine.RecordedRun) bool {
	if !p.Info.Released {
		return false
	}
	for _, e := range slices.Backward(p.Events) {
		if e.Kind == dag.RunResumed {
			return e.Time.Before(c.started)
		}
	}
	return true
}

// adoptions counts how often a run was resumed after a given time and after the last of its
// steps ended.
func adoptions(events []dag.Event, since time.Time) (n int) {
	for _, e := range events {
		switch {
		case e.Kind == dag.StepFinished:
			n = 0
		case e.Kind == dag.RunResumed && e.Time.After(since):
			n++
		}
	}
	return n
}

// cancelled reports whether cancelling the run was requested since it was last resumed.
func cancelled(events []dag.Event) (yes bool) {
	for _, e := range events {
		switch e.Kind {
		case dag.RunResumed:
			yes = false
		case dag.RunCancelling:
			yes = yes || e.Node == "" && (e.Reason == dag.ReasonCancelled || e.Reason == dag.ReasonForced)
		}
	}
	return yes
}
