package attention

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// lateAfter is the delay after which a scheduled time counts as not fired: long after a service that runs has handled it.
const lateAfter = time.Minute

// startAfter is the delay after which a run that may start has started.
const startAfter = 10 * time.Second

// queued finds the scheduled times that still wait for their turn when the next time of their schedule has passed: those whose
// run has not started, and runs that are queued for the tool or a lock.
func (f *search) queued(ctx context.Context) error {
	t, err := f.Schedules()
	if err != nil {
		return err
	}
	byName := map[string]timetable.Entry{}
	for _, e := range t.All() {
		byName[e.Name] = e
	}
	add := func(id, run string, at time.Time) {
		e, known := byName[id]
		if !known || e.Trigger != nil {
			return
		}
		if next := e.Next(at); !next.IsZero() && next.Before(f.now) {
			f.add(Item{Kind: QueuedCatchUp, Tool: e.Tool, Run: run, Schedule: id, Since: at, Do: "flowrun ps",
				Reason: "the time " + clock(at) + " still waits for its turn, and the next one, " + clock(next) + ", has passed"})
		}
	}
	firings, err := f.Store.Firings().Open(ctx)
	for _, w := range firings {
		if f.now.Sub(w.At) > startAfter {
			add(w.Schedule, "", w.Scheduled)
		}
	}
	open, err2 := f.openRuns(ctx)
	for _, info := range open {
		if info.Status == dag.Pending {
			add(scheduleOf(info), info.ID, info.Started)
		}
	}
	return errors.Join(err, err2)
}

// missed finds the schedules whose last time was missed, and those that no service fires. An item ends when a later time runs.
func (f *search) missed(ctx context.Context) error {
	t, err := f.Schedules()
	failed := []error{err}
	for _, e := range t.All() {
		if e.Trigger != nil || e.Paused || e.MissingTool() != "" {
			continue
		}
		last, known, err := f.Store.Firings().LastFiring(ctx, e.Name)
		failed = append(failed, err)
		if known && last.Run == "" && strings.HasPrefix(last.Reason, schedule.MissedPrefix) {
			f.add(Item{Kind: Missed, Tool: e.Tool, Schedule: e.Name, Since: last.Scheduled, Reason: "the time " + clock(last.Scheduled) + " was " + last.Reason,
				Do: fmt.Sprintf("flowrun schedule backfill %s --from %s --to %s", shellword.Sh(e.Title), last.Scheduled.UTC().Format(time.RFC3339), last.Scheduled.UTC().Add(time.Second).Format(time.RFC3339))})
			continue
		}
		next, err := timetable.Unhandled(ctx, f.Store.Firings(), e)
		failed = append(failed, err)
		if due := latest(next.Add(e.Jitter), f.Began).Add(lateAfter); !next.IsZero() && due.Before(f.now) {
			f.add(Item{Kind: Missed, Tool: e.Tool, Schedule: e.Name, Since: next, Reason: "the time " + clock(next) + " has passed, and no service has started its run", Do: "flowrun serve"})
		}
	}
	return errors.Join(failed...)
}

// clock writes a time for people.
func clock(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }
