package command

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/past"
	"github.com/flowrun/flowrun/internal/cli/runs"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/state"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/store/joined"
	"github.com/flowrun/flowrun/temporal/internal/remote"
)

// pastCommands are the commands of flowrun that show runs, for those of a Temporal service, or of both engines.
func pastCommands(env *ui.Env, conn *connection) (list []*cobra.Command) {
	engine := past.TemporalEngine
	if os.Getenv("FLOWRUN_ENGINE") == past.AllEngines {
		engine = past.AllEngines
	}
	env.Runs = func(f func(context.Context, history.Store) error) error {
		switch err := past.CheckEngine(engine); {
		case err != nil:
			return err
		case engine == past.LocalEngine:
			return env.ReadHistory(func(ctx context.Context, s ui.History) error { return f(ctx, s) })
		case engine == past.AllEngines:
			return env.ReadHistory(func(_ context.Context, local ui.History) error {
				return conn.read(env, func(ctx context.Context, s history.Store) error {
					return f(ctx, joined.New(local, s, past.TemporalEngine))
				})
			})
		}
		return conn.read(env, f)
	}
	for _, c := range past.Commands() {
		if !slices.Contains(past.OfEngines(), c.Name) {
			continue
		}
		built := adapted(c.Build(env))
		conn.declare(built)
		past.EngineFlag(built, &engine, engine)
		list = append(list, built)
	}
	return append(list, stateCommand(env, conn, &engine))
}

// stateCommand is the command state of flowrun, for the values of a task queue.
func stateCommand(env *ui.Env, conn *connection, engine *string) *cobra.Command {
	c := adapted(state.Commands()[0].Build(env))
	c.Example, _, _ = strings.Cut(c.Example, "\n  flowrun-temporal state history")
	for _, sub := range c.Commands() {
		if sub.Name() == "history" { // it is not kept there
			c.RemoveCommand(sub)
			continue
		}
		conn.declare(adapted(sub))
		sub.PreRun = func(*cobra.Command, []string) { *engine = past.TemporalEngine }
	}
	return c
}

// adapted returns a command of flowrun as one of this program.
func adapted(c *cobra.Command) *cobra.Command {
	c.GroupID = ""
	own := strings.NewReplacer("flowrun ", "flowrun-temporal ")
	c.Long, c.Example = own.Replace(c.Long), own.Replace(c.Example)
	return c
}

// read connects to the service and calls f with its runs.
func (c *connection) read(env *ui.Env, f func(context.Context, history.Store) error) error {
	ctx := context.Background()
	l, err := c.dial(ctx, env)
	if err != nil {
		return err
	}
	defer l.Close()
	env.Artifact = l.texts.Artifact
	return f(ctx, remote.New(l.Client, l.converter, l.texts, env.Library, l.queue, func(err error) { env.Notef("%v", err) }))
}

func cancelCommand(env *ui.Env, conn *connection) *cobra.Command {
	c := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run",
		Long: `Ask the workers to stop a run, as Ctrl-C would: they stop the steps and run the cleanup. The
command does not wait until the run has ended.`,
		Example: "  flowrun-temporal cancel latest",
		Args:    ui.OneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return conn.read(env, func(ctx context.Context, s history.Store) error {
				id, err := env.FindRun(ctx, s, findrun.Cancel, args[0])
				if err != nil {
					return err
				}
				info, err := s.Info(ctx, id)
				if err != nil {
					return err
				}
				if !slices.Contains(findrun.Cancel.Statuses(), info.Status) {
					return fmt.Errorf("run %s is not active; it is %s", id, info.Status.With(info.Notes...))
				}
				if err := s.Cancel(ctx, id, ""); err != nil {
					return err
				}
				env.Notef("asked run %s to stop; to see how it ends: flowrun-temporal show %s", id, id)
				return nil
			})
		},
		ValidArgsFunction: runview.CompleteRunID(env, findrun.Cancel),
	}
	conn.declare(c)
	return c
}

func approveCommand(env *ui.Env, conn *connection) *cobra.Command {
	return answerCommand(env, conn, &runs.Answering{Approve: true}, &cobra.Command{
		Use:   "approve RUN [STEP] [FIELD=value ...]",
		Short: "Approve a step that waits for approval",
		Long: `Approve a waiting step that has the key approve. The workers then continue the run. The
first answer counts.

STEP is the path that show prints, such as deploy[eu]/gate. You can omit it if only one step
is waiting. If the step has a form, give its values like parameters: FIELD=text, FIELD:=JSON,
FIELD=@file or --params FILE. Omitted fields get their default.`,
		Example: `  flowrun-temporal approve latest
  flowrun-temporal approve 1m80y gate VERSION=1.4.2 --comment "tests are green"`,
	})
}

func rejectCommand(env *ui.Env, conn *connection) *cobra.Command {
	return answerCommand(env, conn, &runs.Answering{}, &cobra.Command{
		Use:     "reject RUN [STEP]",
		Short:   "Reject a step that waits for approval",
		Long:    "Reject a waiting step that has the key approve. The step fails, and the workers continue the\nrun, including its on-failure steps. The command exits with 0 even though the step fails.",
		Example: `  flowrun-temporal reject latest gate --comment "wait for Monday"`,
	})
}

// answerCommand completes a command that answers a question of a run.
func answerCommand(env *ui.Env, conn *connection, a *runs.Answering, c *cobra.Command) *cobra.Command {
	c.Args = runs.SomeRun
	c.ValidArgsFunction = runs.CompleteQuestion(env)
	c.RunE = func(c *cobra.Command, args []string) error {
		return conn.read(env, func(ctx context.Context, s history.Store) error { return answer(ctx, env, c, s, args, a) })
	}
	a.Declare(c)
	conn.declare(c)
	return c
}

// answerTimeout is how long approve and reject wait until the run has taken the answer.
const answerTimeout = 10 * time.Second

func answer(ctx context.Context, env *ui.Env, c *cobra.Command, s history.Store, args []string, a *runs.Answering) error {
	p, err := env.LoadRun(ctx, s, findrun.Answer, args[0])
	if err != nil {
		return err
	}
	q, words, err := runs.FindQuestion(p, args[1:])
	if err != nil {
		return err
	}
	given, err := a.Answer(env, c, q, words)
	if err != nil {
		return err
	}
	if err := s.Answer(ctx, p.Record.ID, given); err != nil {
		return err
	}
	for until := time.Now().Add(answerTimeout); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if err := p.Refresh(ctx, s); err != nil {
			return err
		}
		if !slices.ContainsFunc(p.Questions(), func(x history.Question) bool { return x.Step == q.Step && x.Wait == q.Wait }) {
			env.Notef("%s step %s of run %s", a.Verb(), q.Step, p.Record.ID)
			return nil
		}
	}
	env.Notef("the answer to step %s of run %s is stored; a worker has not taken it yet", q.Step, p.Record.ID)
	return nil
}
