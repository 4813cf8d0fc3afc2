package timetable

import (
	"context"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/schedule"
	"github.com/flowrun/flowrun/internal/sqlite"
)

// The queue consists of the times that were claimed but whose runs have not started, as recorded in
// the history: runs that wait until earlier ones have ended, and runs of a service that was killed
// before it could start them.

const (
	// lineEvery is how often the queue is checked while it contains runs of this service, idleEvery
	// how often otherwise.
	lineEvery = 100 * time.Millisecond
	idleEvery = time.Second
	// takeOver is the age at which a claim of another service counts as abandoned. It is far longer
	// than starting a run takes.
	takeOver = 10 * time.Second
)

func isScheduled(who string) bool { return strings.HasPrefix(who, origin("")) }

// queue notes that this service has queued a run.
func (s *Scheduler) queue(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line[run] = true
}

// advanceQueue starts queued runs when earlier runs have ended. Claims of other services are
// considered immediately when this service starts, and later only after takeOver.
func (s *Scheduler) advanceQueue(ctx context.Context) {
	for first := true; ; {
		pause, looked := idleEvery, s.looked()
		waits, err := s.beginQueued(ctx, first)
		first = first && !looked
		if err != nil && ctx.Err() == nil {
			s.log.Error("cannot read the queue of scheduled runs", "error", err.Error())
		}
		if waits {
			pause = lineEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// beginQueued starts the runs that can start, the oldest of each schedule first. With all, it also
// starts recent claims of other services. waits reports whether runs of this service still wait.
func (s *Scheduler) beginQueued(ctx context.Context, all bool) (waits bool, err error) {
	if !s.looked() {
		return true, nil // the set of schedules is not known yet
	}
	open, err := s.book.Open(ctx)
	if err != nil {
		return false, err
	}
	s.forgetEnded(open)
	before := map[string]bool{}
	for _, f := range open {
		p, known := s.plan(f.Schedule)
		if !known {
			if err := s.orphan(ctx, f, all); err != nil {
				return waits, err
			}
			continue
		}
		mine := s.isQueued(f.Run)
		turn, err := s.turn(ctx, p, before[f.Schedule])
		if err != nil {
			return waits, err
		}
		before[f.Schedule] = true
		switch {
		case p.Paused:
		case turn && (all || mine || time.Since(f.At) > takeOver):
			if err := s.begin(ctx, p.Schedule, f.Run); err != nil {
				s.report(schedule.Report{Kind: schedule.Failed, Schedule: f.Schedule, Scheduled: f.Scheduled, Run: f.Run, Err: err})
			}
		case mine:
			waits = true
		}
	}
	return waits, nil
}

// turn reports whether a run of the schedule may start. behind means that an earlier run of the
// schedule is queued.
func (s *Scheduler) turn(ctx context.Context, p Planned, behind bool) (bool, error) {
	if p.Overlap == schedule.OverlapAllow {
		return true, nil
	}
	if behind {
		return false, nil
	}
	list, _, err := s.active(ctx, p.Name)
	return len(list) == 0, err
}

// orphan abandons the claim of a schedule that no longer exists. Claims of other projects are left
// to the services of those projects.
func (s *Scheduler) orphan(ctx context.Context, f sqlite.Firing, all bool) error {
	_, project, _ := strings.Cut(f.Schedule, "@")
	if project != "" && project != s.here || !all && time.Since(f.At) < takeOver || s.half() {
		return nil
	}
	return s.book.Abandon(ctx, f.Run, "the schedule was removed")
}

func (s *Scheduler) plan(id string) (Planned, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, known := s.plans[id]
	return p, known
}

// looked reports whether the schedules have been read.
func (s *Scheduler) looked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plans != nil
}

// half reports whether some definitions could not be read. An unknown schedule may be part of one
// of them, so its claims are kept until the definition is fixed.
func (s *Scheduler) half() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blind
}

func (s *Scheduler) isQueued(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line[run]
}

// forgetEnded removes runs that are no longer queued.
func (s *Scheduler) forgetEnded(open []sqlite.Firing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.line) == 0 {
		return
	}
	there := map[string]bool{}
	for _, f := range open {
		there[f.Run] = true
	}
	for run := range s.line {
		if !there[run] {
			delete(s.line, run)
		}
	}
}
