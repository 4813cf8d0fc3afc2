package past

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func timelineCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "timeline RUN",
		Short: "Draw when each step ran, with the critical path",
		Long: `Draw when each step of a run was running. A star marks the critical path: the chain of
steps that determined the duration of the run. -o json prints the same document as flowrun
show -o json, with the times of all steps.`,
		Example: "  flowrun timeline latest",
		Args:    ui.OneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				p, err := env.LoadRun(ctx, s, findrun.Read, args[0])
				if err != nil {
					return err
				}
				if output == "json" {
					return ui.WriteJSON(env, p.Result())
				}
				r := p.Result()
				return console.Timeline(env.Stdout, runview.Bars(p.Plan, r.Steps),
					console.TimelineOptions{Width: env.StdoutWidth(), Color: env.Colored(env.Stdout), ASCII: ui.ASCIILocale(), Now: r.Until()})
			})
		},
		ValidArgsFunction: runview.CompleteRunID(env, findrun.Read),
	}
	ui.OutputFlag(c, &output, "text", "json")
	return c
}
