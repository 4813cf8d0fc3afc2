package timetable

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestBackfill checks that a backfill starts a run for each past time, once and oldest first, with the time that it stands
// for, and that it continues where it was stopped.
func TestBackfill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"0 0 * * *\", timezone: UTC, params: {A: \"{schedule.date}\"}, except: 1999-12-03, pause-after: 1}\n")
		f, stop := s.serve()
		day := func(n int) time.Time { return time.Date(1999, 12, n, 0, 0, 0, 0, time.UTC) }
		if err := s.store.Firings().Skip(t.Context(), s.id("t"), day(2), "missed", time.Time{}); err != nil {
			t.Fatal(err)
		}
		backfill := func(preview bool) string {
			t.Helper()
			list, err := f.Backfill(t.Context(), "t", day(1), day(6), 2, preview)
			text := ""
			for _, b := range list {
				text += fmt.Sprint(b.At.Day(), b.Status, " ")
			}
			if err != nil {
				text += err.Error()
			}
			return text
		}
		if got := backfill(true); got != "1 2 4 5 " {
			t.Error(got)
		}
		if got := backfill(false); got != "1 2 4 5 " {
			t.Error(got)
		}
		waittest.Until(s, "two are running", func() bool { return len(s.running()) == 2 })
		if got := backfill(false); got != outcome.ErrBackfillRunning.Error() {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		if n := len(s.running()); n != 2 {
			t.Errorf("%d at once", n)
		}
		if stopped, err := f.StopBackfill(t.Context(), "t"); !stopped || err != nil {
			t.Error(stopped, err)
		}
		s.endAll(dag.Failed) // failures of a backfill do not pause the schedule
		stop()
		f, _ = s.serve()
		if got := backfill(false); got != "1failed 2failed 4 5 " {
			t.Error(got)
		}
		waittest.Until(s, "the others are running", func() bool { return len(s.running()) == 2 })
		s.endAll(dag.Succeeded)
		waittest.Until(s, "it has ended", func() bool { return backfill(false) == "1failed 2failed 4succeeded 5succeeded " })
		if len(s.alarmed()) > 0 || len(s.params) != 4 || s.params[0] > "1999-12-02" || s.params[3] < "1999-12-04" {
			t.Error(s.alarmed(), s.params)
		}
		if _, err := f.Backfill(t.Context(), "t", day(1), time.Now().Add(time.Hour), 1, true); !errors.Is(err, outcome.ErrBackfill) {
			t.Error(err)
		}
	})
}

// TestBackfillTwice checks that two backfills of the same times start one run for each.
func TestBackfillTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"0 0 * * *\", timezone: UTC}\n")
		a, _ := s.serve()
		b, _ := s.serve()
		from := time.Date(1999, 9, 1, 0, 0, 0, 0, time.UTC)
		for _, f := range []service.Schedules{a, b} {
			if _, err := f.Backfill(t.Context(), "t", from, from.AddDate(0, 3, 0), 100, false); err != nil {
				t.Fatal(err)
			}
		}
		waittest.Until(s, "all are running", func() bool { return len(s.running()) == 91 })
		time.Sleep(time.Minute)
		if n := len(s.running()); n != 91 || len(s.params) != 91 {
			t.Errorf("%d runs for 91 times", n)
		}
	})
}

// TestLabels checks that the runs of a schedule have its labels, also those of a backfill.
func TestLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"30 * * * *\", timezone: UTC, overlap: allow, labels: {team: ops}}\n")
		f, _ := s.serve()
		labelled := func() int {
			list, err := s.store.Runs(t.Context(), history.Query{Labels: []history.Label{{Name: "team", Value: "ops"}}})
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		time.Sleep(2 * time.Hour)
		if n := labelled(); n != 2 {
			t.Errorf("%d scheduled runs have the label", n)
		}
		from := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC)
		if _, err := f.Backfill(t.Context(), "t", from, from.Add(2*time.Hour), 2, false); err != nil {
			t.Fatal(err)
		}
		waittest.Until(s, "the runs of a backfill", func() bool { return labelled() == 4 })
	})
}

// TestBackfillContinues checks that the next service continues a backfill, unless it has ended or a person has stopped it.
func TestBackfillContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"0 0 * * *\", timezone: UTC}\n")
		from := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC)
		begin := func(f *Scheduler) {
			t.Helper()
			if _, err := f.Backfill(t.Context(), "t", from, from.AddDate(0, 0, 6), 1, false); err != nil {
				t.Fatal(err)
			}
		}
		f, stop := s.serve()
		begin(f)
		waittest.Until(s, "the first run", func() bool { return len(s.running()) == 1 })
		stop()
		s.endAll(dag.Succeeded)
		f, stop = s.serve()
		waittest.Until(s, "the second run", func() bool { return len(s.running()) == 1 })
		if _, err := f.StopBackfill(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		stop()
		s.endAll(dag.Succeeded)
		f, stop = s.serve()
		time.Sleep(time.Minute)
		if n := len(s.params); n != 2 {
			t.Errorf("%d runs after the backfill was stopped", n)
		}
		begin(f)
		waittest.Until(s, "the third run", func() bool { return len(s.running()) == 1 })
		other, stopOther := s.serve() // a service beside it
		waittest.Until(s, "the fourth run", func() bool { return len(s.running()) == 2 })
		if stopped, err := other.StopBackfill(t.Context(), "t"); err != nil || !stopped {
			t.Error(stopped, err)
		}
		s.endAll(dag.Succeeded)
		time.Sleep(time.Minute)
		if n := len(s.params); n != 4 {
			t.Errorf("%d runs after another service has stopped the backfill", n)
		}
		stopOther()
		begin(f)
		for synctest.Wait(); len(s.params) < 6; synctest.Wait() {
			s.endAll(dag.Succeeded)
			time.Sleep(time.Second)
		}
		s.endAll(dag.Succeeded)
		waittest.Until(s, "the end of the backfill", func() bool {
			list, err := s.store.Schedules().Backfills(t.Context())
			return err == nil && len(list) == 0
		})
		stop()
	})
}
