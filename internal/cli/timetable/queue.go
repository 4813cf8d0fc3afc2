package timetable

import (
	"context"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/schedule"
	"github.com/flowrun/flowrun/internal/sqlite"
)

// The line is the slots that were claimed and whose run has not begun, as the history has
// them: those that wait until the runs before them have ended, and those of a service
// that died between the two.

const (
	// lineEvery is how often the line is looked at while this service has put something
	// there, idleEvery how often else.
	lineEvery = 100 * time.Millisecond
	idleEvery = time.Second
	// takeOver is how old a claim of another service is before it counts as left behind:
	// far longer than it takes to begin a run.
	takeOver = 10 * time.Second
)

func isScheduled(who string) bool { return strings.HasPrefix(who, origin("")) }

// queue notes that a run waits here for its turn.
func (s *Scheduler) queue(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line[run] = true
}

// advanceQueue begins the runs in line when their turn has come. What another service has
// claimed is looked at first when this one begins.
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

// beginQueued begins what can begin, the oldest of each schedule first, and says whether
// something of this service still waits.
func (s *Scheduler) beginQueued(ctx context.Context, all bool) (waits bool, err error) {
	if !s.looked() {
		return true, nil // nobody knows yet which schedules there are
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

// turn says whether a run of the schedule may begin; behind says that another is in line
// before it.
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

// orphan leaves out a slot whose schedule is gone. That of another project is another
// service's affair.
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

// looked says whether the schedules have been read.
func (s *Scheduler) looked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plans != nil
}

// half says that definitions could not be read: a schedule that is not known may be in one
// of them, and what it has claimed stays until that is mended.
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

// forgetEnded forgets runs that are no longer in line.
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
