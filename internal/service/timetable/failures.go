package timetable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service/schedule"
)

// maxRow is how many of the newest runs of a schedule are looked at to count failures in a row. Runs that were
// cancelled, or have not ended, are among them.
const maxRow = 200

// pauseFailing pauses the schedules whose last runs have failed, if they have pause-after. If it has paused one, the
// caller reads the schedules again.
func (s *Scheduler) pauseFailing(ctx context.Context) (paused bool, err error) {
	var failing []Entry
	for _, e := range s.sortedEntries() {
		if e.PauseAfter > 0 && !e.Paused {
			failing = append(failing, e)
		}
	}
	if len(failing) == 0 {
		return false, nil
	}
	writes, err := s.store.File().Writes()
	if err != nil || s.counted.Unchanged(writes) && time.Since(s.countedAt) < queryInterval {
		return false, err
	}
	for _, e := range failing {
		last, err := s.lastFailures(ctx, e)
		if err != nil {
			return paused, err
		}
		if last == "" {
			continue
		}
		reason := fmt.Sprintf("%d failures in a row", e.PauseAfter)
		if e.PauseAfter == 1 {
			reason = "a run has failed"
		}
		changed, err := s.store.Schedules().PauseBecause(ctx, e.Name, reason)
		switch {
		case err != nil:
			return paused, err
		case changed: // else another service, or a person, was faster
			paused = true
			s.raise(ctx, Alarm{Entry: e, Kind: schedule.Paused, Run: last, Reason: reason})
		}
	}
	s.counted, s.countedAt = writes, time.Now()
	return paused, nil
}

// lastFailures returns the newest run of a schedule if as many of its runs as pause-after says have failed in a row
// since it was last resumed, otherwise "". Only runs that succeeded, failed or timed out count, each together with those
// that retry it.
func (s *Scheduler) lastFailures(ctx context.Context, e Entry) (newest string, err error) {
	list, err := s.firings.SinceResumed(ctx, e.Name, maxRow)
	failures := 0
	for _, f := range list {
		info, err := s.store.Info(ctx, f.Run)
		if errors.Is(err, history.ErrNoRun) || err == nil && info.Origin == BackfillOrigin(e.Name) {
			continue
		}
		if err != nil {
			return "", err
		}
		switch info.Status {
		case dag.Succeeded:
			return "", nil
		case dag.Failed, dag.TimedOut:
			retries, err := s.retriesOf(ctx, info)
			if err != nil || slices.ContainsFunc(retries, func(r history.RunInfo) bool { return r.Status == dag.Succeeded }) {
				return "", err
			}
			if slices.ContainsFunc(append(retries, info), mayYetSucceed) { // it counts together with its retries
				continue
			}
			if failures++; failures == 1 {
				newest = f.Run
			}
			if failures == e.PauseAfter {
				return newest, nil
			}
		}
	}
	return "", err
}

// mayYetSucceed reports whether a run has not ended, or is retried automatically.
func mayYetSucceed(r history.RunInfo) bool { return r.Ended.IsZero() || !r.RetryAt.IsZero() }
