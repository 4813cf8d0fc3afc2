package timetable

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestExceptFile checks that a service follows the file of except, and keeps the days of one that can no longer be read.
func TestExceptFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, everyHour+"  - {cron: \"*/10 * * * *\", timezone: UTC, except: {file: days.txt}}\n")
		f, _ := s.serve()
		days := func() string {
			e, known := f.entry(s.id("t"))
			if !known {
				return "unknown"
			}
			return "except " + e.Except.String()
		}
		write := func(text string) {
			if err := os.WriteFile("days.txt", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		logged := func(text string) bool { synctest.Wait(); return strings.Contains(s.log.String(), text) }
		if days() != "unknown" || !logged("does not run: cannot read the days in days.txt: no such file") {
			t.Fatal(days(), s.log.String())
		}
		today := time.Now().UTC().Format(time.DateOnly)
		write(today)
		waittest.Until(s, "the file is read", func() bool { return days() == "except "+today })
		time.Sleep(time.Hour)
		if list := s.running(); len(list) > 0 {
			t.Error("it ran on a day of except:", list)
		}
		write("nonsense")
		waittest.Until(s, "the mistake is logged", func() bool { return logged("the days that were read last still count") })
		if err := os.Remove("days.txt"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if days() != "except "+today || len(s.running()) > 0 {
			t.Error(days(), s.running())
		}
		write("# no day")
		waittest.Until(s, "it runs", func() bool { return len(s.running()) == 1 })
	})
}
