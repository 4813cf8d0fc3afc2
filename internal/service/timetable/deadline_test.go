package timetable

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

// The time in a bubble of synctest begins at midnight of 2000-01-01 in UTC.
const deadlines = everyHour + `  - {cron: "*/2 * * * *", timezone: UTC, must-end-by: 40s}
`

// sleepTo sleeps until just after a time of the first hour, such as 01:30 in minutes and seconds.
func sleepTo(clock string) {
	at, err := time.Parse("04:05", clock)
	if err != nil {
		panic(err)
	}
	begin := time.Now().UTC().Truncate(time.Hour)
	time.Sleep(time.Until(begin.Add(time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second + 500*time.Millisecond)))
	synctest.Wait()
}

// endAll ends all runs that are running.
func (s *stage) endAll(status dag.Status) {
	for _, id := range s.running() {
		s.end(id, status)
	}
}

// TestDeadlines checks one alarm for each scheduled time whose run has not succeeded at the deadline.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, deadlines)
		s.serve()
		s.serve() // another service, which must not repeat the alarms
		sleepTo("01:00")
		sleepTo("02:10")
		s.endAll(dag.Succeeded)
		sleepTo("05:00") // the run of 04:00 is running
		sleepTo("07:00") // the time 06:00 was skipped
		s.endAll(dag.Succeeded)
		sleepTo("08:10")
		s.endAll(dag.Failed)
		sleepTo("10:10")
		s.endAll(dag.Cancelled)
		sleepTo("11:40")
		want := []string{
			"t the run of 2000-01-01 00:04:00 +00:00 had to succeed by 2000-01-01 00:04:40 +00:00, but its status is running",
			"t the run of 2000-01-01 00:06:00 +00:00 had to succeed by 2000-01-01 00:06:40 +00:00, but no run has started: overlap: the previous run is still active",
			"t the run of 2000-01-01 00:08:00 +00:00 had to succeed by 2000-01-01 00:08:40 +00:00, but its status is failed",
			"t the run of 2000-01-01 00:10:00 +00:00 had to succeed by 2000-01-01 00:10:40 +00:00, but its status is cancelled",
		}
		if diff := cmp.Diff(want, s.alarmed()); diff != "" {
			t.Error(diff)
		}
		if f := s.last(s.id("t")); !f.Late || !f.MustEnd.IsZero() {
			t.Errorf("%+v", f)
		}
		if n := strings.Count(s.log.String(), "level=WARN msg=\"scheduled run is late\""); n != len(want) {
			t.Errorf("%d warnings", n)
		}
	})
}

// TestDeadlinesOfAnOutage checks deadlines that pass while no service is running.
func TestDeadlinesOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, strings.Replace(deadlines, "40s", "40s, catch-up: none", 1))
		_, stop := s.serve()
		sleepTo("02:10")
		stop()
		s.endAll(dag.Succeeded)
		sleepTo("04:20")
		s.serve()
		sleepTo("04:30")
		if list := s.alarmed(); len(list) > 0 {
			t.Error("the deadline has not passed:", list)
		}
		sleepTo("05:00")
		if list := s.alarmed(); len(list) != 1 || !strings.Contains(list[0], "run of 2000-01-01 00:04:00") || !strings.Contains(list[0], "no run has started: missed") {
			t.Error(list)
		}
		sleepTo("06:10")
		for _, id := range s.running() {
			s.end(id, dag.Succeeded)
		}
		if n := len(s.alarmed()); n != 1 {
			t.Error(s.alarmed())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, deadlines)
		_, stop := s.serve()
		sleepTo("02:10")
		stop()
		sleepTo("03:00")
		s.endAll(dag.Succeeded) // too late, and nobody was there
		sleepTo("10:20")
		s.serve()
		sleepTo("10:30")
		for i, want := range []string{"00:02:00 +00:00 had to succeed by 2000-01-01 00:02:40 +00:00, but it succeeded at 2000-01-01 00:03:00", "00:04:00", "00:06:00", "00:08:00"} {
			if list := s.alarmed(); len(list) != 4 || !strings.Contains(list[i], want) {
				t.Fatalf("%d: %v", i, list)
			}
		}
	})
}

// TestNoDeadline checks the times that have none, and a rule that comes later.
func TestNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"*/2 * * * *\", timezone: UTC, catch-up: none}\n")
		_, stop := s.serve()
		sleepTo("02:10")
		s.endAll(dag.Failed)
		stop()
		s.write(deadlines)
		f, _ := s.serve()
		sleepTo("03:20")
		if err := f.Pause(t.Context(), "t", true); err != nil {
			t.Fatal(err)
		}
		sleepTo("07:20")
		if err := f.Pause(t.Context(), "t", false); err != nil {
			t.Fatal(err)
		}
		sleepTo("07:40")
		if list := s.alarmed(); len(list) > 0 {
			t.Error(list)
		}
	})
}

// TestPauseAfter checks that failures in a row pause a schedule, and that the count begins again when it is resumed.
func TestPauseAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"*/2 * * * *\", timezone: UTC, pause-after: 3}\n")
		f, stop := s.serve()
		s.serve()
		round := func(clock string, status dag.Status) {
			t.Helper()
			sleepTo(clock)
			if len(s.running()) != 1 {
				t.Fatal(clock, s.running())
			}
			s.endAll(status)
		}
		paused := func() string {
			synctest.Wait()
			e, err := f.find("t")
			if err != nil {
				t.Fatal(err)
			}
			if !e.Paused {
				return "active"
			}
			return "paused: " + e.PauseReason
		}
		round("02:10", dag.Failed)
		round("04:10", dag.Failed)
		round("06:10", dag.Succeeded)
		round("08:10", dag.TimedOut)
		round("10:10", dag.Cancelled) // counts neither way
		round("12:10", dag.Failed)
		if sleepTo("13:00"); paused() != "active" {
			t.Error(paused())
		}
		round("14:10", dag.Failed)
		sleepTo("19:00")
		if want := []string{"t 3 failures in a row"}; paused() != "paused: 3 failures in a row" || len(s.running()) > 0 || !slices.Equal(s.alarmed(), want) {
			t.Fatal(paused(), s.running(), s.alarmed())
		}
		list, err := f.Schedules(t.Context())
		if err != nil || list[0].PauseReason == "" || list[0].PauseAfter != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		if err := f.Pause(t.Context(), "t", false); err != nil {
			t.Fatal(err)
		}
		round("20:10", dag.Failed)
		round("22:10", dag.Failed)
		if sleepTo("23:00"); paused() != "active" {
			t.Error(paused())
		}
		stop()
		round("24:10", dag.Failed) // by the other service, which pauses it
		sleepTo("27:00")
		if len(s.alarmed()) != 2 || len(s.running()) > 0 {
			t.Error(s.alarmed(), s.running())
		}
	})
}

// TestPauseBeforeCatchUp checks that a service which finds enough failures when it starts catches nothing up.
func TestPauseBeforeCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"*/2 * * * *\", timezone: UTC, pause-after: 1}\n")
		_, stop := s.serve()
		sleepTo("02:10")
		stop()
		s.endAll(dag.Failed)
		sleepTo("09:00")
		s.serve()
		sleepTo("13:00")
		if len(s.running()) > 0 || !slices.Equal(s.alarmed(), []string{"t a run has failed"}) {
			t.Error(s.running(), s.alarmed())
		}
	})
}
