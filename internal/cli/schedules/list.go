package schedules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

func scheduleListCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "List schedules with their next and last runs",
		Long: `List the schedules of the available definitions and all schedules that were added with
flowrun schedule add. The schedule of a project runs only in a service that was started in
that project. A second table lists what needs a person, of the tools that have schedules.`,
		Args: ui.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			return env.ReadHistory(func(ctx context.Context, s ui.History) error { return listSchedules(ctx, env, s, output) })
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// scheduleJSON is one schedule in the document of schedule list.
type scheduleJSON struct {
	service.Schedule
	Next    *time.Time `json:"next"` // null if the schedule is paused, has ended or lacks its tool, and for events
	Project string     `json:"project,omitempty"`
}

func listSchedules(ctx context.Context, env *ui.Env, s ui.History, output string) error {
	t, err := timetable.Read(ctx, s.Schedules(), env.Library())
	if err != nil {
		return err
	}
	for _, p := range slices.Concat(t.Problems, t.MissingTools()) {
		env.Notef("%s", p)
	}
	items := ofSchedules(launch.FindAttention(ctx, env, s), t)
	now := time.Now()
	list := make([]scheduleJSON, len(t.Entries))
	for i, e := range t.Entries {
		if list[i], err = describeEntry(ctx, s, e, now); err != nil {
			return err
		}
	}
	if output == "json" {
		return ui.WriteJSON(env, struct {
			Schema    string         `json:"schema"`
			Schedules []scheduleJSON `json:"schedules"`
			// SchedulerRunning reports whether a process fires the schedules.
			SchedulerRunning bool `json:"scheduler_running"`
			// Attention is what needs a person, of the tools that have schedules and of the machine.
			Attention []attention.Item `json:"attention"`
		}{"flowrun/schedules.v1", list, ui.SchedulerRunning(), append([]attention.Item{}, items...)})
	}
	if len(list) == 0 {
		env.Notef("no schedules; to add one: flowrun schedule add TOOL --cron EXPR, or the key schedule in a definition")
		return launch.PrintAttention(env, items)
	}
	rows := make([][]string, len(list))
	for i, j := range list {
		rows[i] = []string{j.Name, j.Tool, t.Entries[i].When(), j.nextText(now), j.lastText(), j.lastRun(), j.Source}
	}
	if err = ui.Table(env, listColumns, rows, nil); err != nil {
		return err
	}
	err = launch.PrintAttention(env, items)
	env.WarnIfNoScheduler()
	return err
}

// ofSchedules returns the items of tools that have schedules, those of the machine as a whole, and the definitions that cannot
// run: nobody knows which schedules those have.
func ofSchedules(items []attention.Item, t *timetable.Timetable) []attention.Item {
	return slices.DeleteFunc(items, func(i attention.Item) bool {
		return i.Tool != "" && i.Kind != attention.Invalid && len(t.OfTool(i.Tool)) == 0
	})
}

var listColumns = []console.Column{{Title: "NAME"}, {Title: "TOOL", Yields: 5}, {Title: "WHEN", Yields: 2}, {Title: "NEXT", Yields: 6, Whole: true}, {Title: "LAST", Yields: 4}, {Title: "RUN", Yields: 3, Whole: true}, {Title: "SOURCE", Yields: 1}}

func describeEntry(ctx context.Context, s timetable.Store, e timetable.Entry, now time.Time) (scheduleJSON, error) {
	d, err := timetable.Describe(ctx, s, e, now)
	j := scheduleJSON{Schedule: d, Project: e.Project}
	if !d.Next.IsZero() {
		j.Next = &d.Next
	}
	return j, err
}

func (j scheduleJSON) nextText(now time.Time) string {
	switch {
	case j.ToolMissing:
		return "tool missing"
	case j.Paused && j.PauseReason != "":
		return "paused: " + j.PauseReason
	case j.Paused:
		return "paused"
	case j.On != "":
		return ""
	case j.Next == nil:
		return "over"
	}
	return fmt.Sprintf("%s (in %s)", console.Clock(*j.Next, now), console.Age(j.Next.Sub(now)))
}

// lastText returns what happened at the last scheduled time, marked if the run had not succeeded at its deadline.
func (j scheduleJSON) lastText() string {
	text := j.lastStatus()
	if j.Last != nil && j.Last.Late {
		text = "late, " + text
	}
	return text
}

func (j scheduleJSON) lastStatus() string {
	switch {
	case j.Last == nil:
		return ""
	case j.Last.Run == "":
		return j.Last.Status + ": " + j.Last.Reason
	case len(j.Last.Notes) > 0:
		return fmt.Sprintf("%s (%s)", j.Last.Status, strings.Join(j.Last.Notes, ", "))
	}
	return j.Last.Status
}

func (j scheduleJSON) lastRun() string {
	if j.Last == nil {
		return ""
	}
	return j.Last.Run
}
