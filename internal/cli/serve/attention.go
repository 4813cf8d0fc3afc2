package serve

import (
	"context"
	"sync"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// makeWatcher creates what knows which states need a person. It finds nothing before watchAttention.
func (s *server) makeWatcher() {
	s.attention = &attention.Watcher{Source: s.attentionSource, Version: func() uint64 { return s.service.Version() }, New: s.needsAttention, Log: s.log}
}

func (s *server) attentionSource() attention.Source {
	source := attention.Source{Store: s.store, Library: s.service.Tools.Library(), Load: s.service.Runs.RecordedRun, Definitions: s.definitions,
		StateDir: s.config.StateDir, MinFree: s.flags.Settings.Number("history.min-free"),
		Left: func(_ context.Context, run history.RunInfo) error { return s.service.Parked.Why(run.ID) }}
	if fired := s.schedules.Load(); fired != nil {
		source.Began = s.service.Health().Started
		source.Schedules = func(context.Context) (*timetable.Timetable, error) { return fired.Timetable(), nil }
	}
	return source
}

// definitions returns the definitions of the service. For one that became invalid, the service continues with its last valid
// version.
func (s *server) definitions() (list []attention.Definition) {
	for _, t := range s.service.Tools.Tools() {
		list = append(list, attention.Definition{Name: t.Name, File: t.File, Scheduled: t.Scheduled, Broken: t.Broken,
			Plan: func() (*engine.Plan, error) { return s.service.Tools.AnyPlan(t.Name) }})
	}
	return list
}

// watchAttention watches for what needs a person, until stop is called.
func (s *server) watchAttention(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { s.attention.Watch(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// needsAttention sends the notifications about items. That a run waits is sent by the process in which it begins to: here only
// of runs whose process may have been killed before.
func (s *server) needsAttention(ctx context.Context, items []attention.Item) {
	var list []launch.Needed
	for _, i := range items {
		x := launch.Needed{Item: i}
		switch {
		case i.Kind == attention.Waiting && !i.Since.Before(s.service.Health().Started):
			continue
		case i.Run != "":
			past, err := s.service.Runs.RecordedRun(ctx, i.Run)
			if err != nil {
				s.log.Warn("cannot read a run that needs attention", "run", i.Run, "error", err.Error())
				break
			}
			x.Past, x.Dir = past, past.Record.RunEnv.Workspace
		case i.Tool != "":
			x.Plan, _ = s.service.Tools.AnyPlan(i.Tool) // a tool that is invalid has only the notifications of the settings
		}
		list = append(list, x)
	}
	s.notifier("", "").NotifyOf(ctx, list)
}
