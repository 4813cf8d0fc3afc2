package timetable

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// retry begins the next attempt of a run, as a service does.
func (s *stage) retry(id, attempt string) {
	s.Helper()
	info, err := s.store.Info(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	l, err := s.store.Begin(s.Context(), &history.Record{ID: attempt, Tool: info.Tool, Origin: info.Origin, RetryOf: id, Attempt: 2, Automatic: true, Created: time.Now()})
	if err != nil {
		s.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledgers[attempt] = l
}

// TestPauseCountsAttempts checks that a run and its attempts count as one failure, when the last of them has failed.
func TestPauseCountsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"*/2 * * * *\", timezone: UTC, pause-after: 2}\n")
		f, _ := s.serve()
		paused := func() bool {
			synctest.Wait()
			e, err := f.find("t")
			if err != nil {
				t.Fatal(err)
			}
			return e.Paused
		}
		sleepTo("02:10")
		first := s.running()[0]
		s.endFor(first, dag.Failed, time.Now().Add(time.Minute))
		sleepTo("04:10")
		s.endAll(dag.Failed)
		if sleepTo("05:00"); paused() {
			t.Fatal("the first run is still retried")
		}
		s.retry(first, "second-attempt")
		if sleepTo("05:20"); paused() {
			t.Fatal("its attempt is running")
		}
		s.endFor("second-attempt", dag.Failed, time.Now().Add(time.Minute))
		if sleepTo("05:40"); paused() {
			t.Fatal("there is another attempt")
		}
		s.retry("second-attempt", "third-attempt")
		s.end("third-attempt", dag.TimedOut)
		if sleepTo("07:30"); !paused() {
			t.Error("two runs have failed, with all their attempts")
		}
	})
}

// TestLateWithAttempts checks that a run is late whose attempts have not succeeded by its deadline, and that one of them can
// save it.
func TestLateWithAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, deadlines)
		s.serve()
		sleepTo("02:10")
		first := s.running()[0]
		s.endFor(first, dag.Failed, time.Now().Add(time.Second))
		s.retry(first, "second-attempt")
		s.end("second-attempt", dag.Succeeded)
		sleepTo("04:10")
		s.endFor(s.running()[0], dag.Failed, time.Now().Add(time.Hour))
		sleepTo("05:00")
		want := "t the run of 2000-01-01 00:04:00 +00:00 had to succeed by 2000-01-01 00:04:40 +00:00, but its status is failed, and its next attempt begins at 2000-01-01 01:04:10 +00:00"
		if list := s.alarmed(); len(list) != 1 || list[0] != want {
			t.Errorf("%q", list)
		}
	})
}

// TestMayRetry checks when a run of a schedule may be retried automatically.
func TestMayRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"*/2 * * * *\", timezone: UTC}\n  - {cron: \"*/2 * * * *\", timezone: UTC, name: all, overlap: allow}\n")
		f, _ := s.serve()
		may := func(f *Scheduler, origin string) bool {
			t.Helper()
			yes, err := f.MayRetry(t.Context(), origin)
			if err != nil {
				t.Fatal(err)
			}
			return yes
		}
		one, all := Origin(s.id("t")), Origin(s.id("all"))
		sleepTo("01:00")
		for origin, want := range map[string]bool{one: true, all: true, "api": true, "webhook:x": true, BackfillOrigin(s.id("t")): true,
			"schedule:removed": true, "schedule:removed@" + ProjectHere(): true, "schedule:t@/another/project": false} {
			if got := may(f, origin); got != want {
				t.Errorf("%s: %v", origin, got)
			}
		}
		if may(nil, one) || !may(nil, "api") {
			t.Error("a service without schedules retries a run of one")
		}
		sleepTo("02:10") // a run of each is active
		if may(f, one) || !may(f, all) {
			t.Error("overlap")
		}
		s.endAll(dag.Failed)
		if !may(f, one) {
			t.Error("the other run has ended")
		}
		if err := f.Pause(t.Context(), "t", true); err != nil {
			t.Fatal(err)
		}
		sleepTo("03:00")
		if may(f, one) {
			t.Error("it is paused")
		}
	})
}
