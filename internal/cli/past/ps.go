package past

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/attention"
)

func psCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "ps",
		Short: "List active runs, the locks and pools they hold or wait for, and what needs a person",
		Long: `List active runs, newest first: running, pending (queued for a lock, or until another run
of the same tool ends) and waiting (for an approval).

A second table lists the locks and pools in use, with the runs that hold them and the queue
of runs that wait for them, in order; a step is listed as RUN/STEP. It also lists tools that
set max-active-runs. A third table lists what needs a person: runs that no service
continues, approvals that may be out of date, scheduled times that were missed, and others.`,
		Example: `  flowrun ps
  flowrun ps -o json | jq .locks`,
		Args: ui.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			return env.ReadHistory(func(ctx context.Context, s ui.History) error { return ps(ctx, env, s, output) })
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

var activeColumns = []console.Column{{Title: "RUN"}, {Title: "TOOL", Yields: 4}, {Title: "STATUS"}, {Title: "STARTED", Yields: 3, Whole: true}, {Title: "PID", Yields: 1, Whole: true}, {Title: "NOTE", Yields: 2, Prose: true}}

func ps(ctx context.Context, env *ui.Env, s ui.History, output string) error {
	doc, err := rundocs.ReadPs(ctx, s, nil)
	if err != nil {
		return err
	}
	items := launch.FindAttention(ctx, env, s)
	if output == "json" {
		return ui.WriteJSON(env, psDocument{doc, append([]attention.Item{}, items...)})
	}
	if err := psTable(env, doc); err != nil {
		return err
	}
	return launch.PrintAttention(env, slices.DeleteFunc(items, func(i attention.Item) bool { return i.Kind == attention.Waiting })) // it is listed as a run
}

// psDocument is the document flowrun/ps.v1.
type psDocument struct {
	rundocs.Ps
	Attention []attention.Item `json:"attention"`
}

func psTable(env *ui.Env, doc rundocs.Ps) error {
	if len(doc.Runs) == 0 {
		env.Notef("no active runs")
		return nil
	}
	now := time.Now()
	rows := make([][]string, len(doc.Runs))
	for i, r := range doc.Runs {
		pid := ""
		if r.PID != 0 {
			pid = strconv.Itoa(r.PID)
		}
		rows[i] = []string{r.ID, r.Tool, r.Status.String(), console.Age(dag.Span(r.Started, now)) + " ago", pid, r.Message}
	}
	err := ui.Table(env, activeColumns, rows, statusColors(env, 2))
	if err != nil || len(doc.Locks)+len(doc.Limits)+len(doc.Pools) == 0 {
		return err
	}
	rows = rows[:0]
	add := func(kind string, l rundocs.Lock) {
		rows = append(rows, []string{kind + l.Name, fmt.Sprintf("%d/%d", l.Used, l.Slots), strings.Join(l.Holders, " "), strings.Join(l.Waiting, " ")})
	}
	for _, l := range doc.Locks {
		add("lock ", l)
	}
	for _, l := range doc.Pools {
		add("pool ", l)
	}
	for _, l := range doc.Limits {
		add("runs of ", l)
	}
	fmt.Fprintln(env.Stdout)
	return ui.Table(env, console.Columns("IN USE", "SLOTS", "HELD BY", "WAITING"), rows, nil)
}
