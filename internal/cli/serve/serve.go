package serve

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/timetable"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/policy"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/metrics"
)

// Web makes the entry point of flowrun serve for programs.
type Web func(service.Surface, WebOptions) (http.Handler, error)

// WebOptions is what the door of a service for programs is told beside the service.
type WebOptions struct {
	Tokens   []service.Token // what callers show who come by TCP
	Hosts    []string        // names by which the service may be called, beside its addresses
	StateDir string          // holds the logs of runs
	Metrics  http.Handler    // the service's
	Version  string          // of the program
	Webhooks []config.Webhook
	Stopping <-chan struct{} // closed when the service begins to stop
	// Trust is told the context of each request that has shown a token.
	Trust func(context.Context)
	Log   *slog.Logger
	// Schedules are those that the service fires; nil where it fires none.
	Schedules service.Schedules
}

// serveFlags are the flags of flowrun serve.
type serveFlags struct {
	launch.ConsentFlags
	maxParallel     int
	listen          []string
	tokenFile       string
	tlsCert, tlsKey string
	drain           time.Duration
	logFormat       string
	noSchedules     bool
}

var logFormats = []string{"text", "json"}

func serveCommand(env *ui.Env, web Web) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run tools for others: an API, and runs that were handed over",
		Long: `Serve the tools in reach of this folder: start them for programs that call the HTTP
API, take over what flowrun run --detach hands over, and go on with runs of a service
that was stopped or died.

The service listens at 127.0.0.1:7878, or where --listen says, and for this user alone
at service.sock in the state directory. Callers over TCP show a token, in the header
Authorization: Bearer TOKEN. It is that of FLOWRUN_TOKEN or --token-file; where there is
neither, one is made and printed. An address that other machines reach needs --tls-cert,
--tls-key and a token that was given.

Definitions are read again when they change. One that is broken is told of, and its last
good version stays in force. Runs under way keep the version they began with.

A first SIGTERM, or Ctrl-C, stops the service: steps that run may take --drain to end,
then they are stopped. Runs that have not ended by then are interrupted, and the next
service goes on with them. A second one does not wait.`,
		Example: `  flowrun serve
  flowrun serve --listen 127.0.0.1:9000 --token-file ~/.flowrun-token
  flowrun serve --listen 0.0.0.0:7878 --tls-cert cert.pem --tls-key key.pem --token-file token
  flowrun serve --listen unix:/run/flowrun.sock`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runService(env, c, web, f) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.listen, "listen", nil, "listen at `HOST:PORT|unix:PATH`; :PORT is this machine only (default: 127.0.0.1:7878)")
	fl.StringVar(&f.tokenFile, "token-file", "", "read the token that callers must show from this `file`")
	fl.StringVar(&f.tlsCert, "tls-cert", "", "the certificate, a `file` in PEM form, with those between it and its root")
	fl.StringVar(&f.tlsKey, "tls-key", "", "its key, a `file` in PEM form")
	fl.DurationVar(&f.drain, "drain", 30*time.Second, "how long running steps may take to end when the service stops")
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "run at most `n` steps at once, of all runs (default: 2 for each CPU, at least 4)")
	fl.StringVar(&f.logFormat, "log-format", "text", "the `form` of the log on stderr: text|json")
	fl.BoolVar(&f.noSchedules, "no-schedules", false, "fire no schedules")
	c.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions(logFormats, cobra.ShellCompDirectiveNoFileComp))
	f.ConsentFlags.Declare(c)
	return c
}

// check holds the flags against what they may be.
func (f *serveFlags) check(c *cobra.Command) error {
	switch {
	case f.maxParallel < 0 || c.Flags().Changed("max-parallel") && f.maxParallel == 0:
		return ui.Usagef(c, "--max-parallel must be at least 1")
	case f.drain < 0:
		return ui.Usagef(c, "--drain must not be negative")
	}
	if err := ui.OneOf(c, "log-format", f.logFormat, logFormats); err != nil {
		return err
	}
	return f.ConsentFlags.Check(c)
}

// runService serves until it is told to stop.
func runService(env *ui.Env, c *cobra.Command, web Web, f serveFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	if os.Getenv("GOMAXPROCS") == "" { // callers shall not wait for the turns of a hundred runs
		runtime.SetDefaultGOMAXPROCS()
	}
	f.NoInput, f.Progress = true, "plain"
	door, err := openDoor(c, f)
	if err != nil {
		return err
	}
	defer door.close()
	if f.Settings, err = ui.Settings(env, f.Asking); err != nil {
		return err
	}
	return env.WriteHistory(func(ctx context.Context, s *sqlite.Store) error { return serveUntilTold(env, ctx, s, door, web, f) })
}

// serveUntilTold makes the service and its door, and takes both down again.
func serveUntilTold(env *ui.Env, ctx context.Context, s *sqlite.Store, d *door, web Web, f serveFlags) error {
	d.log = logger(env, f.logFormat)
	ec, _, err := launch.EngineConfig(s, f.ConsentFlags, f.maxParallel)
	if err != nil {
		return err
	}
	var held []string // variables with secrets, which are the service's and not its steps'
	hooks, err := f.Settings.Webhooks(func(name string) string {
		held = append(held, name)
		return os.Getenv(name)
	})
	if err != nil {
		return ui.NoService("%w", err)
	}
	if err := proc.ForgetEnv(held...); err != nil && len(held) > 0 {
		return ui.NoService("steps could read the secrets of webhooks: %w", err)
	}
	var engine *flowrun.Engine // made before anybody can ask for its load
	program, err := metrics.NewProgram(metrics.Options{Version: ui.ThisBuild().Version, Load: func() (int, int) { return engine.Load() }})
	if err != nil {
		return err
	}
	ec.Journal, ec.JavaScript = program.Journal, env.JavaScript()
	traces := launch.NewServiceTraces(d.log)
	traces.Join(&ec)
	engine = flowrun.New(ec)
	if _, err := proc.Sweep(ctx, time.Second); err != nil { // what a killed service left, also where none of its runs can be resumed
		return err
	}
	var sv *service.Service // likewise
	measured, err := program.Service(func() (int, int) { return sv.Standing() })
	if err != nil {
		return err
	}
	served := f.Settings.Served()
	for _, p := range served {
		if err := service.CheckPattern(p); err != nil {
			return ui.NoService("the setting serve.tools: %q is not a pattern for names of tools: %w", p, err)
		}
	}
	sv, err = service.New(ctx, service.Config{Served: served, Engine: engine, Store: s, Library: env.Library, Log: d.log,
		Changes: s.Changes, Answered: s.Answered, Writable: s.Writable, Waited: measured.Waited,
		Decide: func(p *flowrun.Plan) error { return f.decide(p) },
		Observe: func(b service.Begun) (dag.Sink, func()) {
			run, traced := program.Run(b.Plan.Name()), traces.Follow(b)
			return run, func() {
				traced()
				run.Close()
			}
		},
		Passes: timetable.Passes,
		Ended: func(ctx context.Context, e service.Ended) {
			notifier(env, s, d, f, e.Workspace, e.Result.ID).Notify(ctx, launch.RunEnd{Result: e.Result, Plan: e.Plan, Past: e.Past, Err: e.Err})
		},
		Unbegun: func(ctx context.Context, u service.Unbegun) {
			run := program.Run(u.Result.Tool)
			for _, e := range u.Events {
				run.Emit(e)
			}
			notifier(env, s, d, f, u.Workspace, u.Result.ID).Notify(ctx, launch.RunEnd{Result: u.Result, Plan: u.Plan})
		}})
	if err != nil {
		return err
	}
	lastSuccesses(ctx, s, sv, program.Succeeded)
	var fired *timetable.Scheduler // nil: this service fires no schedules
	calm := func() {}
	if !f.noSchedules {
		fired, calm = timetable.Start(env, ctx, s, sv, d.log, timetable.CountSlots(measured))
		defer calm()
	}
	told := told(env)
	defer told.end()
	err = d.open(sv, web, WebOptions{StateDir: ec.StateDir, Metrics: program.Handler(), Webhooks: hooks,
		Version: ui.ThisBuild().Version, Log: d.log, Stopping: told.first, Schedules: fired.Door()})
	if err == nil {
		tidy := keepHistory(env, ctx, s, f.Settings)
		defer tidy()
		d.announce(env)
		select {
		case <-told.first:
		case err = <-d.failed:
			d.log.Error("the door broke", "error", err.Error())
		}
	}
	calm() // before anything is drained: what has come by then is begun or left to the next service
	left := sv.Drain(f.drain, told.second)
	d.shut()
	if err := traces.End(ctx, told.second); err != nil {
		d.log.Warn("traces are not complete", "error", err.Error())
	}
	d.log.Info("stopped", "left", left)
	return err
}

// lastSuccesses tells when each tool last succeeded before this service began. What
// cannot be read is not known.
func lastSuccesses(ctx context.Context, s *sqlite.Store, sv *service.Service, tell func(tool string, at time.Time)) {
	tools, _ := sv.Tools(ctx)
	for _, t := range tools {
		found, err := s.Runs(ctx, flowrun.Query{Tool: t.Name, Status: []dag.Status{dag.Succeeded}, Limit: 1})
		if err == nil && len(found) > 0 {
			tell(t.Name, found[0].Ended)
		}
	}
}

// notifier tells of the end of a run of the service.
func notifier(env *ui.Env, s *sqlite.Store, d *door, f serveFlags, workspace, run string) launch.Notifier {
	return launch.Notifier{Store: s, Settings: f.Settings, Dir: workspace, Report: func(trouble string) { d.log.Warn(trouble, "run", run) }}
}

// decide is what the policy says of a tool that is started through the service.
func (f *serveFlags) decide(p *flowrun.Plan) error {
	what := launch.Subject{Tools: p.Tools()}
	if v := policy.Decide(policy.Request{Door: policy.Serve, Tools: what.Facts(), Rules: f.Rules()}); v.Decision != policy.Allow {
		return errors.New(v.Reason)
	}
	return nil
}

// logger is the service's log.
func logger(env *ui.Env, form string) *slog.Logger {
	if form == "json" {
		return slog.New(slog.NewJSONHandler(env.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(env.Stderr, nil))
}

// orders are the signals that stop a service: the first, and the second.
type orders struct {
	c             chan os.Signal
	first, second chan struct{}
	work          sync.WaitGroup
}

func told(env *ui.Env) *orders {
	o := &orders{c: make(chan os.Signal, 4), first: make(chan struct{}), second: make(chan struct{})}
	signal.Notify(o.c, ui.TerminationSignals()...)
	o.work.Go(func() {
		for _, c := range []chan struct{}{o.first, o.second} {
			if _, more := <-o.c; !more {
				return
			}
			close(c)
		}
		for range o.c {
		}
	})
	return o
}

func (o *orders) end() {
	signal.Stop(o.c)
	close(o.c)
	o.work.Wait()
}

// tidyEvery is how often a service removes the history that is not to be kept.
const tidyEvery = 10 * time.Minute

// keepHistory removes, now and then, the history that the settings do not keep.
func keepHistory(env *ui.Env, ctx context.Context, s *sqlite.Store, c *config.Config) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(tidyEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				launch.Retain(env, ctx, s, c)
			}
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// quiet is where net/http complains of clients.
func quiet() *log.Logger { return slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) }
