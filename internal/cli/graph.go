package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

var graphForms = []string{"text", "dot", "mermaid"}

func (env *Env) graphCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "graph NAME|FILE [RUN]",
		Short: "Draw which step waits for which",
		Long: `Draw which step of a tool waits for which; with a run, what became of each there
and how long it took.`,
		Example: `  flowrun graph deploy
  flowrun graph deploy latest           with what became of each step in a run
  flowrun graph ./deploy.yaml -o mermaid
  flowrun graph deploy -o dot | dot -Tsvg > deploy.svg`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef(c, "give one tool or file, and a run of it if you like")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf(c, "output", output, graphForms); err != nil {
				return err
			}
			if len(args) == 2 {
				return env.graphRun(c, args[0], args[1], output)
			}
			plan, err := env.compile(args[0])
			if err != nil {
				return err
			}
			return console.Draw(env.Stdout, drawing(plan, ""), output)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return env.completeTool(c, args, prefix)
			}
			name, _ := env.toolName(args[0])
			return env.runIDs(flowrun.Query{Prefix: prefix, Tool: name, Limit: mostOffered}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "draw in this `form`: text|dot|mermaid")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(graphForms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// graphRun draws a run, by the definitions it was started with.
func (env *Env) graphRun(c *cobra.Command, name, run, output string) error {
	return env.reading(func(ctx context.Context, s *sqlite.Store) error {
		p, err := env.past(ctx, s, run)
		if err != nil {
			return err
		}
		if !p.Of(name) {
			return usagef(c, "run %s is one of %s, not of %s", p.Record.ID, p.Record.Tool, name)
		}
		boxes := drawing(p.Plan, "")
		r := p.Result()
		mark(boxes, state(r), time.Now())
		markLoops(boxes, byStep(p.Plan, r.Steps))
		return console.Draw(env.Stdout, boxes, output)
	})
}

// drawing is a plan as boxes and arrows.
func drawing(p *flowrun.Plan, prefix string) []console.Box {
	var boxes []console.Box
	for _, name := range p.Steps() {
		s := p.Step(name)
		b := console.Box{ID: prefix + name, Name: name, Kind: string(s.Kind)}
		b.Note = role(p, name)
		if s.RunCondition != nil {
			b.Condition = s.RunCondition.S
		}
		for _, up := range p.Upstream(name) {
			b.After = append(b.After, prefix+up)
		}
		if inner := p.Nested(name); inner != nil {
			if s.Kind != tool.Group {
				b.Kind = inner.Name()
			}
			b.Inside = drawing(inner, b.ID+"/")
		}
		boxes = append(boxes, b)
	}
	return boxes
}

// role says what is special about when a step runs, and how often.
func role(p *flowrun.Plan, step string) string {
	var words []string
	switch key, of := p.Handler(step); {
	case of != "":
		words = append(words, key+" of "+of)
	case key != "":
		words = append(words, key)
	}
	switch l := p.Step(step).Loop; {
	case l == nil:
	case l.Matrix():
		words = append(words, "matrix")
	default:
		words = append(words, "for-each")
	}
	return strings.Join(words, ", ")
}
