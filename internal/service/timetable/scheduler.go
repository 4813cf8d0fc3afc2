package timetable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/observe/measure"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/library"
)

// Service is what the scheduler needs of a service.
type Service struct {
	Starter interface {
		Start(ctx context.Context, r service.Request) (string, error)
	}
	Control interface {
		Cancel(ctx context.Context, id, reason string) error
	}
	Tools interface {
		AnyPlan(name string) (*engine.Plan, error)
		Version() uint64
	}
	Allows      func(*engine.Plan) error // see service.Policy
	NeedsPerson func(run string) bool    // see service.Parking
	// Alarm sends the notifications of an alarm. It is called from several goroutines; nil: none are sent.
	Alarm func(ctx context.Context, a Alarm)
	// Watched is called with each schedule that the service fires, also again; nil: it is not called.
	Watched func(schedule.Schedule)
}

// ServiceOf returns the parts of a service.
func ServiceOf(s *service.Service) Service {
	return Service{Starter: s.Starter, Control: s.Control, Tools: s.Tools, Allows: s.Policy.Allows, NeedsPerson: s.Parked.NeedsPerson}
}

// Store is the history with the schedules.
type Store interface {
	history.Store
	Schedules() sqlite.Schedules
	Firings() sqlite.Firings
	File() sqlite.File
}

// Scheduler fires the schedules of a service. The loop of package schedule decides which scheduled
// times are due. Scheduler tells it about runs (schedule.Runs) and about the set of schedules
// (reload.go), and starts queued runs when earlier ones have ended (queue.go). All of this state
// can be lost at any moment, because the history has every time that was claimed.
type Scheduler struct {
	library *library.Library
	store   Store
	firings sqlite.Firings
	service Service
	log     *slog.Logger
	project string // project of the service, or ""
	began   time.Time
	loop    *schedule.Loop
	observe func(schedule.Report)

	wake     chan struct{}  // receives a value when claims has grown
	starting sync.WaitGroup // runs that are being started, and alarms that are being sent
	watching sync.WaitGroup // the watchers of triggers

	mu         sync.Mutex
	claims     []schedule.Firing // claimed times whose runs have not started yet
	entries    map[string]Entry  // schedules that this service fires, by id; nil until they have been read
	stopped    []Stopped         // schedules that do not run
	incomplete bool              // some definitions could not be read, so their schedules are unknown
	tools      map[string]bool   // tools that have schedules
	// exceptFiles are files with days: reload reads them again after a change.
	exceptFiles []string
	alarms      chan struct{}                 // one place for each alarm that is being sent
	backfills   map[string]context.CancelFunc // backfills that are running, by schedule
	ctx         context.Context               // ends when the scheduler stops
	counted     sqlite.Writes                 // to the history when failures were last counted
	countedAt   time.Time
	reported    map[string]bool // problems that have been logged
	queued      map[string]bool // runs that this service has queued
}

var _ schedule.Runs = (*Scheduler)(nil)

// Start starts to fire schedules. stop waits until all runs that are being started have started.
func Start(ctx context.Context, lib *library.Library, store Store, sv Service, log *slog.Logger, observe func(schedule.Report)) (s *Scheduler, stop func()) {
	s = &Scheduler{observe: observe, library: lib, store: store, firings: store.Firings(), service: sv, log: log, project: ProjectHere(), began: time.Now(),
		tools: map[string]bool{}, reported: map[string]bool{}, queued: map[string]bool{}, wake: make(chan struct{}, 1)}
	s.loop = schedule.New(schedule.Config{Store: s.firings, Runs: s, Observe: func(r schedule.Report) {
		s.report(r)
		observe(r)
	}})
	ctx, cancel := context.WithCancel(ctx)
	s.alarms = make(chan struct{}, maxAlarms)
	s.ctx, s.backfills = ctx, map[string]context.CancelFunc{}
	left, err := store.Schedules().Backfills(ctx) // before anybody can ask for one
	if err != nil {
		log.Error("cannot continue backfills", "error", err.Error())
	}
	var work sync.WaitGroup
	s.reload(ctx)                                 // before queued runs are checked, which requires the set of schedules
	if paused, _ := s.pauseFailing(ctx); paused { // before a missed time is caught up; watchChanges reports an error
		s.reload(ctx)
	}
	work.Go(func() { s.watchChanges(ctx) })
	work.Go(func() { s.advanceQueue(ctx) })
	work.Go(func() { s.loop.Run(ctx) })
	work.Go(func() { s.startClaimed(ctx) })
	work.Go(func() { s.continueBackfills(ctx, left) })
	work.Go(func() { s.watchTriggers(ctx) })
	work.Go(func() { s.watchDeadlines(ctx) })
	return s, func() {
		cancel()
		work.Wait()
		s.watching.Wait()
		s.starting.Wait()
	}
}

// Origin returns the origin of the runs of a schedule.
func Origin(id string) string { return "schedule:" + id }

// originOf returns the origin of the runs of an entry: schedule:NAME, file:NAME or after:NAME.
func (s *Scheduler) originOf(id string) string {
	if e, known := s.entry(id); known && e.Trigger != nil {
		return e.Trigger.Kind + ":" + id
	}
	return Origin(id)
}

// active returns the schedule's active runs, and how many of its runs are queued. An interrupted
// run counts as active, because the service resumes it, unless it needs a person.
func (s *Scheduler) active(ctx context.Context, id string) (runs []history.RunInfo, queued int, err error) {
	now, err := s.firings.CountRuns(ctx, id, s.originOf(id))
	for _, r := range now.Runs {
		if r.Status != dag.Interrupted || !s.service.NeedsPerson(r.ID) {
			runs = append(runs, r)
		}
	}
	return runs, now.Waiting, err
}

// Active implements schedule.Runs.
func (s *Scheduler) Active(ctx context.Context, p *schedule.Schedule) (running, queued int, err error) {
	runs, queued, err := s.active(ctx, p.Name)
	return len(runs), queued, err
}

// LastSuccess implements schedule.Runs. It ignores the runs of all schedules, because those may
// have other parameters.
func (s *Scheduler) LastSuccess(ctx context.Context, p *schedule.Schedule) (time.Time, error) {
	list, err := s.store.Runs(ctx, history.Query{Tool: p.Tool, Status: []dag.Status{dag.Succeeded}, Limit: 100})
	for _, r := range list {
		if !isScheduleOrigin(r.Origin) {
			return r.Started, nil
		}
	}
	return time.Time{}, err
}

// NewID implements schedule.Runs.
func (s *Scheduler) NewID() string { return history.NewID(time.Now()) }

// Start implements schedule.Runs.
func (s *Scheduler) Start(ctx context.Context, f schedule.Firing) error {
	switch f.Action {
	case schedule.Replace:
		s.markQueued(f.Run)
		return s.cancelAll(ctx, f.Schedule.Name)
	case schedule.Queue:
		s.markQueued(f.Run)
		return nil
	}
	if e, known := s.entry(f.Schedule.Name); known && e.Trigger == nil {
		f.Schedule.Params = e.paramsAt(f.Scheduled.At)
	}
	s.mu.Lock()
	s.claims = append(s.claims, f)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

const (
	// Starting a run takes a hundred times as long as claiming a time, and many times are due at
	// the same moment. So runs start when no time has been claimed for settleTime, or after
	// maxSettleTime at the latest.
	settleTime    = 25 * time.Millisecond
	maxSettleTime = 250 * time.Millisecond
	// maxStarting is how many runs are started concurrently.
	maxStarting = 16
)

// startClaimed starts the runs of times that were claimed.
func (s *Scheduler) startClaimed(ctx context.Context) {
	room := make(chan struct{}, maxStarting)
	for {
		for _, f := range s.collectClaims(ctx) {
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			s.starting.Go(func() {
				defer func() { <-room }()
				if err := s.startRun(ctx, f.Schedule, f.Run); err != nil && ctx.Err() == nil {
					s.report(schedule.Report{Kind: schedule.Failed, Schedule: f.Schedule.Name, Scheduled: f.Scheduled.At, Run: f.Run, Err: err})
				}
			})
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// collectClaims collects claimed times until no more arrive. Times whose runs are not started
// because ctx ends remain claimed in the history.
func (s *Scheduler) collectClaims(ctx context.Context) []schedule.Firing {
	var quiet, longest <-chan time.Time
	for done := false; !done; {
		select {
		case <-s.wake:
			if longest == nil {
				longest = time.After(maxSettleTime)
			}
			quiet = time.After(settleTime)
		case <-quiet:
			done = true
		case <-longest:
			done = true
		case <-ctx.Done():
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.claims
	s.claims = nil
	return list
}

// startRun starts the run of a claimed time. If the run can never start, it is recorded as failed or
// the claim is abandoned, and the error says why. For a temporary error, the claim is kept and
// retried later.
func (s *Scheduler) startRun(ctx context.Context, p schedule.Schedule, run string) error {
	_, err := s.service.Starter.Start(ctx, service.Request{Tool: p.Tool, Params: p.Params, Labels: p.Labels, Origin: s.originOf(p.Name), ID: run, Claimed: true, Unlisted: true})
	if err == nil || IsTemporary(err) {
		return err
	}
	reason := "the run cannot start: " + err.Error()
	return errors.Join(err, s.firings.Abandon(context.WithoutCancel(ctx), run, reason))
}

// IsTemporary reports whether the error that prevented a run from starting is temporary and not
// caused by the run itself.
func IsTemporary(err error) bool {
	_, history := errors.AsType[*sqlite.Error](err)
	return history || errors.Is(err, outcome.ErrDraining) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// cancelAll asks the schedule's active runs to stop.
func (s *Scheduler) cancelAll(ctx context.Context, id string) error {
	list, _, err := s.active(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range list {
		if e := s.service.Control.Cancel(ctx, r.ID, "replaced by the next run of its schedule"); e != nil && !errors.Is(e, outcome.ErrNotRunning) {
			err = errors.Join(err, fmt.Errorf("cannot cancel run %s: %w", r.ID, e))
		}
	}
	return err
}

// report logs what people may want to know. The service itself logs the start of runs.
func (s *Scheduler) report(r schedule.Report) {
	log := s.log.With("schedule", r.Schedule, "slot", r.Scheduled.UTC().Format(time.RFC3339))
	switch r.Kind {
	case schedule.Skipped:
		log.Info("scheduled time skipped", "reason", r.Reason)
	case schedule.Missed:
		log.Warn("scheduled times missed", "count", r.Count, "reason", r.Reason)
	case schedule.Late:
		log.Warn("scheduled run is late", "run", r.Run, "reason", r.Reason)
	case schedule.Paused:
		s.log.Warn("schedule paused", "schedule", r.Schedule, "run", r.Run, "reason", r.Reason)
	case schedule.Failed:
		if !errors.Is(r.Err, outcome.ErrDraining) {
			log.Error("scheduled run failed to start", "error", service.Loggable(r.Err))
		}
	case schedule.Jumped:
		s.log.Warn("the clock was changed", "by", r.Lag.Round(time.Second).String())
	}
}

// CountFirings returns an observer that counts the reports of the loop as metrics.
func CountFirings(m *measure.Service) func(schedule.Report) {
	return func(r schedule.Report) {
		switch r.Kind {
		case schedule.Fired:
			m.ScheduleFired(r.Lag)
		case schedule.Missed:
			m.SchedulesMissed(r.Schedule, r.Count)
		case schedule.Late:
			m.ScheduleLate(r.Schedule)
		case schedule.Paused:
			m.SchedulePaused(r.Schedule)
		}
	}
}
