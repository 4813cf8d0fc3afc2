package runs

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/keyboard"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// withHistory executes a request. It opens the history, unless the run is not recorded.
func withHistory(env *ui.Env, r *request, f runFlags) error {
	x := &execution{env: env, flags: f, plan: r.plan, start: func(ctx context.Context, e *engine.Engine, o ...engine.RunOption) (*runresult.Result, error) {
		if r.bindErr != nil {
			return nil, r.bindErr
		}
		return e.RunBound(ctx, r.args, o...)
	}}
	if f.noHistory {
		if err := engine.CheckAlone(r.plan); err != nil {
			return err
		}
		return x.run()
	}
	return env.WriteHistory(func(ctx context.Context, s ui.History) error {
		defer launch.ApplyRetention(ctx, env, s.Retention(), f.Settings)
		x.store = s
		return x.runAttempts()
	})
}

// historyUnavailable reports whether runs cannot be recorded because no variable names a state
// directory and the default cannot be used, for example for a system user whose HOME does not exist.
// It prints a warning, and the run goes unrecorded.
func historyUnavailable(env *ui.Env, f ui.InteractionFlags) bool {
	dir, err := ui.StateDir()
	switch {
	case err != nil:
	case ui.StateDirNamed():
		return false // a directory that was named and cannot be used is an error
	default:
		if err = canWrite(dir); err == nil {
			return false
		}
		err = ui.UnusableState(dir, err)
	}
	if f.Progress != "none" {
		env.Notef("the run is not recorded: %v", err)
	}
	return true
}

// canWrite creates a folder if it does not exist, and returns the reason if no file can be created
// in it.
func canWrite(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "probe-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// execution is one run, new or continued, in this process.
type execution struct {
	env     *ui.Env
	flags   runFlags
	plan    *engine.Plan
	resumed *engine.RecordedRun // the run that is resumed; nil for a new run
	store   ui.History          // nil if the run is not recorded
	start   func(context.Context, *engine.Engine, ...engine.RunOption) (*runresult.Result, error)

	ctx     context.Context
	stop    context.CancelCauseFunc
	signals *ui.Signals
	options []engine.RunOption
	out     *runOutput
	retried *runresult.Result // of the run, if it is retried automatically
}

// run starts the run on a new engine, waits until it ends, and prints the result. The exit code of
// the run is returned as a ui.CodeError.
func (x *execution) run() error {
	x.ctx, x.stop = context.WithCancelCause(context.Background())
	defer x.stop(nil)
	x.signals = x.env.Signals(x.stop)
	defer x.signals.Stop()
	config, tidy, err := launch.EngineConfig(x.store, x.flags.ConsentFlags, x.flags.maxParallel)
	if err != nil {
		return err
	}
	defer tidy()
	config.JavaScript = x.env.JavaScript()
	endTraces := launch.StartTraces(x.env, &config, x.flags.InteractionFlags)
	defer func() { endTraces(x.ctx, x.signals.Force) }()
	x.setOptions()
	keys, restore := x.takeTerminal()
	defer restore()
	narrator := x.narrate(keys, config.StateDir)
	defer narrator.End()
	engine, done, err := launch.NewEngine(x.env, config, x.flags.metrics)
	if err != nil {
		return err
	}
	res, err := x.start(x.ctx, engine, x.options...)
	done()
	narrator.End()
	if ui.IsTerminal(x.env.Stdout) {
		x.out.endLine()
	}
	if res == nil {
		return x.notStarted(err)
	}
	defer x.notify(res, err)
	if !res.RetryAt.IsZero() {
		x.retried = res
	}
	return x.finish(res, err)
}

func (x *execution) setOptions() {
	x.options = []engine.RunOption{engine.WithForce(x.signals.Force), engine.WithTrace(launch.InheritedTrace()), engine.WithLabels(x.flags.labels)}
	if x.flags.ID != "" {
		x.options = append(x.options, engine.WithID(x.flags.ID))
	}
	if x.flags.trace {
		x.options = append(x.options, engine.WithPermissionTrace())
	}
	if x.flags.force {
		x.options = append(x.options, engine.WithoutCache())
	}
	if x.flags.watch || x.flags.trace {
		x.options = append(x.options, engine.WithoutRetryRun())
	}
}

// takeTerminal lends the terminal to interactive steps and to questions, if there is a person.
// restore restores the terminal, even if a step did not.
func (x *execution) takeTerminal() (keys *keyboard.Keyboard, restore func()) {
	keys = keyboard.Open(x.env, x.flags.NoInput)
	if keys == nil {
		return nil, func() {}
	}
	x.options = append(x.options, engine.WithTerminal(keys))
	stop := func() {}
	if ask := promptAtTerminal(x.env, keys, x.flags.InteractionFlags); ask != nil {
		x.options = append(x.options, engine.WithApproval(ask))
		stop = x.env.ServerQuestions.AnswerWith(keys.AskForServer)
	}
	stderr := x.env.Stderr
	x.env.Stderr = keys.TerminalWriter(stderr)
	return keys, func() {
		stop()
		x.env.Stderr = stderr
		keys.Release()
	}
}

// narrate starts to print the progress and the output of the run.
func (x *execution) narrate(keys *keyboard.Keyboard, stateDir string) *runview.Narrator {
	n := runview.Narrate(x.env, runview.Narration{Mode: x.flags.Progress, Plan: x.plan, Resumed: x.resumed, Keys: keys, Verbose: x.flags.verbose, Recorded: x.store != nil, StateDir: stateDir})
	x.options = append(x.options, n.Options...)
	x.options = append(x.options, engine.WithQueue(n.Queued))
	x.out = &runOutput{w: n.Stdout, stop: x.stop}
	if x.flags.output == "text" {
		x.options = append(x.options, engine.WithStdout(x.out))
	} else {
		x.options = append(x.options, engine.WithShortOutput())
	}
	return n
}

// notStarted returns the error for a run that ended before its first step.
func (x *execution) notStarted(err error) error {
	code := x.signals.Code()
	if code == 0 || x.ctx.Err() == nil {
		return err
	}
	if ui.Verbose(x.flags.Progress) {
		x.env.Notef("%v", err)
	}
	return ui.CodeError(code)
}

// notify sends the notifications for the end of the run. With --watch it sends none, because the
// person is watching.
func (x *execution) notify(res *runresult.Result, err error) {
	if !x.flags.watch {
		launch.Notify(x.ctx, x.env, x.signals, x.store, launch.RunEnd{Result: res, Plan: x.plan, Resumed: x.resumed, Err: err}, x.flags.ConsentFlags, x.flags.dir)
	}
}

// finish prints the result, unless another attempt follows, and returns the exit code as an error.
func (x *execution) finish(res *runresult.Result, err error) error {
	err = cmp.Or(err, x.out.err)
	if err == nil && x.retried == nil {
		err = PrintResult(x.env, res, x.flags.output)
	}
	if err != nil {
		if x.store != nil && res.Status == dag.Interrupted && ui.Verbose(x.flags.Progress) {
			x.env.Notef("run %s is interrupted; to continue it: flowrun resume %s", res.ID, res.ID)
		}
		return err
	}
	if err := reportEnd(x.env, res, x.plan, x.flags, x.store != nil && x.retried == nil); err != nil {
		return err
	}
	if code := x.signals.Code(); code != 0 && res.Status == dag.Cancelled {
		return ui.CodeError(code)
	}
	if code := ui.ExitCode(res, x.flags.passThrough); code != 0 {
		return ui.CodeError(code)
	}
	return nil
}
