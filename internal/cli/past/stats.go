package past

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/runstats"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func statsCommand(env *ui.Env) *cobra.Command {
	var since, output string
	var limit, recent int
	c := &cobra.Command{
		Use:   "stats NAME|FILE",
		Short: "Show the success rate of a tool and the durations of its steps",
		Long: `Show statistics of the recorded runs of a tool that have ended: how many succeeded, and
the p50 and p95 of the duration of the whole run and of each step.

ATTEMPTS is the mean number of attempts, and FLAKY how often a step succeeded only after a retry.
TREND compares the newest 10 runs (--recent) with those before: a success rate that differs,
and a p50 that has changed by more than a quarter and 100 ms.`,
		Example: `  flowrun stats deploy --since 30d
  flowrun stats deploy --recent 3 -o json`,
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
			if recent < 1 {
				return ui.Usagef(c, "--recent must be at least 1")
			}
			var err error
			if q.Since, err = ui.ParseTime(since); err != nil {
				return ui.Usagef(c, "--since: %v", err)
			}
			if q.Tool, err = ui.ToolName(env, q.Tool); err != nil {
				return err
			}
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				if q.Tool == args[0] { // args[0] is a name; a file has just been read
					if err := checkKnown(ctx, env, s, q.Tool); err != nil {
						return err
					}
				}
				return stats(ctx, env, s, q, recent, output)
			})
		},
		ValidArgsFunction: complete.Tool(env),
	}
	fl := c.Flags()
	fl.StringVar(&since, "since", "", "only runs that started within this `duration` (24h, 7d), or since a date or a time (RFC 3339)")
	fl.IntVar(&limit, "limit", 100, "use the newest `n` runs; 0 uses all")
	fl.IntVar(&recent, "recent", runstats.DefaultRecent, "compare the newest `n` runs with those before")
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// statsColumns give up the P95 of a pair first, because its title does not say of what it is.
var statsColumns = []console.Column{{Title: "RUNS"}, {Title: "SUCCESS"}, {Title: "ATTEMPTS", Yields: 7, Whole: true}, {Title: "FLAKY", Yields: 9, Whole: true}, {Title: "P50"}, {Title: "P95", Yields: 6, Whole: true}, {Title: "MAX", Yields: 5, Whole: true},
	{Title: "CPU P50", Yields: 4, Whole: true}, {Title: "P95", Yields: 3, Whole: true}, {Title: "MEMORY P50", Yields: 2, Whole: true}, {Title: "P95", Yields: 1, Whole: true}, {Title: "TREND", Yields: 8}, {Title: "STEP"}}

func stats(ctx context.Context, env *ui.Env, s history.Store, q history.Query, recent int, output string) error {
	runs, err := s.Runs(ctx, q)
	if err != nil {
		return err
	}
	doc, err := runstats.Of(ctx, q.Tool, runs, recent, s.Events)
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
		rows = append(rows, []string{fmt.Sprint(t.Runs), percent(t.Rate), attempts(t), flaky(t), short(t.P50), short(t.P95), short(t.Max),
			known(t.CPU50, short), known(t.CPU95, short), known(t.RSS50, ui.FormatBytes), known(t.RSS95, ui.FormatBytes), trend(t.Earlier, t.Recent), t.Name})
	}
	header := withoutEmpty(statsColumns, rows, 2, 3, 7, 8, 9, 10, 11)
	return ui.Table(env, header, rows, nil)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// attempts returns the mean number of attempts of a step, "" if it never needed a second one.
func attempts(t *runstats.Tally) string {
	if t.MaxAttempts < 2 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(t.Attempts)/float64(t.Runs))
}

// flaky returns how often a step succeeded only after a retry, "" for never.
func flaky(t *runstats.Tally) string {
	if t.Flaky == 0 {
		return ""
	}
	return fmt.Sprintf("%d (%.0f %%)", t.Flaky, 100*t.FlakyRate)
}

// minTrend is by how many milliseconds a p50 changes at least to be mentioned, if that is more than a quarter of it.
const minTrend = 100

// trend returns how the newest runs differ from those before, "" if they do not, or if there are none.
func trend(before, now *runstats.Part) string {
	if before == nil || now == nil {
		return ""
	}
	var words []string
	if a, b := percent(before.Rate), percent(now.Rate); a != b {
		words = append(words, "success "+a+" -> "+b)
	}
	if change := max(now.P50-before.P50, before.P50-now.P50); change > minTrend && 4*change > before.P50 {
		words = append(words, "P50 "+short(before.P50)+" -> "+short(now.P50))
	}
	return strings.Join(words, ", ")
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
