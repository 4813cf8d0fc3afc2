package command

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/past"
	"github.com/flowrun/flowrun/internal/cli/runs"
	"github.com/flowrun/flowrun/internal/cli/state"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/store/storepipe"
	"github.com/flowrun/flowrun/temporal/internal/remote"
)

// sharedCommands are the commands of flowrun that show, answer and cancel runs, for those of a Temporal service. Those that show
// runs can show those of both engines.
func sharedCommands(env *ui.Env, conn *connection) (list []*cobra.Command) {
	env.Engine = engines.Temporal
	env.Remote = func(ctx context.Context, f func(history.Store) error) error { return conn.read(ctx, env, f) }
	shown := engines.Temporal
	if os.Getenv("FLOWRUN_ENGINE") == engines.All {
		shown = engines.All
	}
	for _, c := range slices.Concat(past.Commands(), runs.Commands()) {
		reads := slices.Contains(engines.Readers(), c.Name)
		if !reads && !slices.Contains([]string{"approve", "reject", "cancel"}, c.Name) {
			continue
		}
		built := adapted(c.Build(env))
		conn.declare(built)
		if reads {
			engines.Flag(env, built, shown)
		}
		list = append(list, built)
	}
	return append(list, stateCommand(env, conn))
}

// stateCommand is the command state of flowrun, for the values of a task queue.
func stateCommand(env *ui.Env, conn *connection) *cobra.Command {
	c := adapted(state.Commands()[0].Build(env))
	c.Example, _, _ = strings.Cut(c.Example, "\n  flowrun-temporal state history")
	for _, sub := range c.Commands() {
		if sub.Name() == "history" { // it is not kept there
			c.RemoveCommand(sub)
			continue
		}
		conn.declare(adapted(sub))
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

// serveRunsCommand serves the runs to flowrun, which does not link the client of Temporal.
func serveRunsCommand(env *ui.Env, conn *connection) *cobra.Command {
	c := &cobra.Command{
		Use:    "serve-runs",
		Hidden: true,
		Short:  "Serve the runs to flowrun, over stdin and stdout",
		Args:   ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(os.Interrupt) // Ctrl-C is for flowrun, which then ends this program
			if err := storepipe.Greet(env.Stdout); err != nil {
				return err
			}
			ctx := context.Background()
			return conn.read(ctx, env, func(s history.Store) error { return storepipe.Serve(ctx, s, env.Artifact, env.Stdin, env.Stdout) })
		},
	}
	conn.declare(c)
	return c
}

// read connects to the service and calls f with its runs.
func (c *connection) read(ctx context.Context, env *ui.Env, f func(history.Store) error) error {
	l, err := c.dial(ctx, env)
	if err != nil {
		return err
	}
	defer l.Close()
	env.Artifact = l.texts.Artifact
	return f(remote.New(l.Client, l.converter, l.texts, sync.OnceValue(env.Library), l.queue, func(err error) { env.Notef("%v", err) }))
}
