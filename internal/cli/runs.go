package cli

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/listing"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

var listForms = []string{"table", "json", "jsonl"}

func (env *Env) runsCommand() *cobra.Command {
	var status []string
	var since, output string
	var q flowrun.Query
	c := &cobra.Command{
		Use:   "runs",
		Short: "List runs, newest first",
		Long:  `List runs, newest first. The states are ` + strings.Join(runStates(), ", ") + `.`,
		Example: `  flowrun runs
  flowrun runs --status failed,timed-out --since 24h
  flowrun runs --tool deploy --limit 5 -o json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf(c, "output", output, listForms); err != nil {
				return err
			}
			for _, words := range status {
				for _, w := range strings.Split(words, ",") {
					st, err := dag.ParseStatus(w)
					if err != nil {
						return usagef(c, "--status: %v; the states are %s", err, strings.Join(runStates(), ", "))
					}
					q.Status = append(q.Status, st)
				}
			}
			if q.Limit < 0 {
				return usagef(c, "--limit must be at least 1, or 0 for all")
			}
			var err error
			if q.Since, err = moment(since); err != nil {
				return usagef(c, "--since: %v", err)
			}
			if q.Tool, err = env.toolName(q.Tool); err != nil {
				return err
			}
			return env.reading(func(ctx context.Context, s *sqlite.Store) error { return env.runs(ctx, s, q, output) })
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&status, "status", nil, "only runs in these `states`: failed or failed,timed-out")
	fl.StringVar(&q.Tool, "tool", "", "only runs of this `tool`")
	fl.StringVar(&since, "since", "", "only runs begun since: a `duration` (24h, 7d) or a time (RFC 3339)")
	fl.IntVar(&q.Limit, "limit", 20, "list at most `n` runs; 0 is all")
	fl.StringVarP(&output, "output", "o", "table", "print in this `form`: table|json|jsonl")
	c.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(runStates(), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(listForms, cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("tool", func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return env.completeTool(c, nil, prefix)
	})
	return c
}

// toolName is the name of the tool that a word of the command line means: a name,
// also of a tool that is gone, or a file.
func (env *Env) toolName(word string) (string, error) {
	if !strings.ContainsRune(word, os.PathSeparator) && tool.Extension(word) == "" {
		return word, nil
	}
	p, err := env.compile(word)
	if err != nil {
		return "", err
	}
	return p.Name(), nil
}

// runStates are the words of states that a run can be in.
func runStates() []string {
	var words []string
	for _, s := range []dag.Status{dag.Running, dag.Pending, dag.Waiting, dag.Succeeded, dag.Failed, dag.Cancelled, dag.TimedOut, dag.Interrupted} {
		words = append(words, s.String())
	}
	return words
}

func (env *Env) runs(ctx context.Context, s flowrun.Store, q flowrun.Query, output string) error {
	list, err := s.Runs(ctx, q)
	if err != nil {
		return err
	}
	now := time.Now()
	switch output {
	case "json":
		return env.writeJSON(listing.RunsOf(list, now))
	case "jsonl":
		enc := json.NewEncoder(env.Stdout)
		enc.SetEscapeHTML(false)
		for _, r := range list {
			if err := enc.Encode(listing.RunOf(r, now)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		env.say("no runs to list")
		return nil
	}
	rows := make([][]string, len(list))
	for i, r := range list {
		rows[i] = []string{r.ID, r.Tool, r.Status.With(r.Notes...), console.Age(now.Sub(r.Started)) + " ago", took(r.Started, r.Ended, r.Status, now), r.Message}
	}
	return console.Table(env.Stdout, []string{"RUN", "TOOL", "STATUS", "STARTED", "TOOK", "NOTE"}, rows,
		console.TableOptions{Width: env.width(), Color: env.statusColors(2)})
}

// took is how long something has taken, so far where it goes on.
func took(started, ended time.Time, st dag.Status, now time.Time) string {
	switch {
	case started.IsZero():
		return ""
	case !ended.IsZero():
		return console.Short(ended.Sub(started))
	case st == dag.Running, st == dag.Pending:
		return console.Short(now.Sub(started)) + "+"
	}
	return ""
}

// statusColors colours the column of states.
func (env *Env) statusColors(column int) func(int, string) string {
	if !env.colored(env.Stdout) {
		return nil
	}
	return func(col int, cell string) string {
		word, _, _ := strings.Cut(strings.TrimSpace(cell), " (") // the notes of a run
		st, err := dag.ParseStatus(word)
		if col != column || err != nil {
			return ""
		}
		return console.StatusColor(st)
	}
}

// writeJSON prints one document.
func (env *Env) writeJSON(doc any) error {
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// mostOffered is how many runs, or steps of a run, completion offers.
const mostOffered = 50

// completeRunID offers runs, newest first, with what they are.
func (env *Env) completeRunID(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return env.runIDs(flowrun.Query{Prefix: prefix, Limit: mostOffered}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// runIDs are completions for the runs of a query. The newest run of all has a word.
func (env *Env) runIDs(q flowrun.Query) (words []string) {
	env.reading(func(ctx context.Context, s *sqlite.Store) error {
		if strings.HasPrefix(flowrun.Latest, q.Prefix) {
			newest, err := s.Runs(ctx, flowrun.Query{Limit: 1})
			if err != nil {
				return err
			}
			if len(newest) > 0 && (q.Tool == "" || q.Tool == newest[0].Tool) {
				words = append(words, described(flowrun.Latest, "the newest run"))
			}
		}
		list, err := s.Runs(ctx, q)
		for _, r := range list {
			words = append(words, described(r.ID, r.Tool+" "+r.Status.With(r.Notes...)+" "+console.Age(time.Since(r.Started))+" ago"))
		}
		return err
	})
	return words
}

// completeRunStep offers the steps of the run that is named on the line.
func (env *Env) completeRunStep(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return env.completeRunID(c, args, prefix)
	case 1:
		return env.runSteps(args[0], prefix), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func (env *Env) runSteps(run, prefix string) (words []string) {
	env.reading(func(ctx context.Context, s *sqlite.Store) error {
		p, err := env.past(ctx, s, run)
		if err != nil {
			return err
		}
		steps := p.Result().Steps
		if !strings.Contains(prefix, "[") {
			steps, _ = shownSteps(steps, mostItems)
		}
		for _, st := range steps {
			if strings.HasPrefix(st.ID, prefix) && len(words) < mostOffered {
				words = append(words, described(st.ID, st.Status.String()))
			}
		}
		return nil
	})
	return words
}
