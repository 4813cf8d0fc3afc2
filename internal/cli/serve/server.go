package serve

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/observe/measure"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/catalog"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/executor"
	"github.com/flowrun/flowrun/internal/service/notify"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// server is a running service and its parts: an engine with metrics and traces, the history, and
// the listeners.
type server struct {
	env       *ui.Env
	flags     serveFlags
	store     ui.History
	remote    history.Store // the runs of another engine; nil for none
	listeners *listeners
	log       *slog.Logger

	webhooks       []config.Webhook
	config         engine.Config // configuration of the engine
	metrics        *measure.Program
	traces         *launch.Traces
	engine         *engine.Engine
	service        *service.Service
	serviceMetrics *measure.Service
	attention      *attention.Watcher
	schedules      atomic.Pointer[timetable.Scheduler] // nil until it fires schedules
}

// serve sets the service up, serves requests until a signal arrives, and shuts everything down.
func (s *server) serve(ctx context.Context, web Web) error {
	if err := s.loadWebhooks(); err != nil {
		return err
	}
	if err := s.makeEngine(ctx); err != nil {
		return err
	}
	defer proc.Keep(procid.DomainOf(s.config.Leftovers))()
	if err := s.makeService(ctx); err != nil {
		return err
	}
	stopMetrics := s.followTools(ctx)
	defer stopMetrics()
	schedules, stopSchedules := s.fireSchedules(ctx)
	defer stopSchedules()
	s.schedules.Store(schedules)
	s.scheduleClocks() // their counters exist before the first scrape
	stopWatching := s.watchAttention(ctx)
	defer stopWatching()
	stop := notifyStop(s.env)
	defer stop.end()
	m := &mcpServer{env: s.env, flags: mcpFlags{ConsentFlags: s.flags.ConsentFlags, timeout: s.flags.Settings.Duration("limits.call-timeout")},
		store: s.store, log: s.log, engine: s.engine, force: stop.second}
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	err := s.listeners.serve(s.env, s.service, web, WebOptions{StateDir: s.config.StateDir, Metrics: s.metrics.Handler(), Webhooks: s.webhooks,
		Version: ui.ThisBuild().Version, Log: s.log, MCP: m.onDemand(following), Stopping: stop.first, Schedules: schedules.ForService(),
		Users:      users.NewRegistry(s.config.StateDir, func(err error) { s.log.Error("cannot read the users", "error", err.Error()) }),
		Attention:  s.attention.Items,
		Audit:      s.store.Audit(),
		UserHeader: s.flags.userHeader, ReadOnly: s.flags.readOnly})
	if err == nil {
		s.listeners.serveStateSocket(s.config.StateDir, s.log)
		defer pruneHistory(ctx, s.env, s.store.Retention(), s.flags.ConsentFlags)()
		defer every(ctx, digestInterval, s.notifier("", "").SendDigests)()
		err = s.listeners.wait(stop, s.log)
	}
	stopSchedules() // before draining: claimed scheduled times have started by then, or are left to the next service
	left := s.drain(m, stop)
	s.listeners.shutdown()
	if err := s.traces.End(ctx, stop.second); err != nil {
		s.log.Warn("traces are not complete", "error", err.Error())
	}
	s.log.Info("stopped", "left", left)
	return err
}

// drain gives the runs of the service, and the calls of clients of the Model Context Protocol, time
// to finish. It returns how many runs are left to the next service.
func (s *server) drain(m *mcpServer, stop *stopSignals) (left int) {
	over, now := time.After(s.flags.drain), make(chan struct{})
	go func() {
		select {
		case <-over:
		case <-stop.second:
		}
		close(now)
	}()
	var work sync.WaitGroup
	work.Go(func() { m.close(now) })
	left = s.service.Drain(s.flags.drain, stop.second)
	work.Wait()
	return left
}

// loadWebhooks loads the webhooks with their secrets, and removes the secrets from the environment
// so that steps cannot read them.
func (s *server) loadWebhooks() (err error) {
	var names []string // names of the variables
	s.webhooks, err = s.flags.Settings.Webhooks(func(name string) string {
		names = append(names, name)
		return os.Getenv(name)
	})
	if err != nil {
		return ui.ServiceErrorf("%w", err)
	}
	if err := confine.ForgetEnv(names...); err != nil && len(names) > 0 {
		return ui.ServiceErrorf("steps could read the secrets of webhooks: %w", err)
	}
	return nil
}

// makeEngine creates the engine that all runs share, with metrics and traces. It also stops the
// processes that a killed service left, even if none of its runs can be resumed.
func (s *server) makeEngine(ctx context.Context) (err error) {
	if s.config, _, err = launch.EngineConfig(s.store, s.flags.ConsentFlags, s.flags.maxParallel); err != nil {
		return err
	}
	load := func() (int, int) { return s.engine.Load() } // called only after the engine exists
	if s.metrics, err = measure.NewProgram(measure.Options{Version: ui.ThisBuild().Version, Load: load}); err != nil {
		return err
	}
	s.config.Journal, s.config.JavaScript = s.metrics.Journal, s.env.JavaScript()
	s.config.Observers = append(s.config.Observers, s.metrics.Observe)
	s.traces = launch.NewServiceTraces(s.log)
	s.traces.AddTo(&s.config)
	s.engine = engine.New(s.config)
	_, err = proc.Sweep(ctx, procid.DomainOf(s.config.Leftovers), time.Second)
	return err
}

// makeService creates the service with the engine and the history.
func (s *server) makeService(ctx context.Context) (err error) {
	s.makeWatcher()
	if s.serviceMetrics, err = s.metrics.Service(s.measured()); err != nil {
		return err
	}
	served := s.flags.Settings.Served()
	for _, p := range served {
		if err := catalog.CheckPattern(p); err != nil {
			return ui.ServiceErrorf("setting serve.tools: %q is not a valid pattern for tool names: %w", p, err)
		}
	}
	s.service, err = service.New(ctx, service.Config{Served: served, Engine: s.engine, Store: s.store, Remote: s.remote, Library: s.env.Library, Log: s.log,
		Changes: s.store.File().Changes, Writable: s.store.File().Writable, Waited: s.serviceMetrics.Waited, MayRetry: s.mayRetry,
		Decide: s.flags.decide, Trusts: s.flags.Settings.Trust.Covers, IsTransient: timetable.IsTemporary, Trace: launch.InheritedTrace(), Ended: s.ended, NotStarted: s.notStarted, CutOff: s.cutOff})
	return err
}

// mayRetry asks the schedules, if the service fires them, whether a run may be retried automatically now.
func (s *server) mayRetry(ctx context.Context, origin string) (bool, error) {
	return s.schedules.Load().MayRetry(ctx, origin)
}

// ended sends the notifications of a run that has ended.
func (s *server) ended(ctx context.Context, e executor.Ended) {
	s.notifier(e.Workspace, e.Result.ID).Notify(ctx, launch.RunEnd{Result: e.Result, Plan: e.Plan, Resumed: e.Resumed, Err: e.Err})
}

// notStarted records the metrics and sends the notifications of a run that could not start.
func (s *server) notStarted(ctx context.Context, u service.NotStarted) {
	run := s.metrics.Run(u.Result.Tool)
	for _, e := range u.Events {
		run.Emit(e)
	}
	s.notifier(u.Workspace, u.Result.ID).Notify(ctx, launch.RunEnd{Result: u.Result, Plan: u.Plan})
}

func (s *server) notifier(workspace, run string) launch.Notifier {
	log := s.log
	if run != "" {
		log = log.With("run", run)
	}
	return launch.Notifier{Store: s.store, Settings: s.flags.Settings, Dir: workspace, Report: func(trouble string) { log.Warn(trouble) }}
}

// fireSchedules fires the schedules until stop is called. It returns nil if the service fires none.
// stop may be called more than once.
func (s *server) fireSchedules(ctx context.Context) (fired *timetable.Scheduler, stop func()) {
	if s.flags.noSchedules {
		return nil, func() {}
	}
	of := timetable.ServiceOf(s.service)
	of.Alarm = s.alarm
	of.Watched = func(t schedule.Schedule) {
		s.serviceMetrics.ScheduleWatched(t.Name, t.MustEndBy.IsSet(), t.PauseAfter > 0)
	}
	return timetable.Start(ctx, s.env.Library(), s.store, of, s.log, timetable.CountFirings(s.serviceMetrics))
}

// alarm sends the notifications about a schedule: a run of it is late, or it was paused.
func (s *server) alarm(ctx context.Context, a timetable.Alarm) {
	plan, _ := s.service.Tools.AnyPlan(a.Entry.Tool) // without one, those of the settings are sent
	o := notify.Outcome{Event: notify.Late, Result: &runresult.Result{ID: a.Run, Tool: a.Entry.Tool},
		Schedule: &notify.Schedule{Name: a.Entry.Title, Scheduled: a.Scheduled, Deadline: a.Deadline, Text: a.Reason}}
	if a.Kind == schedule.Paused {
		o.Event = notify.Paused
	}
	s.notifier(a.Entry.Workspace(), a.Run).NotifySchedule(ctx, plan, o)
}

// pruneInterval is how often a service prunes the history.
const pruneInterval = 10 * time.Minute

// digestInterval is how often a service looks for digests of notifications that are due.
const digestInterval = time.Minute

// pruneHistory prunes the history periodically according to the settings, until stop is called.
func pruneHistory(ctx context.Context, env *ui.Env, s sqlite.Retention, f launch.ConsentFlags) (stop func()) {
	return every(ctx, pruneInterval, func(ctx context.Context) { launch.ApplyRetention(ctx, env, s, f.Settings) })
}

// every does the work periodically, until stop is called.
func every(ctx context.Context, interval time.Duration, work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				work(ctx)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
