package schedule

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
)

// Entry is one schedule, as it is wanted or as it is on the server.
type Entry struct {
	ID     string
	Timing Timing
	Paused bool
	Stamp  Stamp
	// Action starts a run. That of an Entry of the server is nil.
	Action *client.ScheduleWorkflowAction
	// Floating means that an interval has no start of its own: it counts from when the schedule was made.
	Floating bool
}

// Stamp says what the action of a schedule starts. It is stored with the action, whose input cannot be
// compared.
type Stamp struct {
	Tool        string `json:"tool"`
	Params      string `json:"params"`      // as JSON
	Definitions string `json:"definitions"` // digest of their texts
	Queue       string `json:"queue"`
	Enforced    bool   `json:"enforced,omitempty"` // the permissions of the tool
	Pools       string `json:"pools,omitempty"`    // of the settings that the tool uses, as JSON
}

// Server has the schedules of one set.
type Server interface {
	List(ctx context.Context) ([]Entry, error)
	Create(ctx context.Context, e Entry) error
	Update(ctx context.Context, e Entry) error
	Delete(ctx context.Context, id string) error
}

// Kind is what happens to a schedule of the server.
type Kind string

// The kinds of changes.
const (
	Add    Kind = "add"
	Change Kind = "change"
	Remove Kind = "remove"
	Keep   Kind = "keep"
)

// Difference is what Apply does to one schedule, and why.
type Difference struct {
	Kind  Kind     `json:"kind"`
	ID    string   `json:"id"`
	Lines []string `json:"lines,omitempty"` // what differs, for Change
	entry Entry
}

// Compare returns what must change on the server so that it has the wanted schedules, sorted by id.
func Compare(wanted, found []Entry) (list []Difference) {
	byID := map[string]Entry{}
	for _, e := range found {
		byID[e.ID] = e
	}
	for _, w := range wanted {
		f, ok := byID[w.ID]
		delete(byID, w.ID)
		if !ok {
			list = append(list, Difference{Kind: Add, ID: w.ID, entry: w})
			continue
		}
		w.keepStart(f)
		d := Difference{Kind: Keep, ID: w.ID, Lines: differences(f, w), entry: w}
		if d.Lines != nil {
			d.Kind = Change
		}
		list = append(list, d)
	}
	for id := range byID {
		list = append(list, Difference{Kind: Remove, ID: id})
	}
	slices.SortFunc(list, func(a, b Difference) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// keepStart lets an interval without a start count on from where it began on the server.
func (e *Entry) keepStart(f Entry) {
	own, was := e.Timing.Spec.Intervals, f.Timing.Spec.Intervals
	if e.Floating && len(was) == 1 && was[0].Every == own[0].Every {
		e.Timing.Spec.Intervals = was
	}
}

// Apply makes the changes.
func Apply(ctx context.Context, s Server, list []Difference) error {
	for _, d := range list {
		var err error
		switch d.Kind {
		case Add:
			err = s.Create(ctx, d.entry)
		case Change:
			err = s.Update(ctx, d.entry)
		case Remove:
			err = s.Delete(ctx, d.ID)
		}
		if err != nil {
			return fmt.Errorf("cannot %s schedule %s: %w", d.Kind, d.ID, err)
		}
	}
	return nil
}

// differences returns a line for each thing that differs, nil if nothing does.
func differences(a, b Entry) (lines []string) {
	line := func(what, was, is string) {
		if was != is {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", what, cmp.Or(was, "none"), cmp.Or(is, "none")))
		}
	}
	x, y := a.Timing, b.Timing
	line("times", x.times(), y.times())
	if x.times() == y.times() && !reflect.DeepEqual(x.normal(), y.normal()) {
		lines = append(lines, "times: changed on the server")
	}
	line("time zone", x.Spec.TimeZoneName, y.Spec.TimeZoneName)
	line("start", moment(x.Spec.StartAt), moment(y.Spec.StartAt))
	line("end", moment(x.Spec.EndAt), moment(y.Spec.EndAt))
	line("jitter", x.Spec.Jitter.String(), y.Spec.Jitter.String())
	line("overlap", x.overlap(), y.overlap())
	line("catch-up window", x.CatchUpWindow.String(), y.CatchUpWindow.String())
	line("paused", fmt.Sprint(a.Paused), fmt.Sprint(b.Paused))
	line("tool", a.Stamp.Tool, b.Stamp.Tool)
	line("parameters", a.Stamp.Params, b.Stamp.Params)
	line("task queue", a.Stamp.Queue, b.Stamp.Queue)
	line("pools", a.Stamp.Pools, b.Stamp.Pools)
	line("enforced permissions", fmt.Sprint(a.Stamp.Enforced), fmt.Sprint(b.Stamp.Enforced))
	if a.Stamp.Definitions != b.Stamp.Definitions {
		lines = append(lines, "definitions: changed")
	}
	return lines
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// times returns the times in the words of the schedule.
func (t Timing) times() string {
	var list []string
	for _, c := range t.Spec.Calendars {
		if !slices.Contains(list, c.Comment) {
			list = append(list, c.Comment)
		}
	}
	for _, i := range t.Spec.Intervals {
		list = append(list, fmt.Sprintf("@every %v, from %v past a multiple", i.Every, i.Offset))
	}
	return strings.Join(list, ", ")
}

// overlap returns the policy in the words of flowrun, unless flowrun has none like it.
func (t Timing) overlap() string {
	for word, policy := range overlaps() {
		if policy == t.Overlap {
			return string(word)
		}
	}
	return t.Overlap.String()
}

// normal returns the times in the form in which the server returns them.
func (t Timing) normal() (calendars []string) {
	for _, c := range t.Spec.Calendars {
		var b strings.Builder
		for _, field := range [][]client.ScheduleRange{c.Second, c.Minute, c.Hour, c.DayOfMonth, c.Month, c.Year, c.DayOfWeek} {
			for _, r := range field {
				fmt.Fprintf(&b, "%d-%d/%d,", r.Start, max(r.Start, r.End), max(1, r.Step))
			}
			b.WriteByte(' ')
		}
		calendars = append(calendars, b.String())
	}
	slices.Sort(calendars)
	return calendars
}
