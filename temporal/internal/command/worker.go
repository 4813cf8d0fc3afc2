package command

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/worker"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/temporal/internal/activity"
)

// workerFlags are the flags of flowrun-temporal worker.
type workerFlags struct {
	connection
	launch.ConsentFlags
	parallel int
	drain    time.Duration
	state    string
	metrics  string
	pools    []string
}

func workerCommand(env *ui.Env) *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:   "worker",
		Short: "Execute steps of runs on this machine",
		Long: `Execute steps of runs on this machine, until the worker gets an interrupt or TERM.

Steps start in the working directory of the worker, with its environment. The worker
fetches the secrets of tools itself. After TERM it takes no new steps, and waits for those
that run; what still runs after --drain is stopped, and follows its on-interrupt.

A step with a pool runs only on workers that have slots of this pool. They do not count for
--max-parallel.`,
		Example: `  flowrun-temporal worker
  flowrun-temporal worker --address temporal:7233 --store s3://flowrun/outputs
  flowrun-temporal worker --pool gpu=2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return work(env, c, f) },
	}
	f.declare(c)
	fl := c.Flags()
	fl.IntVar(&f.parallel, "max-parallel", 0, "run at most `n` steps at once (default: 2 for each CPU, at least 4)")
	fl.StringArrayVar(&f.pools, "pool", nil, "give so many slots of a pool to steps, `NAME=n`; can be repeated")
	ui.DurationFlag(c, &f.drain, "drain", 30*time.Second, "wait this `time` for running steps when the worker is stopped")
	fl.StringVar(&f.state, "state", "", "keep logs and caches in this `folder`, which no other worker uses (default: a temporary one, removed at the end)")
	fl.StringVar(&f.metrics, "metrics-addr", "", "serve metrics of runs and steps at `HOST:PORT`/metrics; :PORT listens on this machine only")
	fl.BoolVar(&f.TrustProject, "trust-project", false, "trust the settings and tools of the project for this command only (see flowrun trust)")
	return c
}

// maxFetched is how many outputs of other workers a worker keeps.
const maxFetched = 100

func work(env *ui.Env, c *cobra.Command, f workerFlags) (err error) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	signals := env.Signals(stop)
	defer signals.Stop()
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return err
	}
	pools, err := parsePools(c, f.pools)
	if err != nil {
		return err
	}
	f.unreadable = func(err error) { env.Notef("%v", err) }
	l, err := f.dial(ctx, env)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.checkStore(ctx); err != nil {
		return err
	}
	identity, err := l.markStore(ctx)
	if err != nil {
		return err
	}
	config, cleanup, err := launch.EngineConfig(nil, f.ConsentFlags, f.parallel)
	if err != nil {
		return err
	}
	defer cleanup()
	config.StateDir, config.CacheDir, config.ToolDir = cmp.Or(f.state, config.StateDir), "", ""
	config.JavaScript = env.JavaScript()
	l.texts.Limit = maxFetched
	endTraces := launch.StartTraces(env, &config, f.InteractionFlags)
	defer func() { endTraces(ctx, signals.Force) }()
	stopMetrics, err := serveMetrics(&config, f.metrics)
	if err != nil {
		return err
	}
	defer stopMetrics()
	host := &activity.Host{Engine: engine.New(config), Library: env.Library, Texts: l.texts, Client: l.Client, Observers: config.Observers,
		Report: func(run string, notices []notice.Notice, err error) { report(env, run, notices, err) }}
	defer proc.Keep(procid.DomainOf(config.Leftovers))() // another worker runs the steps again, and waits only for a time
	failed := make(chan error, 2+len(pools))
	stopWork, err := host.Start(l.queue, worker.Options{Identity: identity, MaxConcurrentActivityExecutionSize: cmp.Or(config.Parallel, dag.DefaultParallel()),
		WorkerStopTimeout: f.drain, OnFatalError: func(err error) { failed <- err }}, pools)
	if err != nil {
		return ui.ServiceErrorf("cannot start the worker: %w", err)
	}
	env.Notef("the worker executes steps of task queue %s", l.queue)
	select {
	case <-ctx.Done():
		env.Notef("the worker stops; it waits up to %s for running steps", f.drain)
	case err = <-failed:
		err = ui.ServiceErrorf("the worker has lost the Temporal service: %w", err)
	}
	drained := make(chan struct{})
	go func() {
		stopWork()
		close(drained)
	}()
	select {
	case <-drained:
	case <-signals.Force:
		err = errors.Join(err, ui.CodeError(signals.Code()))
	}
	return err
}

// report prints what people should know about a run of which the worker has executed steps.
func report(env *ui.Env, run string, notices []notice.Notice, err error) {
	for _, n := range notices {
		if n.Step != "" {
			env.Notef("run %s: step %s: %s", run, n.Step, n.Message)
		} else {
			env.Notef("run %s: %s", run, n.Message)
		}
	}
	if err != nil {
		env.Notef("run %s: cannot end what its steps have left: %v", run, err)
	}
}
