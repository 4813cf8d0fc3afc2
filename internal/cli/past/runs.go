package past

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func runsCommand(env *ui.Env) *cobra.Command {
	var status []string
	var since, output string
	var q history.Query
	c := &cobra.Command{
		Use:   "runs",
		Short: "List runs, newest first",
		Long: `List runs, newest first. TRIGGER is what started a run: cli, api, call, detach,
schedule:NAME, file:NAME, after:NAME or webhook:NAME. These are the states: ` +
			strings.Join(runStates(), ", ") + `.`,
		Example: `  flowrun runs
  flowrun runs --status failed,timed-out --since 24h
  flowrun runs --tool deploy --limit 5 -o json`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, w := range status {
				st, err := dag.ParseStatus(w)
				if err != nil {
					return ui.Usagef(c, "--status: %v; the states are %s", err, strings.Join(runStates(), ", "))
				}
				q.Status = append(q.Status, st)
			}
			if q.Limit < 0 {
				return ui.Usagef(c, "--limit must be at least 1, or 0 for all")
			}
			var err error
			if q.Since, err = ui.ParseTime(since); err != nil {
				return ui.Usagef(c, "--since: %v", err)
			}
			if q.Tool, err = ui.ToolName(env, q.Tool); err != nil {
				return err
			}
			return ui.ReadRuns(env, func(ctx context.Context, s history.Store) error { return runs(ctx, env, s, q, output) })
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&status, "status", nil, "only runs in these `states`: failed or failed,timed-out")
	fl.StringVar(&q.Tool, "tool", "", "only runs of this `tool`")
	fl.StringVar(&since, "since", "", "only runs that started within this `duration` (24h, 7d), or since a date or a time (RFC 3339)")
	fl.IntVar(&q.Limit, "limit", 20, "list at most `n` runs; 0 lists all")
	ui.OutputFlag(c, &output, "table", "json", "jsonl")
	c.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(runStates(), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("tool", func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return complete.Tool(env)(c, nil, prefix)
	})
	return c
}

// runColumns keep the note, which is the reason of a failure, longer than the trigger.
var runColumns = []console.Column{{Title: "RUN"}, {Title: "TOOL", Yields: 5}, {Title: "STATUS"}, {Title: "STARTED", Yields: 4, Whole: true}, {Title: "TOOK", Yields: 2, Whole: true}, {Title: "TRIGGER", Yields: 1}, {Title: "NOTE", Yields: 3, Prose: true}}

// runStates returns the states that a run can have.
func runStates() []string {
	var words []string
	for _, s := range []dag.Status{dag.Running, dag.Pending, dag.Waiting, dag.Succeeded, dag.Failed, dag.Cancelled, dag.TimedOut, dag.Interrupted} {
		words = append(words, s.String())
	}
	return words
}

func runs(ctx context.Context, env *ui.Env, s history.Store, q history.Query, output string) error {
	limit := q.Limit
	if limit > 0 {
		q.Limit++ // to know whether there are more
	}
	list, err := s.Runs(ctx, q)
	if err != nil {
		return err
	}
	more := limit > 0 && len(list) > limit
	if more {
		list = list[:limit]
	}
	now := time.Now()
	switch output {
	case "json":
		return ui.WriteJSON(env, rundocs.RunsOf(list, now))
	case "jsonl":
		enc := json.NewEncoder(env.Stdout)
		enc.SetEscapeHTML(false)
		for _, r := range list {
			if err := enc.Encode(rundocs.RunOf(r, now)); err != nil {
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
		rows[i] = []string{r.ID, r.Tool, r.Status.With(r.Notes...), console.Clock(r.Started.Local(), now), runview.Took(r.Took(now), r.Status), cmp.Or(r.Origin, "cli"), r.Message}
	}
	if more {
		defer env.Notef("there are more runs; to list all: --limit 0")
	}
	return ui.Table(env, runColumns, rows, statusColors(env, 2))
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
