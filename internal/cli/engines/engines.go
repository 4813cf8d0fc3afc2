// Package engines decides whose runs a command is about: those of this machine, which are in the history, those on Temporal, or
// both.
//
// A command has the flag --engine, and calls Read or Act, which pass it a history.Store with the runs of that engine. Of both
// engines this is one Store, in which a run is found by its id (internal/store/joined). So the command is the same for all, and
// asks RunInfo.Engine where only the engine of a run can do something. Env.Remote reaches Temporal: in flowrun through the
// program flowrun-temporal, and in that directly.
package engines

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/store/joined"
)

// Values of --engine.
const (
	Local    = "local"
	Temporal = "temporal"
	All      = "all"
)

func names() []string { return []string{Local, Temporal, All} }

// Readers returns the names of the commands that show runs.
func Readers() []string {
	return []string{"runs", "show", "diff", "logs", "artifacts", "timeline", "events", "stats"}
}

// Actors returns the names of the commands that answer, end or continue runs.
func Actors() []string { return []string{"approve", "reject", "cancel", "resume", "retry"} }

// Default returns the value of --engine that the environment gives.
func Default() string { return cmp.Or(os.Getenv("FLOWRUN_ENGINE"), Local) }

// Flag adds --engine to a command. It sets Env.Engine when the command runs; completion is about what that was before.
func Flag(env *ui.Env, c *cobra.Command, value string) {
	c.Flags().StringVar(&value, "engine", value, "whose runs: `engine` is local, temporal, or all for both")
	c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(names(), cobra.ShellCompDirectiveNoFileComp))
	c.PreRunE = func(*cobra.Command, []string) error {
		if env.Engine = value; value == Local {
			env.Engine = ""
		}
		return ui.OneOf(nil, "engine", value, names())
	}
}

// Read calls f with the runs that a command shows.
func Read(env *ui.Env, f func(context.Context, history.Store) error) error {
	if env.Engine == Temporal {
		return remote(env, f)
	}
	return env.ReadHistory(func(ctx context.Context, local ui.History) error { return withRemote(ctx, env, local, f) })
}

// Act calls f with the runs that a command answers, ends or continues, and with the history, which carries out those of this
// machine. The history is nil if no run is of this machine.
func Act(env *ui.Env, f func(ctx context.Context, s history.Store, local ui.History) error) error {
	if env.Engine == Temporal {
		return remote(env, func(ctx context.Context, s history.Store) error { return f(ctx, s, nil) })
	}
	return env.WriteHistory(func(ctx context.Context, local ui.History) error {
		return withRemote(ctx, env, local, func(ctx context.Context, s history.Store) error { return f(ctx, s, local) })
	})
}

// remote calls f with the runs on Temporal.
func remote(env *ui.Env, f func(context.Context, history.Store) error) error {
	ctx := context.Background()
	return env.Remote(ctx, func(s history.Store) error { return f(ctx, s) })
}

// withRemote calls f with the runs of this machine, or with those of both engines.
func withRemote(ctx context.Context, env *ui.Env, local history.Store, f func(context.Context, history.Store) error) error {
	if env.Engine != All {
		return f(ctx, local)
	}
	return env.Remote(ctx, func(s history.Store) error { return f(ctx, joined.New(local, s)) })
}
