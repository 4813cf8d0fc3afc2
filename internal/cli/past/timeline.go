package past

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
)

func timelineCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "timeline RUN",
		Short: "Draw when each step ran, with the critical path",
		Long: `Draw when each step of a run was running. A star marks the critical path: the chain of
steps that determined the duration of the run.`,
		Example: "  flowrun timeline latest",
		Args:    ui.OneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return env.ReadHistory(func(ctx context.Context, s *sqlite.Store) error {
				p, err := env.LoadRun(ctx, s, args[0])
				if err != nil {
					return err
				}
				return console.Timeline(env.Stdout, runview.Bars(p.Plan, p.Result().Steps), timelineOptions(env, p))
			})
		},
		ValidArgsFunction: runview.CompleteRunID(env),
	}
}

func timelineOptions(env *ui.Env, p *flowrun.RecordedRun) console.TimelineOptions {
	o := console.TimelineOptions{Width: env.StdoutWidth(), Color: env.Colored(env.Stdout), ASCII: ui.ASCIILocale()}
	if p.Info.Live() {
		o.Now = time.Now()
	}
	return o
}
