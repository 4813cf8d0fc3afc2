package timetable

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/library"
)

// watchChanges passes a new set of schedules to the loop whenever definitions have changed, or a
// command has added, removed, paused or resumed a schedule.
func (s *Scheduler) watchChanges(ctx context.Context) {
	definitions, changes, days := s.service.Tools.Version(), int64(-1), ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(idleInterval):
		}
		if _, err := s.pauseFailing(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("cannot count the failures of schedules", "error", err.Error())
		}
		d := s.service.Tools.Version()
		n, err := s.store.Schedules().Changes(ctx)
		stamp := stampOf(s.exceptFiles)
		if err == nil && (d != definitions || n != changes || stamp != days) && s.reload(ctx) == nil {
			definitions, changes, days = d, n, stamp
		}
	}
}

// reload reads the schedules. After an error, watchChanges calls it again.
func (s *Scheduler) reload(ctx context.Context) error {
	t := &Timetable{hadSchedules: s.tools, before: s.known()}
	tools := s.library.List()
	err := t.read(ctx, s.store.Schedules(), s.library, tools, s.service.Tools.AnyPlan)
	if err != nil {
		return err
	}
	s.tools, s.exceptFiles = map[string]bool{}, t.exceptFiles
	plans := map[string]Entry{}
	warnings := slices.Clone(t.Problems)
	var set []schedule.Schedule
	for _, p := range t.Entries {
		if p.By == "" {
			s.tools[p.Tool] = true
		}
		if p.Project == "" || p.Project == s.project {
			plans[p.Name] = p
			if text := p.MissingTool(); text != "" {
				warnings = append(warnings, text)
			}
			if p.Trigger == nil {
				set = append(set, p.Schedule)
				if s.service.Watched != nil {
					s.service.Watched(p.Schedule)
				}
			}
		}
	}
	for _, text := range warnings {
		if !s.reported[text] {
			s.log.Warn(text)
		}
		s.reported[text] = true
	}
	s.mu.Lock()
	s.entries = plans
	s.stopped = slices.DeleteFunc(t.Stopped, func(x Stopped) bool { return x.Project != "" && x.Project != s.project })
	s.incomplete = len(t.Problems) > 0 || slices.ContainsFunc(tools, func(l library.Listed) bool { return l.Broken() != "" })
	s.mu.Unlock()
	s.loop.Set(set)
	return nil
}

// known returns the schedules that were read last.
func (s *Scheduler) known() map[string]Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.entries)
}

// Schedules implements service.Schedules.
func (s *Scheduler) Schedules(ctx context.Context) ([]service.Schedule, error) {
	now := time.Now()
	var list []service.Schedule
	for _, p := range s.sortedEntries() {
		j, err := Describe(ctx, s.store, p, now)
		if err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, nil
}

// Pause implements service.Schedules.
func (s *Scheduler) Pause(ctx context.Context, name string, paused bool) error {
	p, err := s.find(name)
	if err != nil {
		return err
	}
	do := s.store.Schedules().Resume
	if paused {
		do = s.store.Schedules().Pause
	}
	if _, err = do(ctx, p.Name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.entries[p.Name]; ok { // as Schedules lists it; reload follows within a second
		e.Paused, e.PauseReason = paused, ""
		s.entries[p.Name] = e
	}
	return nil
}

// sortedEntries returns the schedules that this service fires, by name.
func (s *Scheduler) sortedEntries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.entries), byName)
}

// ForService returns the schedules for an entry point. It returns nil, not an interface with a nil
// pointer, if there is no scheduler.
func (s *Scheduler) ForService() service.Schedules {
	if s == nil {
		return nil
	}
	return s
}
