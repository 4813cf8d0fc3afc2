package timetable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// MaxBackfill is the maximum number of scheduled times of one backfill.
const MaxBackfill = 10_000

// BackfillOrigin returns the origin of the runs that a backfill of a schedule starts. They are no runs of
// the schedule: overlap and pause-after do not see them.
func BackfillOrigin(id string) string { return "backfill:" + id }

// Backfill starts runs for past scheduled times of a schedule.
type Backfill struct {
	Firings sqlite.Firings
	Entry   Entry
	// MaxParallel is how many runs are active at once; 0 is 1.
	MaxParallel int
	// Execute runs the tool, with this id for the run, and returns the status when the run is no longer active. An
	// error means that the run has not started.
	Execute func(ctx context.Context, run string, params map[string]any) (status string, err error)
	// Wanted reports whether the backfill may start another run. It is called before each; nil: it may.
	Wanted func(ctx context.Context) (bool, error)
	// Report is called, one call at a time, with each time when its run starts, and when it is no longer active.
	Report func(service.BackfillTime)
}

// PlanBackfill returns the scheduled times from from up to, but not including, to, with what happened at
// them, oldest first. Status "" is that of a time for which a backfill would start a run. to must not be in the
// future. Error: an outcome.ErrBackfill.
func PlanBackfill(ctx context.Context, s Store, e Entry, from, to, now time.Time) ([]service.BackfillTime, error) {
	switch {
	case e.Trigger != nil:
		return nil, fmt.Errorf("%w: %s runs %s, so it has no scheduled times", outcome.ErrBackfill, e.Title, e.When())
	case !from.Before(to):
		return nil, fmt.Errorf("%w: from must be before to", outcome.ErrBackfill)
	case to.After(now):
		return nil, fmt.Errorf("%w: to is in the future, where flowrun serve starts the runs", outcome.ErrBackfill)
	}
	plan, err := WithAnchor(ctx, s.Firings(), e)
	if err != nil {
		return nil, err
	}
	known, err := s.Firings().Between(ctx, e.Name, from.Add(-time.Nanosecond), to.Add(-time.Nanosecond), -1)
	if err != nil {
		return nil, err
	}
	fired := map[int64]sqlite.Firing{}
	for _, f := range known {
		fired[f.Scheduled.UnixNano()] = f
	}
	var list []service.BackfillTime
	for at := plan.Next(from.Add(-time.Nanosecond)); !at.IsZero() && at.Before(to); at = plan.Next(at) {
		if len(list) == MaxBackfill {
			return nil, fmt.Errorf("%w: there are more than %d scheduled times; choose a shorter range", outcome.ErrBackfill, MaxBackfill)
		}
		t := service.BackfillTime{At: at}
		if f, ok := fired[at.UnixNano()]; ok && f.Run != "" {
			d, err := describeFiring(ctx, s, e, f)
			if err != nil {
				return nil, err
			}
			if t.Run, t.Status = d.Run, d.Status; d.Status == "due" && now.Sub(f.At) > abandonedAfter {
				t.Status = "" // who claimed it was killed before the run started, or it is queued; its id is taken once
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// Run starts runs for the times that have none, oldest first, until ctx ends. It returns when the runs that it
// has started are no longer active. Each time is claimed, so that neither another backfill nor a service starts a
// second run for it. A run that cannot start is reported with its error, and the time stays without a run.
func (b *Backfill) Run(ctx context.Context, times []service.BackfillTime) error {
	slots := make(chan struct{}, max(1, b.MaxParallel))
	var work sync.WaitGroup
	defer work.Wait()
	var mu sync.Mutex
	report := func(t service.BackfillTime) {
		mu.Lock()
		defer mu.Unlock()
		b.Report(t)
	}
	for _, t := range times {
		if t.Status != "" {
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if wanted, err := b.wanted(ctx); err != nil || !wanted {
			return err
		}
		if t.Run == "" {
			run := history.NewID(time.Now())
			mine, err := b.Firings.ClaimPast(ctx, b.Entry.Name, t.At, run)
			if err != nil {
				return err
			}
			if !mine {
				<-slots
				continue
			}
			t.Run = run
		}
		work.Go(func() {
			defer func() { <-slots }()
			t.Status = "running"
			report(t)
			var err error
			if t.Status, err = b.Execute(ctx, t.Run, b.Entry.paramsAt(t.At)); err != nil {
				reason := "backfill: the run cannot start: " + err.Error()
				t.Status, t.Reason = "skipped", errors.Join(err, b.Firings.Abandon(context.WithoutCancel(ctx), t.Run, reason)).Error()
			}
			report(t)
		})
	}
	return nil
}

func (b *Backfill) wanted(ctx context.Context) (bool, error) {
	if b.Wanted == nil {
		return true, nil
	}
	return b.Wanted(ctx)
}

// Backfill implements service.Schedules.
func (s *Scheduler) Backfill(ctx context.Context, name string, from, to time.Time, parallel int, preview bool) ([]service.BackfillTime, error) {
	e, err := s.find(name)
	if err != nil {
		return nil, err
	}
	times, err := PlanBackfill(ctx, s.store, e, from, to, time.Now())
	if err != nil || preview {
		return times, err
	}
	if s.backfilling(e.Name) {
		return nil, outcome.ErrBackfillRunning
	}
	if err := s.store.Schedules().AddBackfill(ctx, sqlite.Backfill{Schedule: e.Name, From: from, To: to, Parallel: parallel}); err != nil {
		return nil, err
	}
	if !s.runBackfill(e, times, parallel) {
		return nil, outcome.ErrBackfillRunning
	}
	return times, nil
}

func (s *Scheduler) backfilling(schedule string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.backfills[schedule] != nil
}

// runBackfill runs a backfill in the background, and reports false if one of the schedule is running. The backfill is kept in
// the history until it has ended or a person has stopped it, so that the next service continues it.
func (s *Scheduler) runBackfill(e Entry, times []service.BackfillTime, parallel int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backfills[e.Name] != nil {
		return false
	}
	own, cancel := context.WithCancel(s.ctx)
	s.backfills[e.Name] = cancel
	kept := func(ctx context.Context) (bool, error) { // a person may have stopped it in another service
		list, err := s.store.Schedules().Backfills(ctx)
		return slices.ContainsFunc(list, func(k sqlite.Backfill) bool { return k.Schedule == e.Name }), err
	}
	b := Backfill{Firings: s.firings, Entry: e, MaxParallel: parallel, Wanted: kept, Report: func(service.BackfillTime) {},
		Execute: func(ctx context.Context, run string, params map[string]any) (string, error) {
			return s.execute(ctx, e, run, params)
		}}
	s.starting.Go(func() {
		err := b.Run(own, times)
		if own.Err() == nil {
			_, bad := s.store.Schedules().RemoveBackfill(own, e.Name)
			err = errors.Join(err, bad)
		}
		if err != nil && own.Err() == nil {
			s.log.Error("the backfill stopped", "schedule", e.Name, "error", err.Error())
		}
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.backfills, e.Name)
	})
	return true
}

// continueBackfills continues backfills of earlier services, when the schedules are known.
func (s *Scheduler) continueBackfills(ctx context.Context, list []sqlite.Backfill) {
	for !s.loaded() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(idleInterval):
		}
	}
	for _, b := range list {
		e, known := s.entry(b.Schedule)
		if !known {
			continue // of another project, or of a definition that is invalid now
		}
		times, err := PlanBackfill(ctx, s.store, e, b.From, b.To, time.Now())
		if err != nil {
			s.log.Error("cannot continue a backfill", "schedule", e.Name, "error", err.Error())
			continue
		}
		if s.runBackfill(e, times, b.Parallel) {
			s.log.Info("continuing a backfill", "schedule", e.Name)
		}
	}
}

// execute starts a run of a backfill and waits until it is no longer active, or until ctx ends.
func (s *Scheduler) execute(ctx context.Context, e Entry, run string, params map[string]any) (status string, err error) {
	_, err = s.service.Starter.Start(context.WithoutCancel(ctx), service.Request{Tool: e.Tool, Params: params, Labels: e.Labels, Origin: BackfillOrigin(e.Name), ID: run, Claimed: true, Unlisted: true})
	if err != nil {
		return "", err
	}
	for {
		info, err := s.store.Info(context.WithoutCancel(ctx), run)
		switch {
		case err != nil && !errors.Is(err, history.ErrNoRun):
			return "", err
		case err == nil && !info.Live():
			return info.Status.String(), nil
		}
		select {
		case <-ctx.Done():
			return info.Status.String(), nil
		case <-time.After(queueInterval):
		}
	}
}

// StopBackfill implements service.Schedules.
func (s *Scheduler) StopBackfill(ctx context.Context, name string) (stopped bool, err error) {
	e, err := s.find(name)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	stop := s.backfills[e.Name]
	if stop != nil {
		stop()
	}
	s.mu.Unlock()
	kept, err := s.store.Schedules().RemoveBackfill(ctx, e.Name)
	return stop != nil || kept, err
}
