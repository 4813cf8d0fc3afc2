package schedule

import (
	"fmt"
	"iter"
	"time"

	"github.com/flowrun/flowrun/internal/lang/cron"
)

// checkClock returns an error if Temporal would start a line at other times than flowrun when the clocks
// change, at any time from now on. Temporal compares the clock literally: it does not start at a time that
// is skipped, and starts twice at a time that is repeated. That is what flowrun does for lines with a *
// or a step in the hour. Some changes its server does not follow exactly (1.32, as a test with its code
// shows); near these, no line may have a time.
func checkClock(spec cron.Spec, now time.Time) error {
	literal, err := cron.Parse(spec.Text(), cron.Options{Zone: time.UTC}) // fires whenever a clock shows a matching time
	if err != nil {
		return err
	}
	for change := range changes(spec.Zone(), now) {
		if err := checkChange(spec, literal, change); err != nil {
			return err
		}
	}
	return nil
}

// changes returns the changes of a zone from now on.
func changes(zone *time.Location, now time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for at := now.In(zone); at.Year() <= lastYear; {
			_, end := at.ZoneBounds()
			if end.IsZero() {
				return
			}
			if !end.After(at) { // beyond the table of the zone
				end = time.Date(at.Year()+1, 1, 1, 0, 0, 0, 0, zone)
			}
			if !yield(end.In(zone)) {
				return
			}
			at = end.In(zone)
		}
	}
}

// sameInUTC reports whether a line fires at the same times in UTC: at minutes and seconds of every hour of
// every day, in a zone whose offset is whole hours.
func sameInUTC(spec cron.Spec, now time.Time) bool {
	c := spec.Calendar()
	if !c.RealTime || c.Hours != 1<<24-1 || c.Months != 1<<13-2 {
		return false
	}
	for first := range time.Weekday(7) {
		if c.Days(31, first) != 1<<32-2 {
			return false
		}
	}
	if _, offset := now.In(spec.Zone()).Zone(); offset%3600 != 0 {
		return false
	}
	for change := range changes(spec.Zone(), now) {
		if _, offset := change.Zone(); offset%3600 != 0 {
			return false
		}
	}
	return true
}

// checkChange checks one change of the clocks.
func checkChange(spec, literal cron.Spec, change time.Time) error {
	before, after := reading(change.Add(-time.Second)).Add(time.Second), reading(change)
	from, to := before, after // what the clocks skip
	if after.Before(before) {
		from, to = after, before // what they show twice
	}
	if !from.Before(to) {
		return nil
	}
	lost, twice := after.After(before), before.After(after)
	exact := true
	switch _, offset := change.Zone(); {
	case to.Sub(from) != time.Hour || from.Minute() != 0 || from.Second() != 0 || from.Hour() == 0: // it expects full hours, and takes the weekday from midnight
		from, to = from.Truncate(24*time.Hour), to.Add(24*time.Hour-time.Second).Truncate(24*time.Hour)
		exact, lost, twice = false, false, false
	case twice && offset >= 0: // it takes the hour before for the first pass, and skips that
		from, exact = from.Add(-time.Hour), false
	}
	if exact && spec.Calendar().RealTime {
		return nil
	}
	at := literal.Next(from.Add(-time.Second))
	if at.IsZero() || !at.Before(to) {
		return nil
	}
	what := "is near a change of the clocks that Temporal does not follow exactly"
	switch {
	case lost:
		what = "does not exist: Temporal would start nothing, and flowrun starts at " + after.Format("15:04")
	case twice && !at.Before(after) && !spec.Calendar().RealTime:
		what = "occurs twice: Temporal would start twice, and flowrun starts once"
	}
	return fmt.Errorf("%s in %s %s; use another hour, or the time zone UTC", at.Format("2006-01-02 15:04"), spec.Zone(), what)
}

// reading returns what a clock shows, as a time in UTC.
func reading(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}
