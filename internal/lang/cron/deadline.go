package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/duration"
)

// Deadline says until when the work of a time must be done. The zero value means that there is none.
type Deadline struct {
	text  string
	after time.Duration // since the time
	clock Spec          // or the next time of day
}

// ParseDeadline parses a time of day in the zone, such as 06:00, or a duration of whole seconds,
// such as 45m.
func ParseDeadline(text string, zone *time.Location) (Deadline, error) {
	d := Deadline{text: text}
	var err error
	if !strings.Contains(text, ":") {
		if d.after, err = duration.Parse(text); err == nil && d.after >= time.Second && d.after%time.Second == 0 {
			return d, nil
		}
		return Deadline{}, deadlineError(text)
	}
	var at time.Time
	for _, form := range []string{"15:04", time.TimeOnly} {
		if at, err = time.Parse(form, text); err == nil {
			break
		}
	}
	if err != nil {
		return Deadline{}, deadlineError(text)
	}
	d.clock, err = Parse(fmt.Sprintf("%d %d %d * * *", at.Second(), at.Minute(), at.Hour()), Options{Zone: zone})
	return d, err
}

func deadlineError(text string) error {
	return fmt.Errorf("%s is neither a time of day, such as 06:00, nor a duration of whole seconds, such as 45m", strconv.Quote(shorten(text)))
}

// IsSet reports whether there is a deadline.
func (d Deadline) IsSet() bool { return d.text != "" }

// String returns the deadline as written.
func (d Deadline) String() string { return d.text }

// Of returns the deadline of a time: the first such time of day after it, or the time and the
// duration. It follows daylight saving time as a line with a fixed hour does. Without a deadline it
// returns the zero time.
func (d Deadline) Of(at time.Time) time.Time {
	switch {
	case d.text == "":
		return time.Time{}
	case d.after > 0:
		return at.Add(d.after)
	}
	return d.clock.Next(at)
}
