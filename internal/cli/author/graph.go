package author

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/screen/drawing"
)

func graphCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "graph NAME|FILE [RUN]",
		Short: "Draw the graph of steps",
		Long: `Draw the steps of a tool and their dependencies. If you give a run, the graph also shows
the state and duration of each step in that run.`,
		Example: `  flowrun graph deploy
  flowrun graph deploy latest           with the states of its last run
  flowrun graph deploy -o svg > deploy.svg
  flowrun graph ./deploy.yaml -o mermaid`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return ui.Usagef(c, "give one tool or file, and optionally one of its runs")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return graphRun(env, c, args[0], args[1], output)
			}
			plan, err := ui.Compile(env, args[0])
			if err != nil {
				return err
			}
			return drawing.Draw(env.Stdout, drawing.Boxes(plan), output)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return complete.Tool(env)(c, args, prefix)
			}
			name, _ := ui.ToolName(env, args[0])
			return runview.RunIDs(env, findrun.Read, name, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		},
	}
	ui.OutputFlag(c, &output, "text", "svg", "dot", "mermaid", "json")
	return c
}

// graphRun draws a recorded run, with the definitions that it was started with.
func graphRun(env *ui.Env, c *cobra.Command, name, run, output string) error {
	return env.ReadHistory(func(ctx context.Context, s ui.History) error {
		f := env.Finder(s)
		f.Tool, _ = ui.ToolName(env, name) // of a file that is gone or invalid, any run is looked for
		id, err := f.Find(ctx, findrun.Read, run)
		if err != nil {
			return err
		}
		p, err := engine.LoadRun(ctx, s, env.Library(), id)
		if err != nil {
			return err
		}
		if !p.Of(name) {
			return ui.Usagef(c, "run %s is one of %s, not of %s", p.Record.ID, p.Record.Tool, name)
		}
		boxes := drawing.Boxes(p.Plan)
		r := p.Result()
		runview.MarkSteps(boxes, runview.StepStates(r))
		runview.MarkLoops(boxes, runview.CountByStep(p.Plan, r.Steps))
		return drawing.Draw(env.Stdout, boxes, output)
	})
}
