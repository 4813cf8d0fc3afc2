package timetable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Alarm is something about a schedule that its author wants to know, but that no end of a run tells.
type Alarm struct {
	Entry     Entry
	Kind      schedule.Kind // schedule.Late or schedule.Paused
	Scheduled time.Time     // the time whose run is late
	Deadline  time.Time
	Run       string // the run of that time, or the last that failed; "" if there was none
	Reason    string // in words
}

// maxAlarms is how many alarms are sent at the same time: after an outage there may be a hundred.
const maxAlarms = 4

// raise logs and counts an alarm, and sends its notifications.
func (s *Scheduler) raise(ctx context.Context, a Alarm) {
	r := schedule.Report{Kind: a.Kind, Schedule: a.Entry.Name, Scheduled: a.Scheduled, Run: a.Run, Reason: a.Reason}
	s.report(r)
	s.observe(r)
	if s.service.Alarm != nil {
		s.starting.Go(func() {
			s.alarms <- struct{}{}
			defer func() { <-s.alarms }()
			s.service.Alarm(context.WithoutCancel(ctx), a)
		})
	}
}

// watchDeadlines checks the deadlines of scheduled times until ctx ends.
func (s *Scheduler) watchDeadlines(ctx context.Context) {
	for {
		if err := s.checkDeadlines(ctx, time.Now()); err != nil && ctx.Err() == nil {
			s.log.Error("cannot check the deadlines of schedules", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(idleInterval):
		}
	}
}

// checkDeadlines checks the deadlines that have passed, also while no service was running.
func (s *Scheduler) checkDeadlines(ctx context.Context, now time.Time) error {
	if !s.loaded() {
		return nil
	}
	list, err := s.firings.PastDeadline(ctx, now)
	for _, f := range list {
		e, known := s.entry(f.Schedule)
		if !known && !s.isOrphan(f) {
			continue // of another project, or of a definition that is invalid now
		}
		state, late, err := s.lateness(ctx, e, f)
		if err != nil {
			return err
		}
		mine, err := s.firings.CloseDeadline(ctx, f, late && known)
		switch {
		case err != nil:
			return err
		case !mine || !late || !known:
			continue
		}
		zone := e.Zone()
		s.raise(ctx, Alarm{Entry: e, Kind: schedule.Late, Scheduled: f.Scheduled.In(zone), Deadline: f.MustEnd.In(zone), Run: f.Run,
			Reason: fmt.Sprintf("the run of %s had to succeed by %s, but %s", clockText(f.Scheduled.In(zone)), clockText(f.MustEnd.In(zone)), state)})
	}
	return err
}

func clockText(t time.Time) string { return t.Format("2006-01-02 15:04:05 -07:00") }

// isOrphan reports whether a firing belongs to a schedule that no longer exists, and whose project is that
// of this service.
func (s *Scheduler) isOrphan(f sqlite.Firing) bool {
	_, project, _ := strings.Cut(f.Schedule, "@")
	return (project == "" || project == s.project) && !s.isIncomplete()
}

// lateness reports whether no run of a scheduled time has succeeded by its deadline, and in words what
// happened instead. A run that history has pruned counts as successful.
func (s *Scheduler) lateness(ctx context.Context, e Entry, f sqlite.Firing) (state string, late bool, err error) {
	if f.Run == "" {
		return "no run has started: " + f.Reason, true, nil
	}
	info, err := s.store.Info(ctx, f.Run)
	switch {
	case errors.Is(err, history.ErrNoRun) && f.Open:
		return "it has not started", true, nil
	case errors.Is(err, history.ErrNoRun):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	done, err := s.succeeded(ctx, info)
	switch {
	case err != nil:
		return "", false, err
	case done.IsZero():
		state = "its status is " + info.Status.String()
		if !info.RetryAt.IsZero() {
			state += ", and its next attempt begins at " + clockText(info.RetryAt.In(e.Zone()))
		}
		return state, true, nil
	case done.After(f.MustEnd):
		return "it succeeded at " + clockText(done.In(e.Zone())), true, nil
	}
	return "", false, nil
}

// succeeded returns when a run, or a retry of it, has succeeded; zero if none has.
func (s *Scheduler) succeeded(ctx context.Context, run history.RunInfo) (time.Time, error) {
	switch run.Status {
	case dag.Succeeded:
		return run.Ended, nil
	case dag.Running, dag.Pending, dag.Waiting:
		return time.Time{}, nil
	}
	retries, err := s.retriesOf(ctx, run)
	for _, r := range retries {
		if r.Status == dag.Succeeded {
			return r.Ended, nil
		}
	}
	return time.Time{}, err
}

// retriesOf returns the runs that retry a run, or one of each other, oldest first.
func (s *Scheduler) retriesOf(ctx context.Context, run history.RunInfo) (retries []history.RunInfo, err error) {
	list, err := s.store.Runs(ctx, history.Query{Tool: run.Tool, Since: run.Started, Limit: 1000})
	attempts := map[string]bool{run.ID: true}
	for i := len(list) - 1; i >= 0; i-- {
		if r := list[i]; attempts[r.RetryOf] {
			attempts[r.ID] = true
			retries = append(retries, r)
		}
	}
	return retries, err
}
