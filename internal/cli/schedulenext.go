package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/cron"
	"github.com/flowrun/flowrun/internal/schedule"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

// mostSlots is how many slots schedule next shows at most.
const mostSlots = 1000

func (env *Env) scheduleNextCommand() *cobra.Command {
	var from, zone, output string
	var count int
	c := &cobra.Command{
		Use:   `next NAME|"CRON"`,
		Short: "Show when a schedule fires",
		Long: `Show the next times of a schedule, of the first one of a tool, or of a cron expression, in
its time zone and in UTC, and explain those that are not where one would look for them:
where clocks are turned, or a day was moved to a weekday. A cron expression is read as in
a definition; its fields are one argument.`,
		Example: `  flowrun schedule next report
  flowrun schedule next "0 7 * * 1-5"
  flowrun schedule next "30 2 * * *" --timezone Europe/Zurich --from 2026-03-28
  flowrun schedule next "@every 90m" --count 3 -o json`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef(c, `give the name of a schedule, or a cron expression such as "0 7 * * 1-5"`)
			case len(args) > 1:
				return usagef(c, "give one cron expression; its fields are one argument, so put it in quotes")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf(c, "output", output, []string{"table", "json"}); err != nil {
				return err
			}
			if count < 1 || count > mostSlots {
				return usagef(c, "--count must be from 1 to %d", mostSlots)
			}
			s, err := env.askedSchedule(c, args[0], zone)
			if err != nil {
				return err
			}
			begin := time.Now()
			if from != "" {
				if begin, err = tool.Moment(from, s.Spec.Zone()); err != nil {
					return usagef(c, "--from: %v", err)
				}
			}
			if s.Name == "" {
				s.Spec = s.Spec.From(begin)
			} else {
				env.sayIdle()
			}
			if output == "json" {
				return env.writeJSON(upcoming(&s, begin, count))
			}
			return env.slotTable(&s, begin, count)
		},
		ValidArgsFunction: env.completeSchedules,
	}
	fl := c.Flags()
	fl.IntVar(&count, "count", 10, "show `n` times")
	fl.StringVar(&from, "from", "", "those after this `moment`: a date or a time (RFC 3339) (default now)")
	fl.StringVar(&zone, "timezone", "", "the time `zone` of an expression that names none (default this machine's)")
	fl.StringVarP(&output, "output", "o", "table", "print in this `form`: table|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// askedSchedule is what a word of the command line means: a schedule by its name, the
// first one of a tool, or a cron expression, which has no name.
func (env *Env) askedSchedule(c *cobra.Command, word, zone string) (s schedule.Schedule, err error) {
	if strings.ContainsAny(word, " \t*=") || word == "" || word[0] == '@' {
		s.Spec, err = env.cronArgument(c, word, zone)
		return s, err
	}
	if zone != "" {
		return s, usagef(c, "--timezone is for a cron expression; a schedule has its own")
	}
	err = env.reading(func(ctx context.Context, store *sqlite.Store) error {
		t, err := env.timetable(ctx, store, env.library())
		if err != nil {
			return err
		}
		e, err := t.find(word)
		if i := slices.IndexFunc(t.entries, func(e planned) bool { return e.Tool == word }); err != nil && i >= 0 {
			e, err = t.entries[i], nil
		}
		if err != nil {
			return err
		}
		if e.Paused {
			env.say("schedule %s is paused: it does not run at these times", e.name)
		}
		s, err = since(ctx, store, e)
		return err
	})
	return s, err
}

// cronArgument reads a cron expression of the command line. zone is --timezone.
func (env *Env) cronArgument(c *cobra.Command, text, zone string) (cron.Spec, error) {
	var o cron.Options
	if zone != "" {
		var err error
		if o.Zone, err = cron.LoadZone(zone); err != nil {
			return cron.Spec{}, usagef(c, "--timezone: %v", err)
		}
	}
	spec, err := cron.Parse(text, o)
	if bad, ok := errors.AsType[*cron.Error](err); ok {
		return spec, env.badCron(c, bad)
	}
	if zone != "" && spec.Zoned() {
		return spec, usagef(c, "the cron expression names a time zone as well as --timezone; keep one of the two")
	}
	return spec, err
}

// slotJSON is a time at which a schedule fires.
type slotJSON struct {
	At   time.Time `json:"at"`
	Note string    `json:"note"` // why it is where it is; "" where nothing is odd
}

// upcoming are the next n slots after a time; fewer where there are no more.
func upcoming(s *schedule.Schedule, after time.Time, n int) []slotJSON {
	list := []slotJSON{}
	for range n {
		if after = s.Next(after); after.IsZero() {
			break
		}
		list = append(list, slotJSON{after, s.Spec.Note(after)})
	}
	return list
}

// slotTable prints what a schedule's times are, and the next n of them.
func (env *Env) slotTable(s *schedule.Schedule, after time.Time, n int) error {
	now := time.Now()
	list := upcoming(s, after, n)
	if len(list) == 0 {
		env.say("%s: there are no more times", s.Spec.Describe())
		return nil
	}
	rows := make([][]string, len(list))
	for i, slot := range list {
		rows[i] = []string{slot.At.Format("Mon 2006-01-02 15:04:05 -07:00"), slot.At.UTC().Format("2006-01-02 15:04:05"), away(slot.At.Sub(now)), slot.Note}
	}
	env.say("%s", s.Spec.Describe())
	return console.Table(env.Stdout, []string{"TIME", "UTC", "IN", "NOTE"}, rows, console.TableOptions{Width: env.width()})
}

// away is how long it is until something, or since it was.
func away(d time.Duration) string {
	if d < 0 {
		return console.Age(-d) + " ago"
	}
	return console.Age(d)
}
