package timetable

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

const daily = `name: daily
schedule: {cron: "30 2 * * *", timezone: Europe/Zurich, catch-up: {mode: all, window: 10m}, jitter: 1s}
bash: echo {A}
parameters: {A: {default: x}}
`

// TestTimes checks that past times are listed with what happened, and future ones with notes about
// daylight saving.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, daily)
		began := time.Now()
		f, _ := s.serve()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		runs := s.running()
		if len(runs) != 1 {
			t.Fatalf("%d runs", len(runs))
		}
		s.end(runs[0], dag.Succeeded)
		times := func(from, to time.Time, limit int) (text []string) {
			list, err := f.Times(t.Context(), "daily", from, to, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range list {
				what := one.Note
				if one.Fired != nil {
					what = one.Fired.Status + " " + one.Fired.Run
				}
				text = append(text, one.At.Format("01-02 15:04 -07:00")+" "+what)
			}
			return text
		}
		past := times(began.Add(-48*time.Hour), time.Now(), 100)
		if want := "succeeded " + runs[0]; len(past) != 3 || past[2][len("01-02 15:04 +01:00 "):] != want {
			t.Errorf("past times are %q, want the last one to be %q", past, want)
		}
		spring := time.Date(began.Year(), 3, 25, 0, 0, 0, 0, time.UTC)
		moved := 0
		for _, one := range times(spring, spring.AddDate(0, 0, 8), 100) {
			if len(one) > len("01-02 15:04 +01:00 ") {
				moved++
			}
		}
		if moved != 1 {
			t.Errorf("%d times have a note, want that of the day on which 02:30 does not exist", moved)
		}
		if got := times(time.Now(), time.Time{}, 3); len(got) != 3 {
			t.Errorf("3 next times are %q", got)
		}
		if _, err := f.Times(t.Context(), "nothing", time.Now(), time.Time{}, 3); !errors.Is(err, outcome.ErrNoSchedule) {
			t.Errorf("an unknown schedule: %v", err)
		}
		list, err := f.Schedules(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		d := list[0]
		if got := fmt.Sprint(d.Overlap, "|", d.CatchUp, "|", d.Jitter, "|", d.Last.Status); got != "skip|all, within 10m|1s|succeeded" {
			t.Errorf("described as %s", got)
		}
	})
}
