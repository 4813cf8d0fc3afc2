package schedule

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/cron"
)

// checkClock returns an error if Temporal would start a line at other times than flowrun when the clocks
// change, at any time from now on. Temporal compares the clock literally: it does not start at a time that
// is skipped, and starts twice at a time that is repeated. That is what flowrun does for lines with a *
// or a step in the hour.
func checkClock(spec cron.Spec, now time.Time) error {
	literal, err := cron.Parse(spec.Text(), cron.Options{Zone: time.UTC}) // fires whenever a clock shows a matching time
	if err != nil {
		return err
	}
	zone := spec.Zone()
	for at := now.In(zone); at.Year() <= lastYear; {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			return nil
		}
		if !end.After(at) { // beyond the table of the zone
			end = time.Date(at.Year()+1, 1, 1, 0, 0, 0, 0, zone)
		}
		if err := checkChange(spec, literal, end); err != nil {
			return err
		}
		at = end.In(zone)
	}
	return nil
}

// checkChange checks one change of the clocks.
func checkChange(spec, literal cron.Spec, change time.Time) error {
	before, after := reading(change.Add(-time.Second).In(spec.Zone())).Add(time.Second), reading(change.In(spec.Zone()))
	from, to := before, after // what the clocks skip
	if after.Before(before) {
		from, to = after, before // what they show twice
	}
	if !from.Before(to) {
		return nil
	}
	plain := to.Sub(from) == time.Hour && from.Minute() == 0 && from.Second() == 0 && from.Hour() != 0
	if plain && spec.Calendar().RealTime {
		return nil
	}
	if !plain { // Temporal expects a change by a full hour, and takes the weekday from midnight
		from, to = from.Truncate(24*time.Hour), to.Add(24*time.Hour-time.Second).Truncate(24*time.Hour)
	}
	at := literal.Next(from.Add(-time.Second))
	if at.IsZero() || !at.Before(to) {
		return nil
	}
	const wayOut = "use another hour, or the time zone UTC"
	day, zone := at.Format(time.DateOnly), spec.Zone()
	switch {
	case !plain:
		return fmt.Errorf("the clocks of %s change on %s in a way that Temporal does not follow exactly; %s", zone, day, wayOut)
	case after.After(before):
		return fmt.Errorf("%s does not exist on %s in %s: Temporal would start nothing, and flowrun starts at %s; %s", at.Format("15:04"), day, zone, to.Format("15:04"), wayOut)
	}
	return fmt.Errorf("%s occurs twice on %s in %s: Temporal would start twice, and flowrun starts once; %s", at.Format("15:04"), day, zone, wayOut)
}

// reading returns what a clock shows, as a time in UTC.
func reading(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}
