package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
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

// underWay are the states of runs that ps lists.
var underWay = []dag.Status{dag.Running, dag.Pending, dag.Waiting}

// psJSON is flowrun/ps.v1.
type psJSON struct {
	Schema string     `json:"schema"`
	Runs   []liveJSON `json:"runs"`
	Locks  []lockJSON `json:"locks"`
	Limits []lockJSON `json:"limits"` // of tools with max-active-runs
}

// liveJSON is a run that is under way.
type liveJSON struct {
	ID       string         `json:"id"`
	Tool     string         `json:"tool"`
	Status   dag.Status     `json:"status"`
	Started  time.Time      `json:"started"`
	PID      int            `json:"pid,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Message  string         `json:"message,omitempty"`
	WaitsFor []obstacleJSON `json:"waits_for,omitempty"`
}

// lockJSON is a lock, or the turns of a tool, and the runs that have one and wait for
// one. Slots is the least that any of them says.
type lockJSON struct {
	Name    string   `json:"name"`
	File    string   `json:"file,omitempty"`
	Slots   int      `json:"slots"`
	Holders []string `json:"holders"`
	Waiting []string `json:"waiting"`
}

func (a *app) ps(ctx context.Context, s flowrun.Store, output string) error {
	line, err := s.Line(ctx)
	if err != nil {
		return err
	}
	runs, err := s.Runs(ctx, flowrun.Query{Status: underWay})
	if err != nil {
		return err
	}
	doc := psJSON{Schema: "flowrun/ps.v1", Runs: []liveJSON{}, Locks: stood(line, flowrun.NeedLock), Limits: stood(line, flowrun.NeedTurn)}
	waits := map[string][]obstacleJSON{}
	for _, q := range line.Waiting() {
		waits[q.Run] = obstacles(q)
	}
	for _, r := range runs {
		doc.Runs = append(doc.Runs, liveJSON{r.ID, r.Tool, r.Status, r.Started, r.PID, r.Reason, r.Message, waits[r.ID]})
	}
	if output == "json" {
		return a.writeJSON(doc)
	}
	return a.psTable(doc)
}

// stood is who has, and who waits for, each thing of a kind, in the order in which these
// were first asked for.
func stood(line flowrun.Line, kind flowrun.NeedKind) []lockJSON {
	list := []lockJSON{}
	at := map[[2]string]int{}
	for _, p := range line {
		for _, n := range p.Needs {
			if n.Kind != kind {
				continue
			}
			key := [2]string{n.Name, n.File}
			i, known := at[key]
			if !known {
				i = len(list)
				at[key] = i
				list = append(list, lockJSON{n.Name, n.File, n.Slots, []string{}, []string{}})
			}
			l := &list[i]
			l.Slots = min(l.Slots, n.Slots)
			if p.Held {
				l.Holders = append(l.Holders, p.Run)
			} else {
				l.Waiting = append(l.Waiting, p.Run)
			}
		}
	}
	return list
}

func (a *app) psTable(doc psJSON) error {
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
	add := func(kind string, l lockJSON) {
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
