package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/service"
)

func cancelCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run that another process executes",
		Long: `Ask the process that executes a run to stop it, as Ctrl-C would: it stops the steps and
runs the cleanup. The command does not wait until the run has ended. If the run is not
active, the command fails.

No process executes a run that is waiting for an approval. This command then runs the
cleanup itself, unless a service started the run, or the run is on Temporal, where its
workers do it.

A run that has failed may be retried automatically (retry-run). This command then stops that.`,
		Example: "  flowrun cancel latest",
		Args:    ui.OneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return engines.Act(env, func(ctx context.Context, s history.Store, local ui.History) error {
				id, err := env.FindRun(ctx, s, findrun.Cancel, args[0])
				if err != nil {
					return err
				}
				info, err := s.Info(ctx, id)
				if err != nil {
					return err
				}
				if info.Engine != "" {
					return cancelRemote(ctx, env, s, info)
				}
				return cancel(ctx, env, local, info)
			})
		},
		ValidArgsFunction: runview.CompleteRunID(env, findrun.Cancel),
	}
}

// cancel stops a run. It is an error if there is nothing to stop.
func cancel(ctx context.Context, env *ui.Env, s ui.History, info history.RunInfo) error {
	switch id := info.ID; info.Status {
	case dag.Running, dag.Pending:
		if err := s.Cancel(ctx, id, errCancelledBy.Error()); err != nil {
			return err
		}
		env.Notef("asked run %s to stop; to see how it ends: flowrun show %s", id, id)
		return nil
	case dag.Waiting:
		return cancelWaiting(ctx, env, s, info)
	case dag.Interrupted:
		if dir, err := ui.StateDir(); err == nil && service.RetriedByServices(info.Origin) && ui.ServiceRunning(dir) {
			return fmt.Errorf("run %s is not running, because flowrun was killed; the service resumes it, unless it needs your consent first (flowrun resume %s)", id, id)
		}
		return fmt.Errorf("run %s is not running, because flowrun was killed; to continue it: flowrun resume %s", id, id)
	default:
		if !info.RetryAt.IsZero() {
			if err := s.Cancel(ctx, id, errCancelledBy.Error()); err != nil {
				return err
			}
			env.Notef("run %s is not retried; it %s", id, findrun.StatusText(info.Status, info.Notes...))
			return nil
		}
		return fmt.Errorf("run %s has already ended; it %s", id, findrun.StatusText(info.Status, info.Notes...))
	}
}

// cancelRemote asks the workers of another engine to stop a run.
func cancelRemote(ctx context.Context, env *ui.Env, s history.Store, info history.RunInfo) error {
	if !slices.Contains(findrun.Cancel.Statuses(), info.Status) {
		return fmt.Errorf("run %s has already ended; it %s", info.ID, findrun.StatusText(info.Status, info.Notes...))
	}
	if err := s.Cancel(ctx, info.ID, errCancelledBy.Error()); err != nil {
		return err
	}
	env.Notef("asked run %s to stop", info.ID)
	ui.Suggest(env, "to see how it ends: flowrun show %s --engine %s", info.ID, info.Engine)
	return nil
}

// errCancelledBy is the cause of cancellation of runs that a person cancels.
var errCancelledBy = errors.New("cancelled by flowrun cancel")

// cancelWaiting cancels a run that waits for an approval and so has no owner. It asks the service
// if that would continue the run; otherwise it resumes the run and cancels it at once.
func cancelWaiting(ctx context.Context, env *ui.Env, s ui.History, info history.RunInfo) error {
	if dir, err := ui.StateDir(); err == nil && info.Origin != "" && ui.ServiceRunning(dir) {
		if err := ui.CallService("POST", "/api/v1/runs/"+info.ID+"/cancel", struct{}{}, &struct{}{}); err != nil {
			return err
		}
		env.Notef("asked run %s to stop; to see how it ends: flowrun show %[1]s", info.ID)
		return nil
	}
	past, err := engine.LoadRun(ctx, s, env.Library(), info.ID)
	if err != nil {
		return err
	}
	g, err := past.Continue(env.Library(), engine.ResumeOptions{})
	if err != nil {
		return err
	}
	f := runFlags{output: "text", dir: past.Record.RunEnv.Workspace}
	f.Progress, f.NoInput = "plain", true
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return err
	}
	x := &execution{env: env, flags: f, plan: past.Plan, resumed: past, store: s, start: func(ctx context.Context, e *engine.Engine, o ...engine.RunOption) (*runresult.Result, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		return e.Continue(ctx, g, append(o, engine.WithOnRecorded(func() { cancel(errCancelledBy) }))...)
	}}
	err = x.run()
	if code := ui.CodeError(0); errors.As(err, &code) && code == outcome.ExitInterrupted {
		return nil // the run was cancelled, as requested
	}
	return err
}
