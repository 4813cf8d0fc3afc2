package timetable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/duration"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Describe describes a schedule for a list: when it fires next, and what happened last.
func Describe(ctx context.Context, s Store, e Entry, now time.Time) (service.Schedule, error) {
	if e.Trigger != nil {
		return describeTrigger(ctx, s, e)
	}
	j := service.Schedule{Name: e.Title, Tool: e.Tool, Cron: e.Spec.Text(), Timezone: ZoneName(e.Spec.Zone()), Paused: e.Paused, Source: e.Source,
		Params: e.Params, Labels: e.Labels, Describe: e.Spec.Describe(), Overlap: cmp.Or(string(e.Overlap), string(schedule.OverlapSkip)), CatchUp: catchUpText(e.Schedule),
		Start: e.Start, End: e.End, SkipIfSuccessful: e.SkipIfSuccessful, Except: e.Except.String(), MustEndBy: e.MustEndBy.String(), PauseAfter: e.PauseAfter, ToolMissing: e.toolMissing}
	j.PauseReason = e.PauseReason
	if e.Jitter > 0 {
		j.Jitter = duration.Text(e.Jitter)
	}
	from, err := WithAnchor(ctx, s.Firings(), e)
	if err != nil {
		return j, err
	}
	if !e.Paused && !j.ToolMissing {
		j.Next = from.Next(now)
	}
	f, ok, err := s.Firings().LastFiring(ctx, e.Name)
	if err == nil && ok {
		j.Last, err = describeFiring(ctx, s, e, f)
	}
	return j, err
}

// describeTrigger describes an entry of on. It starts when a service first watched it.
func describeTrigger(ctx context.Context, s Store, e Entry) (service.Schedule, error) {
	j := service.Schedule{Name: e.Title, Tool: e.Tool, On: e.Trigger.Kind, Paused: e.Paused, Source: e.Source, Params: e.Params,
		Describe: e.Trigger.Describe(), Overlap: string(e.Overlap), CatchUp: catchUpText(e.Schedule)}
	since, watched, err := s.Firings().Anchor(ctx, e.Name, e.Trigger.plan())
	if err != nil {
		return j, err
	}
	if watched {
		j.Start = since.In(time.Local)
	}
	f, ok, err := s.Firings().LastEvent(ctx, e.Name)
	if err != nil || !ok {
		return j, err
	}
	if j.Last, err = describeFiring(ctx, s, e, f); err == nil {
		j.Last.At = f.At.In(time.Local)
		if f.Run != "" {
			j.Last.Reason = eventText(eventData(f.Reason))
		}
	}
	return j, err
}

// catchUpText describes what happens with missed times.
func catchUpText(s schedule.Schedule) string {
	text := cmp.Or(string(s.CatchUp), string(schedule.CatchUpOnce))
	if s.CatchUp == schedule.CatchUpAll && s.Cap > 0 {
		text += fmt.Sprintf(", at most %d", s.Cap)
	}
	if s.Window > 0 {
		text += ", within " + duration.Text(s.Window)
	}
	return text
}

// Zone returns the time zone of a schedule, that of the machine for a trigger.
func (e Entry) Zone() *time.Location {
	if e.Trigger != nil {
		return time.Local
	}
	return e.Spec.Zone()
}

func describeFiring(ctx context.Context, s history.Store, e Entry, f sqlite.Firing) (*service.Firing, error) {
	d := &service.Firing{At: f.Scheduled.In(e.Zone()), Run: f.Run, Status: "skipped", Reason: f.Reason, MustEndBy: f.MustEnd, Late: f.Late}
	if !f.MustEnd.IsZero() {
		d.MustEndBy = f.MustEnd.In(e.Zone())
	}
	if f.Run == "" {
		return d, nil
	}
	info, err := s.Info(ctx, f.Run)
	switch {
	case err == nil:
		d.Status, d.Notes = info.Status.String(), info.Notes
	case !errors.Is(err, history.ErrNoRun):
		return nil, err
	case f.Open:
		d.Status = "due"
	default:
		d.Status = "pruned"
	}
	return d, nil
}

// Times implements service.Schedules.
func (s *Scheduler) Times(ctx context.Context, name string, from, to time.Time, limit int) ([]service.ScheduledTime, error) {
	e, err := s.find(name)
	if err != nil {
		return nil, err
	}
	if e.Trigger != nil {
		return []service.ScheduledTime{}, nil
	}
	plan, err := WithAnchor(ctx, s.firings, e)
	if err != nil {
		return nil, err
	}
	fired := map[int64]*service.Firing{}
	if from.Before(time.Now()) {
		list, err := s.firings.Between(ctx, e.Name, from, cmp.Or(to, time.Now()), limit)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			if fired[f.Scheduled.UnixNano()], err = describeFiring(ctx, s.store, e, f); err != nil {
				return nil, err
			}
		}
	}
	times := []service.ScheduledTime{}
	for at := plan.Next(from); !at.IsZero() && (to.IsZero() || !at.After(to)) && len(times) < limit; at = plan.Next(at) {
		times = append(times, service.ScheduledTime{At: at, Local: at.Local(), Note: plan.Spec.Note(at), Fired: fired[at.UnixNano()]})
	}
	return times, nil
}

func (s *Scheduler) find(name string) (Entry, error) {
	t := Timetable{Entries: s.sortedEntries()}
	e, err := t.Find(name)
	if err != nil {
		return e, fmt.Errorf("%w: %w", outcome.ErrNoSchedule, err)
	}
	return e, nil
}
