package timetable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

// stage is a project with tools and a history. Its service only records requests, and runs end when
// the test says so. The tests run in bubbles of synctest: a scheduled time comes at once.
type stage struct {
	*testing.T
	store *sqlite.Store
	log   serviceLog

	mu          sync.Mutex
	lib         *library.Library
	refuse      error // why nothing begins
	definitions uint64
	ledgers     map[string]history.Ledger
	params      []string // of the runs that began
	cancelled   []string
	alarms      []string
}

func newStage(t *testing.T, tools ...string) *stage {
	dir := t.TempDir()
	for k, v := range map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir, "FLOWRUN_STATE_DIR": filepath.Join(dir, "state"), "FLOWRUN_GLOBAL_TOOLS": dir} {
		t.Setenv(k, v)
	}
	project := filepath.Join(dir, "project")
	if err := os.MkdirAll(filepath.Join(project, ".flowrun", "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	s := &stage{T: t, ledgers: map[string]history.Ledger{}}
	for _, text := range tools {
		s.write(text)
	}
	var err error
	if s.store, err = sqlite.Open(t.Context(), filepath.Join(dir, "state")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.store.Close()
		if t.Failed() {
			t.Log(s.log.String())
		}
	})
	return s
}

// write puts a definition into the project.
func (s *stage) write(text string) {
	s.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
	if err := os.WriteFile(filepath.Join(".flowrun", "tools", name+".yaml"), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lib = library.New(library.Config{})
	s.definitions++
}

// serve starts to fire schedules, until stop is called.
func (s *stage) serve() (f *Scheduler, stop func()) {
	f, stop = Start(s.Context(), library.New(library.Config{}), s.store, Service{Starter: s, Control: s, Tools: s, Allows: s.Allows, NeedsPerson: s.NeedsPerson, Alarm: s.alarm}, slog.New(slog.NewTextHandler(&s.log, nil)), func(schedule.Report) {})
	s.Cleanup(stop)
	return f, stop
}

// serviceLog is the log of the services.
type serviceLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *serviceLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *serviceLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (s *stage) Start(ctx context.Context, r service.Request) (string, error) {
	plan, err := s.AnyPlan(r.Tool)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return "", s.refuse
	}
	l, err := s.store.Begin(ctx, &history.Record{ID: r.ID, Tool: plan.Name(), Origin: r.Origin, Labels: r.Labels, Created: time.Now()})
	if err != nil {
		return r.ID, nil // there already
	}
	s.ledgers[r.ID] = l
	s.params = append(s.params, fmt.Sprint(r.Params["A"]))
	return r.ID, nil
}

func (s *stage) Cancel(_ context.Context, id, _ string) error {
	s.mu.Lock()
	s.cancelled = append(s.cancelled, id)
	s.mu.Unlock()
	s.end(id, dag.Cancelled)
	return nil
}

func (s *stage) Allows(*engine.Plan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuse
}

func (s *stage) AnyPlan(name string) (*engine.Plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return engine.Compile(s.lib, name)
}

func (s *stage) NeedsPerson(string) bool { return false }

func (s *stage) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.definitions
}

func (s *stage) alarm(_ context.Context, a Alarm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alarms = append(s.alarms, a.Entry.Title+" "+a.Reason)
}

// alarmed returns the alarms, sorted: several at once have no order.
func (s *stage) alarmed() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.alarms))
}

func (s *stage) refusing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = err
}

// end ends a run.
func (s *stage) end(id string, status dag.Status) { s.endFor(id, status, time.Time{}) }

// endFor ends a run that is retried automatically at a time; the zero time is never.
func (s *stage) endFor(id string, status dag.Status, retryAt time.Time) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledgers[id]
	now := time.Now()
	err := l.Append(s.Context(), []dag.Event{{V: dag.EventVersion, Seq: 1, Run: id, Kind: dag.RunFinished, Time: now, Due: retryAt,
		Result: &dag.Result{Status: status, Started: now, Ended: now}}})
	if err = errors.Join(err, l.Close()); err != nil {
		s.Error(err)
	}
}

// running are the runs that have begun and not ended.
func (s *stage) running() (ids []string) {
	s.Helper()
	list, err := s.store.Runs(s.Context(), history.Query{Status: []dag.Status{dag.Running}})
	if err != nil {
		s.Fatal(err)
	}
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

// last is the newest firing of a schedule.
func (s *stage) last(id string) sqlite.Firing {
	s.Helper()
	f, _, err := s.store.Firings().LastFiring(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	return f
}

func (s *stage) id(name string) string { return ScheduleID(name, ProjectHere()) }

const everyHour = "name: t\ndescription: d\nbash: echo {A}\nparameters:\n  A: {description: a, default: x}\nschedule:\n"

// TestAfterAnOutage: a service that missed three scheduled times does what catch-up says.
func TestAfterAnOutage(t *testing.T) {
	for minute, want := range map[time.Duration][]string{
		10: {"each", "each", "each", "once", "two", "two", "window", "window"},
		50: {"each", "each", "each", "once", "two", "two", "window"}, // the slot before the last is not within 90 minutes
	} {
		t.Run(fmt.Sprint(int(minute)), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(minute * time.Minute) // of an hour that has just begun
				testOutage(t, want)
			})
		})
	}
}

func testOutage(t *testing.T, want []string) {
	s := newStage(t, everyHour+`  - {cron: "0 * * * *", timezone: UTC, name: none, params: {A: none}, catch-up: none}
  - {cron: "0 * * * *", timezone: UTC, name: once, params: {A: once}}
  - {cron: "0 * * * *", timezone: UTC, name: each, params: {A: each}, catch-up: all, overlap: allow}
  - {cron: "0 * * * *", timezone: UTC, name: two, params: {A: two}, catch-up: {mode: all, max: 2}, overlap: allow}
  - {cron: "0 * * * *", timezone: UTC, name: window, params: {A: window}, catch-up: {mode: all, window: 90m}, overlap: allow}
`)
	now := time.Now().UTC()
	for _, name := range []string{"none", "once", "each", "two", "window"} {
		if _, err := s.store.Firings().Watch(t.Context(), s.id(name), "CRON_TZ=UTC 0 * * * *", now.Truncate(time.Hour).Add(-150*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	s.serve()
	waittest.Until(s, "every slot is dealt with", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.params) >= len(want)
	})
	waittest.Until(s, "the missed ones are noted", func() bool { return s.last(s.id("none")).Reason != "" })
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.params)
	if diff := cmp.Diff(want, s.params); diff != "" {
		t.Error(diff)
	}
	if f := s.last(s.id("none")); !f.Scheduled.Equal(now.Truncate(time.Hour)) || !strings.Contains(f.Reason, "missed") {
		t.Errorf("%+v", f)
	}
}

const everySecond = everyHour

// TestOverlap: what happens to a scheduled time while the previous run is active.
func TestOverlap(t *testing.T) {
	t.Run("skip", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, everySecond+"  - {every: 1s}\n")
			s.serve()
			waittest.Until(s, "a scheduled time is skipped", func() bool { return strings.Contains(s.last(s.id("t")).Reason, "overlap") })
			if list := s.running(); len(list) != 1 {
				t.Error("active:", list)
			}
		})
	})
	t.Run("allow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, everySecond+"  - {every: 1s, overlap: allow}\n")
			s.serve()
			waittest.Until(s, "two runs are under way", func() bool { return len(s.running()) == 2 })
		})
	})
	t.Run("cancel-running", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, everySecond+"  - {every: 2s, overlap: cancel-running}\n")
			s.serve()
			waittest.Until(s, "a run is under way", func() bool { return len(s.running()) == 1 })
			first := s.running()[0]
			waittest.Until(s, "another is", func() bool { list := s.running(); return len(list) == 1 && list[0] != first })
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.cancelled[0] != first {
				t.Errorf("cancelled %v, not %s", s.cancelled, first)
			}
		})
	})
	t.Run("queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, everySecond+"  - {every: 1s, overlap: queue}\n")
			_, stop := s.serve()
			waittest.Until(s, "one run waits and another time is skipped", func() bool { return strings.Contains(s.last(s.id("t")).Reason, "already waiting") })
			open, err := s.store.Firings().Open(t.Context())
			if err != nil || len(open) != 1 || len(s.running()) != 1 {
				t.Fatalf("%+v %v, active %v", open, err, s.running())
			}
			stop() // and another service takes over
			f, _ := s.serve()
			if _, err := f.startQueued(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			if len(s.running()) != 1 {
				t.Error("what waits began too early")
			}
			s.end(s.running()[0], dag.Succeeded)
			waittest.Until(s, "what waits begins", func() bool { list := s.running(); return len(list) == 1 && list[0] == open[0].Run })
		})
	})
}

// TestCannotBegin: the claim of a run that can never start is abandoned with the reason. After a
// temporary error, the run starts later with the same id.
func TestCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everySecond+"  - {every: 1s}\n")
		s.refusing(fmt.Errorf("%w: it wants elevated rights", outcome.ErrRefused))
		_, stop := s.serve()
		waittest.Until(s, "the slot is left out", func() bool { return strings.Contains(s.last(s.id("t")).Reason, "elevated rights") })
		s.refusing(outcome.ErrDraining)
		var open []sqlite.Firing
		waittest.Until(s, "a claim stands", func() bool {
			var err error
			open, err = s.store.Firings().Open(t.Context())
			return err == nil && len(open) > 0
		})
		stop()
		s.refusing(nil)
		s.serve()
		waittest.Until(s, "its run begins", func() bool { return slices.Contains(s.running(), open[0].Run) })
	})
}

// TestGone: the claim of a removed schedule is abandoned; claims of another project are kept.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		for i, id := range []string{s.id("gone"), "also-gone", "t@/somewhere/else"} {
			if _, err := s.store.Firings().Claim(t.Context(), id, time.Now(), fmt.Sprint("r", i), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		s.serve()
		waittest.Until(s, "they are left out", func() bool {
			open, err := s.store.Firings().Open(t.Context())
			return err == nil && len(open) == 1 && open[0].Schedule == "t@/somewhere/else"
		})
		if f := s.last("also-gone"); f.Reason != "the schedule was removed" {
			t.Errorf("%+v", f)
		}
	})
}

// TestGoneOrBroken: while a definition cannot be read, claims of schedules that may be in it are
// kept. Their runs start when the definition is fixed.
func TestGoneOrBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everySecond+"  - {every: 1s}\n")
		s.refusing(outcome.ErrDraining)
		_, stop := s.serve()
		var open []sqlite.Firing
		waittest.Until(s, "a claim stands", func() bool {
			var err error
			open, err = s.store.Firings().Open(t.Context())
			return err == nil && len(open) > 0
		})
		stop()
		s.refusing(nil)
		s.write("name: t\nbash: [\n")
		f, _ := s.serve()
		if _, err := f.startQueued(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if now, err := s.store.Firings().Open(t.Context()); err != nil || !slices.ContainsFunc(now, func(f sqlite.Firing) bool { return f.Run == open[0].Run }) {
			t.Fatalf("it is no longer claimed: %+v %v", now, err)
		}
		s.write(everySecond + "  - {every: 1s}\n")
		waittest.Until(s, "its run begins", func() bool { return slices.Contains(s.running(), open[0].Run) })
	})
}

// TestSetChanges: definitions and commands change the set of schedules. A broken definition does
// not, and schedules of other projects do not belong to it.
func TestSetChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everySecond+"  - {cron: '0 0 1 1 *', params: {A: defined}}\n")
		add := func(name, project string) {
			t.Helper()
			err := s.store.Schedules().Add(t.Context(), sqlite.Schedule{ID: ScheduleID(name, project), Name: name, Tool: "t", Project: project,
				Plan: AddedSchedule{Every: "1s", Params: map[string]any{"A": name}, Overlap: "allow"}.String()}, false)
			if err != nil {
				t.Fatal(err)
			}
		}
		f, _ := s.serve()
		names := func() string {
			list, err := f.Schedules(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, e := range list {
				text += fmt.Sprintf("%s %v;", e.Name, e.Paused)
			}
			return text
		}
		if got := names(); got != "t false;" {
			t.Error("at first:", got)
		}
		add("mine", ProjectHere())
		add("others", "/somewhere/else")
		began := func(what string) func() bool {
			return func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return slices.Contains(s.params, what)
			}
		}
		waittest.Until(s, "the added one fires", began("mine"))
		if began("others")() {
			t.Error("another project's schedule was fired")
		}
		if err := f.Pause(t.Context(), "mine", true); err != nil {
			t.Fatal(err)
		}
		waittest.Until(s, "it is paused", func() bool { return names() == "mine true;t false;" })
		if err := f.Pause(t.Context(), "unknown", true); !errors.Is(err, outcome.ErrNoSchedule) {
			t.Error(err)
		}
		s.write(everySecond + "  - {every: 1s, name: renamed, params: {A: renamed}}\n")
		waittest.Until(s, "the new definition fires", began("renamed"))
		if got := names(); got != "mine true;renamed false;" {
			t.Error("in the end:", got)
		}
	})
}

// TestSkipIfSuccessful: a scheduled time is skipped if a person has run the tool successfully since
// the previous one. Runs of the schedule itself do not count.
func TestSkipIfSuccessful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everySecond+"  - {every: 1s, skip-if-successful: true}\n")
		s.serve()
		waittest.Until(s, "two slots run", func() bool {
			for _, id := range s.running() {
				s.end(id, dag.Succeeded)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.params) >= 2
		})
		stop := make(chan struct{})
		var work sync.WaitGroup
		work.Go(func() { // a person runs it all the time
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Millisecond):
				}
				id := fmt.Sprint("by-hand-", i)
				l, err := s.store.Begin(t.Context(), &history.Record{ID: id, Tool: "t", Created: time.Now()})
				if err != nil {
					t.Error(err)
					return
				}
				s.mu.Lock()
				s.ledgers[id] = l
				s.mu.Unlock()
				s.end(id, dag.Succeeded)
			}
		})
		waittest.Until(s, "a scheduled time is skipped", func() bool { return strings.Contains(s.last(s.id("t")).Reason, "succeeded") })
		close(stop)
		work.Wait()
	})
}
