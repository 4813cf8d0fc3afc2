package past

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/label"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/observe/runfilter"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func runsCommand(env *ui.Env) *cobra.Command {
	var status, params, labels []string
	var since, until, origin, output string
	var f runfilter.Filter
	q := &f.Query
	c := &cobra.Command{
		Use:   "runs",
		Short: "List runs, newest first",
		Long: `List runs, newest first. TRIGGER is what started a run: cli, api, call, detach,
schedule:NAME, backfill:NAME, file:NAME, after:NAME or webhook:NAME. These are the states: ` +
			strings.Join(runfilter.Statuses(), ", ") + `.`,
		Example: `  flowrun runs
  flowrun runs --status failed,timed-out --since 24h
  flowrun runs --tool deploy --origin schedule --param REGION=eu
  flowrun runs --since 2026-11-20 --until 2026-11-21 -o json`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, w := range status {
				if err := f.AddStatus(w); err != nil {
					return ui.Usagef(c, "--status: %v; the states are %s", err, strings.Join(runfilter.Statuses(), ", "))
				}
			}
			f.SetOrigin(origin)
			for _, p := range params {
				if err := f.AddParam(p); err != nil {
					return ui.Usagef(c, "--param %q %v; write it as NAME=VALUE", p, err)
				}
			}
			for _, l := range labels {
				if err := f.AddLabel(l); err != nil {
					return ui.Usagef(c, "--label: %v; %s", err, label.Rules)
				}
			}
			if q.Limit < 0 {
				return ui.Usagef(c, "--limit must be at least 1, or 0 for all")
			}
			var err error
			if q.Since, err = ui.ParseTime(since); err != nil {
				return ui.Usagef(c, "--since: %v", err)
			}
			if q.Until, err = ui.ParseTime(until); err != nil {
				return ui.Usagef(c, "--until: %v", err)
			}
			if q.Tool, err = ui.ToolName(env, q.Tool); err != nil {
				return err
			}
			return engines.Read(env, func(ctx context.Context, s history.Store) error { return runs(ctx, env, s, &f, output) })
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&status, "status", nil, "only runs in these `states`: failed or failed,timed-out")
	fl.StringVar(&q.Tool, "tool", "", "only runs of this `tool`")
	fl.StringVar(&since, "since", "", "only runs that started within this `duration` (24h, 7d), or since a date or a time (RFC 3339)")
	fl.StringVar(&until, "until", "", "only runs that started before this `time`, written like that of --since")
	fl.StringVar(&origin, "origin", "", "only runs with this `trigger`: schedule:NAME, schedule for all schedules, or cli")
	fl.StringArrayVar(&params, "param", nil, "only runs in which this parameter has this value (`NAME=VALUE`)")
	fl.StringArrayVar(&labels, "label", nil, "only runs with this `label`: team=ops, or team for any value")
	fl.IntVar(&q.Limit, "limit", 20, "list at most `n` runs; 0 lists all")
	ui.OutputFlag(c, &output, "table", "json", "jsonl")
	c.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(runfilter.Statuses(), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("origin", cobra.FixedCompletions(append(runfilter.Kinds(), runfilter.Direct, "api", "call", "detach", "mcp"), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("tool", func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return complete.Tool(env)(c, nil, prefix)
	})
	return c
}

// runColumns keep the note, which is the reason of a failure, longer than the trigger.
var runColumns = []console.Column{{Title: "RUN"}, {Title: "TOOL", Yields: 5}, {Title: "STATUS"}, {Title: "STARTED", Yields: 4, Whole: true}, {Title: "TOOK", Yields: 2, Whole: true}, {Title: "TRIGGER", Yields: 1}, {Title: "ENGINE"}, {Title: "NOTE", Yields: 3, Prose: true}}

func runs(ctx context.Context, env *ui.Env, s history.Store, f *runfilter.Filter, output string) error {
	list, next, err := f.Page(ctx, s.Runs, time.Time{})
	if err != nil {
		return err
	}
	now := time.Now()
	switch output {
	case "json":
		return ui.WriteJSON(env, rundocs.RunsOf(list, now))
	case "jsonl":
		enc := json.NewEncoder(env.Stdout)
		enc.SetEscapeHTML(false)
		for _, r := range list {
			if err := enc.Encode(rundocs.ListedRunOf(r, now)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		env.Notef("no runs found")
		return nil
	}
	rows := make([][]string, len(list))
	for i, r := range list {
		note := r.Message
		if !r.RetryAt.IsZero() {
			note = "next attempt " + runview.Begins(r.RetryAt, now) + "; " + note
		}
		rows[i] = []string{r.ID, r.Tool, r.Status.With(r.Notes...), console.Clock(r.Started.Local(), now), runview.Took(r.Took(now), r.Status), cmp.Or(r.Origin, "cli"), r.Engine, note}
	}
	if err := ui.Table(env, withoutEmpty(runColumns, rows, 6), rows, statusColors(env, 2)); err != nil || next == "" {
		return err
	}
	env.Notef("%s; to list all: --limit 0", howMany(ctx, s, f, len(list)))
	return nil
}

// howMany says how many of the runs that a filter selects are listed.
func howMany(ctx context.Context, s history.Store, f *runfilter.Filter, listed int) string {
	if all, known := f.Count(ctx, s); known {
		return fmt.Sprintf("%d of %d runs", listed, all)
	}
	return "there are more runs"
}

// statusColors returns a function that colours the column of states, or nil without colours.
func statusColors(env *ui.Env, column int) func(int, string) string {
	if !env.Colored(env.Stdout) {
		return nil
	}
	return func(col int, cell string) string {
		word, _, _ := strings.Cut(strings.TrimSpace(cell), " (") // without the notes of the run
		st, err := dag.ParseStatus(word)
		if col != column || err != nil {
			return ""
		}
		return console.StyleOf(st).Color
	}
}
