package runview

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// MaxOffered is how many runs, or steps of a run, completion offers at most.
const MaxOffered = 50

// CompleteRunID completes ids of runs with one of these statuses, or of all, newest first, with tool,
// status and age.
func CompleteRunID(env *ui.Env, status ...dag.Status) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return RunIDs(env, history.Query{Prefix: prefix, Status: status, Limit: MaxOffered}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// RunIDs returns completions for the runs of a query. The newest run, if the query includes it, is
// also offered as flowrun.Latest.
func RunIDs(env *ui.Env, q history.Query) (words []string) {
	ui.ReadRuns(env, func(ctx context.Context, s history.Store) error {
		if strings.HasPrefix(history.Latest, q.Prefix) {
			newest, err := s.Runs(ctx, history.Query{Limit: 1})
			if err != nil {
				return err
			}
			included, err := s.Runs(ctx, history.Query{Tool: q.Tool, Status: q.Status, Limit: 1})
			if err != nil {
				return err
			}
			if len(newest) > 0 && len(included) > 0 && included[0].ID == newest[0].ID {
				words = append(words, ui.WithDescription(history.Latest, "the newest run"))
			}
		}
		list, err := s.Runs(ctx, q)
		for _, r := range list {
			words = append(words, ui.WithDescription(r.ID, r.Tool+" "+r.Status.With(r.Notes...)+" "+console.Age(time.Since(r.Started))+" ago"))
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
			return CompleteRunID(env)(c, args, prefix)
		case 1:
			return RunSteps(env, args[0], prefix), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// RunSteps returns completions for the steps of a run that begin with prefix.
func RunSteps(env *ui.Env, run, prefix string) (words []string) {
	ui.ReadRuns(env, func(ctx context.Context, s history.Store) error {
		p, err := env.LoadRun(ctx, s, run)
		if err != nil {
			return err
		}
		steps := p.Result().Steps
		if !strings.Contains(prefix, "[") {
			steps, _ = ShownSteps(steps, MaxItems)
		}
		for _, st := range steps {
			if strings.HasPrefix(st.ID, prefix) && len(words) < MaxOffered {
				words = append(words, ui.WithDescription(st.ID, st.Status.String()))
			}
		}
		return nil
	})
	return words
}
