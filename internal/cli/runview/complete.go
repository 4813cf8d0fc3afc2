package runview

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// MaxOffered is how many runs, or steps of a run, completion offers at most.
const MaxOffered = 50

// CompleteRunID completes ids of runs that an act is for, newest first, with tool, status and age.
func CompleteRunID(env *ui.Env, a findrun.Act) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return RunIDs(env, a, "", prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// RunIDs returns completions for the runs of a tool, or of any, that an act is for. history.Latest is offered if there
// is such a run.
func RunIDs(env *ui.Env, a findrun.Act, tool, prefix string) (words []string) {
	engines.Read(env, func(ctx context.Context, s history.Store) error {
		if strings.HasPrefix(history.Latest, prefix) {
			f := env.Finder(s)
			f.Tool = tool
			if _, err := f.Find(ctx, a, history.Latest); err == nil {
				words = append(words, complete.WithDescription(history.Latest, a.Newest()))
			}
		}
		list, err := s.Runs(ctx, history.Query{Prefix: prefix, Tool: tool, Status: a.Statuses(), Limit: MaxOffered})
		for _, r := range list {
			words = append(words, complete.WithDescription(r.ID, r.Tool+" "+r.Status.With(r.Notes...)+" "+console.Age(time.Since(r.Started))+" ago"))
		}
		return err
	})
	return words
}

// CompleteRunStep completes the id of a run, then the steps of that run.
func CompleteRunStep(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return CompleteRunID(env, findrun.Read)(c, args, prefix)
		case 1:
			return RunSteps(env, findrun.Read, args[0], prefix), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// RunSteps returns completions for the steps of a run that begin with prefix.
func RunSteps(env *ui.Env, a findrun.Act, run, prefix string) (words []string) {
	engines.Read(env, func(ctx context.Context, s history.Store) error {
		p, err := env.LoadRun(ctx, s, a, run)
		if err != nil {
			return err
		}
		steps := p.Result().Steps
		if !strings.Contains(prefix, "[") {
			steps, _ = ShownSteps(steps, MaxItems)
		}
		for _, st := range steps {
			if strings.HasPrefix(st.ID, prefix) && len(words) < MaxOffered {
				words = append(words, complete.WithDescription(st.ID, st.Status.String()))
			}
		}
		return nil
	})
	return words
}
