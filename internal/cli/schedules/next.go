package schedules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// maxTimes is how many times schedule next shows at most.
const maxTimes = 1000

func scheduleNextCommand(env *ui.Env) *cobra.Command {
	var from, zone, output string
	var count int
	c := &cobra.Command{
		Use:   `next NAME|"CRON"`,
		Short: "Show the next times of a schedule",
		Long: `Show the next times of a schedule, of all schedules of a tool, or of a cron expression,
in its time zone and in UTC. Notes explain unexpected times, such as those moved by
daylight saving time or to a weekday. Write a cron expression as in a definition, and put
it in quotes so that it is one argument.`,
		Example: `  flowrun schedule next report
  flowrun schedule next "0 7 * * 1-5"
  flowrun schedule next "30 2 * * *" --timezone Europe/Zurich --from 2026-03-28
  flowrun schedule next "@every 90m" --count 3 -o json`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return ui.Usagef(c, `give the name of a schedule, or a cron expression such as "0 7 * * 1-5"`)
			case len(args) > 1:
				return ui.Usagef(c, "too many arguments: put the cron expression in quotes")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if count < 1 || count > maxTimes {
				return ui.Usagef(c, "--count must be from 1 to %d", maxTimes)
			}
			list, err := findSchedules(env, c, args[0], zone)
			if err != nil {
				return err
			}
			begin := time.Now()
			if from != "" {
				if begin, err = tool.Moment(from, list[0].Spec.Zone()); err != nil {
					return ui.Usagef(c, "--from: %v", err)
				}
			}
			if list[0].title == "" {
				list[0].Spec = list[0].Spec.From(begin)
			} else {
				env.WarnIfNoScheduler()
			}
			if output == "json" {
				return ui.WriteJSON(env, timesJSON{"flowrun/schedule-times.v1", upcoming(list, begin, count)})
			}
			return printTimes(env, list, begin, count)
		},
		ValidArgsFunction: completeSchedules(env),
	}
	fl := c.Flags()
	fl.IntVar(&count, "count", 10, "show `n` times")
	fl.StringVar(&from, "from", "", "show times after this `time`: a date or a time (RFC 3339) (default: now)")
	fl.StringVar(&zone, "timezone", "", "the time `zone` of an expression without one (default: the machine's)")
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// named is a schedule with the name that schedule list shows; "" for a cron expression.
type named struct {
	schedule.Schedule
	title string
}

// findSchedules returns the schedules that an argument means: all schedules of a tool, a schedule by
// its name, or a cron expression.
func findSchedules(env *ui.Env, c *cobra.Command, word, zone string) (list []named, err error) {
	if strings.ContainsAny(word, " \t*=") || word == "" || word[0] == '@' {
		spec, err := cronArgument(c, word, zone)
		return []named{{Schedule: schedule.Schedule{Spec: spec}}}, err
	}
	if zone != "" {
		return nil, ui.Usagef(c, "--timezone applies only to a cron expression; a schedule has its own time zone")
	}
	err = env.ReadHistory(func(ctx context.Context, store ui.History) error {
		t, err := timetable.Read(ctx, store.Schedules(), env.Library())
		if err != nil {
			return err
		}
		entries := t.OfTool(word)
		if len(entries) == 0 {
			e, err := findSchedule(t, word)
			if err != nil {
				return err
			}
			entries = []timetable.Entry{e}
		}
		for _, e := range entries {
			if e.Trigger != nil {
				continue
			}
			if e.Paused {
				env.Notef("schedule %s is paused: it does not run at these times", e.Title)
			}
			s, err := timetable.WithAnchor(ctx, store.Firings(), e)
			if err != nil {
				return err
			}
			list = append(list, named{s, e.Title})
		}
		if len(list) == 0 {
			return ui.Missing(fmt.Errorf("%s has no scheduled times: it runs %s", word, entries[0].When()))
		}
		return nil
	})
	return list, err
}

// cronArgument parses a cron expression from the command line. zone is --timezone.
func cronArgument(c *cobra.Command, text, zone string) (cron.Spec, error) {
	var o cron.Options
	if zone != "" {
		var err error
		if o.Zone, err = cron.LoadZone(zone); err != nil {
			return cron.Spec{}, ui.Usagef(c, "--timezone: %v", err)
		}
	}
	spec, err := cron.Parse(text, o)
	if bad, ok := errors.AsType[*cron.Error](err); ok {
		return spec, cronUsageError(c, bad)
	}
	if zone != "" && spec.Zoned() {
		return spec, ui.Usagef(c, "both the cron expression and --timezone give a time zone; use only one of them")
	}
	return spec, err
}

// timesJSON is the document flowrun/schedule-times.v1.
type timesJSON struct {
	Schema string     `json:"schema"`
	Times  []timeJSON `json:"times"`
}

// timeJSON is one scheduled time in it.
type timeJSON struct {
	At       time.Time `json:"at"`
	Schedule string    `json:"schedule,omitempty"` // "" for a cron expression
	Note     string    `json:"note"`               // why it differs from the pattern, for example because of daylight saving; else ""
	// Excepted is how many times except leaves out, of which At is the first; 0 for a time at which the schedule runs.
	Excepted int `json:"excepted,omitempty"`
}

// upcoming returns the next n times of some schedules after a time, or fewer if the schedules end. Times
// that except leaves out have one entry together, which does not count.
func upcoming(schedules []named, after time.Time, n int) []timeJSON {
	list := []timeJSON{}
	for _, s := range schedules {
		at := after
		for range n {
			next := s.Next(at)
			if first, last, left := s.LeftOut(at, next); left > 0 {
				list = append(list, timeJSON{first, s.title, leftOutNote(first, last, left), left})
			}
			if at = next; at.IsZero() {
				break
			}
			list = append(list, timeJSON{at, s.title, s.Spec.Note(at), 0})
		}
	}
	slices.SortStableFunc(list, func(x, y timeJSON) int { return x.At.Compare(y.At) })
	for i, t := range list {
		if t.Excepted > 0 {
			n++
		}
		if i == n {
			return list[:i]
		}
	}
	return list
}

// leftOutNote explains the times that except leaves out.
func leftOutNote(first, last time.Time, n int) string {
	from, to := first.Format(time.DateOnly), last.Format(time.DateOnly)
	switch {
	case n == 1:
		return "does not run: except has " + from
	case from == to:
		return fmt.Sprintf("%d times do not run: except has %s", n, from)
	}
	return fmt.Sprintf("%d times from %s to %s do not run: except has these days", n, from, to)
}

// printTimes prints descriptions of some schedules and their next n times. If there are several
// schedules, each time has the name of its schedule.
func printTimes(env *ui.Env, schedules []named, after time.Time, n int) error {
	now := time.Now()
	list := upcoming(schedules, after, n)
	several := len(schedules) > 1
	head := []console.Column{{Title: "TIME"}, {Title: "UTC", Yields: 1, Whole: true}, {Title: "IN", Yields: 2, Whole: true}, {Title: "NOTE", Yields: 3, Prose: true}}
	if several {
		head = slices.Insert(head, 3, console.Column{Title: "SCHEDULE"})
	}
	rows := make([][]string, len(list))
	for i, slot := range list {
		rows[i] = []string{slot.At.Format("Mon 2006-01-02 15:04:05 -07:00"), slot.At.UTC().Format("2006-01-02 15:04:05"), relativeTime(slot.At.Sub(now)), slot.Note}
		if several {
			rows[i] = slices.Insert(rows[i], 3, slot.Schedule)
		}
	}
	for _, s := range schedules {
		text := s.Spec.Describe()
		if s.MustEndBy.IsSet() {
			text += "; a run is late after " + s.MustEndBy.String()
		}
		if several {
			text = s.title + ": " + text
		}
		if len(list) == 0 {
			text += " has no more scheduled times"
		}
		env.Notef("%s", text)
	}
	if len(list) == 0 {
		return nil
	}
	return ui.Table(env, head, rows, nil)
}

// relativeTime formats the time until something, or since it.
func relativeTime(d time.Duration) string {
	if d < 0 {
		return console.Age(-d) + " ago"
	}
	return console.Age(d)
}
