package past

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/listing"
	"github.com/flowrun/flowrun/internal/sqlite"
)

func psCommand(env *ui.Env) *cobra.Command {
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
		Args: ui.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			return env.ReadHistory(func(ctx context.Context, s *sqlite.Store) error { return ps(ctx, env, s, output) })
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

func ps(ctx context.Context, env *ui.Env, s flowrun.Store, output string) error {
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
		return ui.WriteJSON(env, doc)
	}
	return psTable(env, doc)
}

func psTable(env *ui.Env, doc listing.Ps) error {
	if len(doc.Runs) == 0 {
		env.Notef("no runs are under way")
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
	err := console.Table(env.Stdout, []string{"RUN", "TOOL", "STATUS", "STARTED", "PID", "NOTE"}, rows,
		console.TableOptions{Width: env.Width(), Color: statusColors(env, 2)})
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
	fmt.Fprintln(env.Stdout)
	return console.Table(env.Stdout, []string{"TAKEN", "SLOTS", "HELD BY", "WAITING"}, rows, console.TableOptions{Width: env.Width()})
}
