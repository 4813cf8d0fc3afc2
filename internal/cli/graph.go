package cli

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/console"
)

var graphForms = []string{"text", "dot", "mermaid"}

func (a *app) graphCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "graph NAME|FILE",
		Short: "Draw which step waits for which",
		Example: `  flowrun graph deploy
  flowrun graph ./deploy.yaml -o mermaid
  flowrun graph deploy -o dot | dot -Tsvg > deploy.svg`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(c, "give one tool or file")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf(c, "output", output, graphForms); err != nil {
				return err
			}
			plan, err := a.compile(args[0])
			if err != nil {
				return err
			}
			return console.Draw(a.Stdout, drawing(plan, ""), output)
		},
		ValidArgsFunction: a.completeTool,
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text|dot|mermaid")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(graphForms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// drawing is a plan as boxes and arrows.
func drawing(p *flowrun.Plan, prefix string) []console.Box {
	var boxes []console.Box
	for _, name := range p.Steps() {
		s := p.Step(name)
		b := console.Box{ID: prefix + name, Name: name, Kind: string(s.Kind)}
		if s.RunCondition != nil {
			b.Condition = s.RunCondition.S
		}
		for _, up := range p.Upstream(name) {
			b.After = append(b.After, prefix+up)
		}
		if inner := p.Nested(name); inner != nil {
			b.Kind = inner.Name()
			b.Inside = drawing(inner, b.ID+"/")
		}
		boxes = append(boxes, b)
	}
	return boxes
}
