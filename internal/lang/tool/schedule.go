package tool

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Schedule is one entry of schedule: when the service starts the tool. Cron expressions are not parsed here.
type Schedule struct {
	Pos              Pos
	Name             *Text // nil: see ScheduleName
	Cron             *Text // nil if Every is set
	Every            time.Duration
	EveryPos         Pos
	Timezone         *Text // nil = that of the machine
	Params           []Entry
	Labels           map[string]string // labels of its runs, beside those of the tool
	Overlap          string            // "" (skip), skip, queue, cancel-running or allow
	CatchUp          CatchUp
	Jitter           time.Duration
	Start, End       *Text // see Moment
	SkipIfSuccessful bool
	MustEndBy        *Text // a time of day or a duration; see cron.ParseDeadline
	PauseAfter       int   // 0 = never
	Except           []*Except
}

// Except is one entry of except: days without scheduled times. One of the two is set.
type Except struct {
	Pos  Pos
	Days *Text // a date or a range of dates
	File *Text // a file with one of them a line
}

// CatchUp specifies what to do about scheduled times that were missed because no service was running.
type CatchUp struct {
	Mode   string        // "" (once), none, once or all
	Window time.Duration // 0 = no limit
	Max    int           // for mode all; 0 = MaxCatchUp
}

// MaxCatchUp is the maximum number of missed scheduled times for which runs are started.
const MaxCatchUp = 100

// MinEvery is the minimum time between two scheduled times of a schedule.
const MinEvery = time.Second

// ScheduleName returns the name of the tool's schedule number i, counted from 0.
func (d *Definition) ScheduleName(i int) string {
	switch s := d.Schedules[i]; {
	case s.Name != nil:
		return s.Name.S
	case i > 0:
		return fmt.Sprintf("%s#%d", d.Name, i+1)
	}
	return d.Name
}

// Moment parses the start or the end of a schedule: a time in RFC 3339 format, or a date, which means midnight in the
// zone.
func Moment(text string, zone *time.Location) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("invalid time %s; write a date (2026-12-01) or a time with its offset (2026-12-01T08:00:00Z)", diagnostic.Quote(text))
	}
	return t, nil
}

// ValidScheduleName reports whether name is a valid name of a schedule: a name of a tool, optionally followed by # and
// a number.
func ValidScheduleName(name string) bool {
	base, number, numbered := strings.Cut(name, "#")
	return ValidName(base) && (!numbered || number != "" && strings.Trim(number, "0123456789") == "" && number[0] != '0')
}

// schedulePlaceholders are what {schedule.NAME} in params may name.
var schedulePlaceholders = []string{"time", "date"}

// SchedulePlaceholders returns the {schedule.NAME} in a value of params.
func SchedulePlaceholders(value any) (found []string) {
	MapTexts(value, func(text string) string {
		for _, name := range schedulePlaceholders {
			if p := "{schedule." + name + "}"; strings.Contains(text, p) {
				found = append(found, p)
			}
		}
		return text
	})
	return found
}

// FillSchedule returns a value of params with a scheduled time in place of {schedule.time} (RFC 3339) and its date in
// place of {schedule.date}, both in the zone of the time.
func FillSchedule(value any, at time.Time) any {
	fill := strings.NewReplacer("{schedule.time}", at.Format(time.RFC3339), "{schedule.date}", at.Format(time.DateOnly))
	return MapTexts(value, fill.Replace)
}

func checkSchedule(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	s := into.(*Schedule)
	s.Pos = d.Pos(n)
	cron, every := keytable.KeyOf(content, "cron"), keytable.KeyOf(content, "every")
	switch {
	case cron == nil && every == nil:
		d.Fail(n, "bad-schedule", "the schedule has no times", "add 'cron:', such as \"0 7 * * 1-5\", or 'every:', such as 15m")
	case cron != nil && every != nil:
		d.FailKey(every, "bad-schedule", "the schedule has both cron and every", "keep one of the two")
	case every != nil && s.Every > 0 && s.Every < MinEvery:
		d.Path.Push("every")
		d.Fail(keytable.Deref(keytable.ValueOf(content, "every")), "bad-schedule", fmt.Sprintf("every %s is too short", s.Every), "write 1s or more")
		d.Path.Pop()
	}
	if s.Name != nil && !ValidScheduleName(s.Name.S) {
		reportAt(d, s.Name.Pos, Error, "bad-name", "name", diagnostic.Quote(s.Name.S)+" cannot be the name of a schedule",
			"use letters, digits, '_', '.' and '-', beginning with a letter, a digit or '_'")
	}
	if m := keytable.ValueOf(content, "catch-up"); m != nil && s.CatchUp.Max > 0 && s.CatchUp.Mode != "all" {
		d.FailKey(keytable.KeyOf(content, "catch-up"), "bad-schedule", "max has no effect: it limits the runs that mode all starts for missed times", "add 'mode: all', or remove 'max'")
	}
}

func checkExcept(d *keytable.Decoder, into any, n *yaml.Node, _ []*yaml.Node) {
	e := into.(*Except)
	e.Pos = d.Pos(n)
	if e.File != nil && e.File.S == "" {
		d.Fail(n, "bad-schedule", "the file of except has no name", "write the path of a file with one date a line")
	}
}

// checkScheduleNames reports schedules with the same name.
func checkScheduleNames(d *keytable.Decoder, t *Draft) {
	first := map[string]*Schedule{}
	for i, s := range t.Schedules {
		title := t.ScheduleName(i)
		if other := first[title]; other != nil {
			at := s.Pos
			if s.Name != nil {
				at = s.Name.Pos
			}
			d.Report(Diagnostic{Code: "duplicate-schedule", Severity: Error, Pos: at, Len: max(1, len([]rune(title))), Path: fmt.Sprintf("schedule[%d].name", i),
				Message: fmt.Sprintf("two schedules are named %s", diagnostic.Quote(title)), Hint: "change the 'name:' of one of them",
				Related: []Place{{Pos: other.Pos, Len: 1, Message: "the first is here"}}})
			continue
		}
		first[title] = s
	}
}
