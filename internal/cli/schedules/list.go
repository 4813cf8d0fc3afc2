package schedules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli/timetable"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
)

func scheduleListCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "List schedules with their next and last runs",
		Long: `List the schedules of the available definitions and all schedules that were added with
flowrun schedule add. The schedule of a project runs only in a service that was started in
that project.`,
		Args: ui.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			return env.ReadHistory(func(ctx context.Context, s *sqlite.Store) error { return listSchedules(ctx, env, s, output) })
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// scheduleJSON is one schedule in the document of schedule list.
type scheduleJSON struct {
	Name     string         `json:"name"`
	Tool     string         `json:"tool"`
	Cron     string         `json:"cron"`
	Timezone string         `json:"timezone"`
	Next     *time.Time     `json:"next"` // null if the schedule is paused or has ended
	Paused   bool           `json:"paused"`
	Source   string         `json:"source"`
	Project  string         `json:"project,omitempty"`
	Params   map[string]any `json:"params,omitempty"`
	Last     *lastJSON      `json:"last,omitempty"`
}

// lastJSON is the last scheduled time that was handled.
type lastJSON struct {
	At     time.Time `json:"at"`
	Run    string    `json:"run,omitempty"`
	Status string    `json:"status"` // of the run; or due if the run has not started yet, pruned if the history no longer has it, skipped if there was none
	Reason string    `json:"reason,omitempty"`
	Notes  []string  `json:"notes,omitempty"` // notes of the run
}

func listSchedules(ctx context.Context, env *ui.Env, s *sqlite.Store, output string) error {
	t, err := timetable.Read(ctx, env, s, env.Library())
	if err != nil {
		return err
	}
	for _, p := range t.Problems {
		env.Notef("%s", p)
	}
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
		}{"flowrun/schedules.v1", list, timetable.SchedulerRunning()})
	}
	if len(list) == 0 {
		env.Notef("no schedules; to add one: flowrun schedule add TOOL --cron EXPR, or the key schedule in a definition")
		return nil
	}
	rows := make([][]string, len(list))
	for i, j := range list {
		rows[i] = []string{j.Name, j.Tool, timetable.When(t.Entries[i].Spec), j.nextText(now), j.lastText(), j.Source}
	}
	err = console.Table(env.Stdout, []string{"NAME", "TOOL", "WHEN", "NEXT", "LAST", "SOURCE"}, rows, console.TableOptions{Width: env.StdoutWidth()})
	if err == nil {
		timetable.WarnIfIdle(env)
	}
	return err
}

func describeEntry(ctx context.Context, s *sqlite.Store, e timetable.Entry, now time.Time) (scheduleJSON, error) {
	j := scheduleJSON{Name: e.Title, Tool: e.Tool, Cron: e.Spec.Text(), Timezone: timetable.ZoneName(e.Spec.Zone()), Paused: e.Paused,
		Source: e.Source, Project: e.Project, Params: e.Params}
	from, err := timetable.WithAnchor(ctx, s, e)
	if err != nil {
		return j, err
	}
	if next := from.Next(now); !j.Paused && !next.IsZero() {
		j.Next = &next
	}
	f, ok, err := s.FiringStore().LastFiring(ctx, e.Name)
	if err != nil || !ok {
		return j, err
	}
	j.Last = &lastJSON{At: f.Scheduled.In(e.Spec.Zone()), Run: f.Run, Status: "skipped", Reason: f.Reason}
	if f.Run != "" {
		info, err := s.Info(ctx, f.Run)
		switch {
		case err == nil:
			j.Last.Status, j.Last.Notes = info.Status.String(), info.Notes
		case !errors.Is(err, flowrun.ErrNoRun):
			return j, err
		case f.Open:
			j.Last.Status = "due"
		default:
			j.Last.Status = "pruned"
		}
	}
	return j, nil
}

func (j scheduleJSON) nextText(now time.Time) string {
	switch {
	case j.Paused:
		return "paused"
	case j.Next == nil:
		return "over"
	}
	return fmt.Sprintf("%s (in %s)", console.Clock(*j.Next, now), console.Age(j.Next.Sub(now)))
}

func (j scheduleJSON) lastText() string {
	switch {
	case j.Last == nil:
		return ""
	case j.Last.Run != "":
		if len(j.Last.Notes) > 0 {
			return fmt.Sprintf("%s (%s) %s", j.Last.Status, strings.Join(j.Last.Notes, ", "), j.Last.Run)
		}
		return j.Last.Status + " " + j.Last.Run
	}
	return j.Last.Status + ": " + j.Last.Reason
}
