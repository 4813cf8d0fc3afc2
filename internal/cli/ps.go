package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/listing"
	"github.com/flowrun/flowrun/internal/sqlite"
)

var psForms = []string{"table", "json"}

func (a *app) psCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "ps",
		Short: "List the runs that are under way, and who waits for whom",
		Long: `List the runs that are under way, newest first: those that run, those that stand in
line for a lock or for another run of their tool to end (pending), and those that rest
until somebody answers (waiting). Then every lock that is held, with who has it and who
waits, in the order of their turns; a tool that says max-active-runs stands there too.`,
		Example: `  flowrun ps
  flowrun ps -o json | jq .locks`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf(c, "output", output, psForms); err != nil {
				return err
			}
			return a.reading(func(ctx context.Context, s *sqlite.Store) error { return a.ps(ctx, s, output) })
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "table", "print in this `form`: table|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(psForms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) ps(ctx context.Context, s flowrun.Store, output string) error {
	line, err := s.Line(ctx)
	if err != nil {
		return err
	}
	runs, err := s.Runs(ctx, flowrun.Query{Status: listing.UnderWay()})
	if err != nil {
		return err
	}
	doc := listing.PsOf(line, runs)
	if output == "json" {
		return a.writeJSON(doc)
	}
	return a.psTable(doc)
}

func (a *app) psTable(doc listing.Ps) error {
	if len(doc.Runs) == 0 {
		a.say("no runs are under way")
		return nil
	}
	now := time.Now()
	rows := make([][]string, len(doc.Runs))
	for i, r := range doc.Runs {
		pid := ""
		if r.PID != 0 {
			pid = strconv.Itoa(r.PID)
		}
		rows[i] = []string{r.ID, r.Tool, r.Status.String(), console.Age(now.Sub(r.Started)) + " ago", pid, r.Message}
	}
	err := console.Table(a.Stdout, []string{"RUN", "TOOL", "STATUS", "STARTED", "PID", "NOTE"}, rows,
		console.TableOptions{Width: a.width(), Color: a.statusColors(2)})
	if err != nil || len(doc.Locks)+len(doc.Limits) == 0 {
		return err
	}
	rows = rows[:0]
	add := func(kind string, l listing.Lock) {
		rows = append(rows, []string{kind + l.Name, fmt.Sprintf("%d/%d", len(l.Holders), l.Slots), strings.Join(l.Holders, " "), strings.Join(l.Waiting, " ")})
	}
	for _, l := range doc.Locks {
		add("lock ", l)
	}
	for _, l := range doc.Limits {
		add("runs of ", l)
	}
	fmt.Fprintln(a.Stdout)
	return console.Table(a.Stdout, []string{"TAKEN", "SLOTS", "HELD BY", "WAITING"}, rows, console.TableOptions{Width: a.width()})
}
