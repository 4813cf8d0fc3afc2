package past

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/runstats"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func statsCommand(env *ui.Env) *cobra.Command {
	var since, output string
	var limit int
	c := &cobra.Command{
		Use:   "stats NAME|FILE",
		Short: "Show the success rate of a tool and the durations of its steps",
		Long: `Show statistics of the recorded runs of a tool that have ended: how many succeeded, and
the p50 and p95 of the duration of the whole run and of each step.`,
		Example: "  flowrun stats deploy --since 30d",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return ui.Usagef(c, "give the name or file of one tool")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			q := history.Query{Tool: args[0], Limit: limit, Status: runstats.Statuses()}
			if limit < 0 {
				return ui.Usagef(c, "--limit must be at least 1, or 0 for all")
			}
			var err error
			if q.Since, err = ui.ParseTime(since); err != nil {
				return ui.Usagef(c, "--since: %v", err)
			}
			if q.Tool, err = ui.ToolName(env, q.Tool); err != nil {
				return err
			}
			return env.ReadHistory(func(ctx context.Context, s ui.History) error {
				if q.Tool == args[0] { // args[0] is a name; a file has just been read
					if err := checkKnown(ctx, env, s, q.Tool); err != nil {
						return err
					}
				}
				return stats(ctx, env, s, q, output)
			})
		},
		ValidArgsFunction: complete.Tool(env),
	}
	fl := c.Flags()
	fl.StringVar(&since, "since", "", "only runs that started within this `duration` (24h, 7d), or since a date or a time (RFC 3339)")
	fl.IntVar(&limit, "limit", 100, "use the newest `n` runs; 0 uses all")
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// statsColumns give up the P95 of a pair first, because its title does not say of what it is.
var statsColumns = []console.Column{{Title: "RUNS"}, {Title: "SUCCESS"}, {Title: "P50"}, {Title: "P95", Yields: 6, Whole: true}, {Title: "MAX", Yields: 5, Whole: true}, {Title: "CPU P50", Yields: 4, Whole: true}, {Title: "P95", Yields: 3, Whole: true}, {Title: "MEMORY P50", Yields: 2, Whole: true}, {Title: "P95", Yields: 1, Whole: true}, {Title: "STEP"}}

func stats(ctx context.Context, env *ui.Env, s history.Store, q history.Query, output string) error {
	runs, err := s.Runs(ctx, q)
	if err != nil {
		return err
	}
	doc, err := runstats.Of(ctx, q.Tool, runs, s.Events)
	if err != nil {
		return err
	}
	if output == "json" {
		return ui.WriteJSON(env, doc)
	}
	if doc.Total.Runs == 0 {
		env.Notef("the history has no finished run of %s", q.Tool)
		return nil
	}
	doc.Total.Name = "(whole run)"
	var rows [][]string
	for _, t := range append([]*runstats.Tally{doc.Total}, doc.Steps...) {
		rows = append(rows, []string{fmt.Sprint(t.Runs), fmt.Sprintf("%.1f %%", 100*t.Rate), short(t.P50), short(t.P95), short(t.Max),
			known(t.CPU50, short), known(t.CPU95, short), known(t.RSS50, ui.FormatBytes), known(t.RSS95, ui.FormatBytes), t.Name})
	}
	header := withoutEmpty(statsColumns, rows, 5, 6, 7, 8)
	return ui.Table(env, header, rows, nil)
}

// checkKnown returns an error for a tool that is neither recorded nor available.
func checkKnown(ctx context.Context, env *ui.Env, s history.Store, name string) error {
	runs, err := s.Runs(ctx, history.Query{Tool: name, Limit: 1})
	if err != nil || len(runs) > 0 {
		return err
	}
	_, _, err = env.Library().Lookup(name, nil)
	return ui.MarkMissing(err, name)
}

func short(ms int64) string { return console.Short(time.Duration(ms) * time.Millisecond) }

// known returns a number as text, "" if it is not known.
func known(n *int64, text func(int64) string) string {
	if n == nil {
		return ""
	}
	return text(*n)
}
