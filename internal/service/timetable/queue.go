package timetable

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// The queue consists of the times that were claimed but whose runs have not started, as recorded in
// the history: runs that wait until earlier ones have ended, and runs of a service that was killed
// before it could start them.

// queueInterval is how often the queue is checked while it contains runs of this service,
// idleInterval how often it, and what else may have changed, is checked otherwise. A test of a week makes
// them longer.
var (
	queueInterval = 100 * time.Millisecond
	idleInterval  = time.Second
)

const (
	// abandonedAfter is the age at which a claim of another service counts as abandoned. It is far
	// longer than starting a run takes.
	abandonedAfter = 10 * time.Second
)

func isScheduleOrigin(who string) bool {
	return strings.HasPrefix(who, Origin("")) || strings.HasPrefix(who, BackfillOrigin(""))
}

// markQueued notes that this service has queued a run.
func (s *Scheduler) markQueued(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued[run] = true
}

// advanceQueue starts queued runs when earlier runs have ended. Claims of other services are
// considered immediately when this service starts, and later only after abandonedAfter.
func (s *Scheduler) advanceQueue(ctx context.Context) {
	for first := true; ; {
		pause, looked := idleInterval, s.loaded()
		waits, err := s.startQueued(ctx, first)
		first = first && !looked
		if err != nil && ctx.Err() == nil {
			s.log.Error("cannot read the queue of scheduled runs", "error", err.Error())
		}
		if waits {
			pause = queueInterval
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// startQueued starts the runs that can start, the oldest of each schedule first. With all, it also
// starts recent claims of earlier services; those made since may be by a backfill that is about to start them. waits reports whether runs of this service still wait.
func (s *Scheduler) startQueued(ctx context.Context, all bool) (waits bool, err error) {
	if !s.loaded() {
		return true, nil // the set of schedules is not known yet
	}
	open, err := s.firings.Open(ctx)
	if err != nil {
		return false, err
	}
	s.forgetEnded(open)
	before := map[string]bool{}
	for _, f := range open {
		p, known := s.entry(f.Schedule)
		if !known {
			if err := s.abandonOrphan(ctx, f, all); err != nil {
				return waits, err
			}
			continue
		}
		mine := s.isQueued(f.Run)
		turn, err := s.mayStart(ctx, p, before[f.Schedule])
		if err != nil {
			return waits, err
		}
		before[f.Schedule] = true
		switch {
		case p.Paused:
		case turn && (all && f.At.Before(s.began) || mine || time.Since(f.At) > abandonedAfter):
			if err := s.startRun(ctx, p.claimed(f), f.Run); err != nil {
				s.report(schedule.Report{Kind: schedule.Failed, Schedule: f.Schedule, Scheduled: f.Scheduled, Run: f.Run, Err: err})
			}
		case mine:
			waits = true
		}
	}
	return waits, nil
}

// mayStart reports whether a run of the schedule may start. earlierQueued means that an earlier run
// of the schedule is queued.
func (s *Scheduler) mayStart(ctx context.Context, p Entry, earlierQueued bool) (bool, error) {
	if p.Overlap == schedule.OverlapAllow {
		return true, nil
	}
	if earlierQueued {
		return false, nil
	}
	list, _, err := s.active(ctx, p.Name)
	return len(list) == 0, err
}

// MayRetry reports whether a run with that origin may be retried automatically now. A run of a schedule may not while the
// schedule is paused, or while another of its runs is active, unless the schedule allows that. A nil Scheduler, that of a
// service without schedules, leaves these runs to others.
func (s *Scheduler) MayRetry(ctx context.Context, origin string) (bool, error) {
	kind, id, _ := strings.Cut(origin, ":")
	if !slices.Contains([]string{"schedule", "file", "after"}, kind) {
		return true, nil
	}
	if s == nil || !s.loaded() {
		return false, nil
	}
	e, known := s.entry(id)
	switch {
	case !known: // it was removed, or another service fires it
		return s.isOrphan(sqlite.Firing{Schedule: id}), nil
	case e.Paused:
		return false, nil
	}
	return s.mayStart(ctx, e, false)
}

// abandonOrphan abandons the claim of a schedule that no longer exists. Claims of other projects
// are left to the services of those projects.
func (s *Scheduler) abandonOrphan(ctx context.Context, f sqlite.Firing, all bool) error {
	if !s.isOrphan(f) || !all && time.Since(f.At) < abandonedAfter {
		return nil
	}
	return s.firings.Abandon(ctx, f.Run, "the schedule was removed")
}

func (s *Scheduler) entry(id string) (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, known := s.entries[id]
	return p, known
}

// loaded reports whether the schedules have been read.
func (s *Scheduler) loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries != nil
}

// isIncomplete reports whether some definitions could not be read. An unknown schedule may be part
// of one of them, so its claims are kept until the definition is fixed.
func (s *Scheduler) isIncomplete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.incomplete
}

func (s *Scheduler) isQueued(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued[run]
}

// forgetEnded removes runs that are no longer queued.
func (s *Scheduler) forgetEnded(open []sqlite.Firing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queued) == 0 {
		return
	}
	there := map[string]bool{}
	for _, f := range open {
		there[f.Run] = true
	}
	for run := range s.queued {
		if !there[run] {
			delete(s.queued, run)
		}
	}
}
