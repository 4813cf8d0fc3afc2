package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// TestSchedules: schedules that were added are listed, a name is accepted once, and every
// change is counted.
func TestSchedules(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	nightly := Schedule{ID: "nightly", Name: "nightly", Tool: "report", Plan: `{"cron":"0 7 * * *"}`}
	must(t, s.Schedules().Add(ctx, nightly, false))
	if err := s.Schedules().Add(ctx, nightly, false); !errors.Is(err, ErrTaken) {
		t.Error("the name was taken twice:", err)
	}
	nightly.Tool = "other"
	must(t, s.Schedules().Add(ctx, nightly, true))
	list, err := s.Schedules().List(ctx)
	must(t, err)
	if len(list) != 1 || list[0].By == "" || time.Since(list[0].At) > time.Hour {
		t.Fatalf("%+v", list)
	}
	list[0].By, list[0].At = "", time.Time{}
	if diff := cmp.Diff(nightly, list[0]); diff != "" {
		t.Error(diff)
	}

	seen, err := s.Schedules().Changes(ctx)
	must(t, err)
	for _, c := range []struct {
		what string
		do   func(context.Context, string) (bool, error)
		news bool
	}{
		{"pause", s.Schedules().Pause, true}, {"pause again", s.Schedules().Pause, false},
		{"resume", s.Schedules().Resume, true}, {"resume again", s.Schedules().Resume, false},
		{"pause", s.Schedules().Pause, true},
		{"remove", s.Schedules().Remove, true}, {"remove again", s.Schedules().Remove, false},
	} {
		news, err := c.do(ctx, "nightly")
		must(t, err)
		now, err := s.Schedules().Changes(ctx)
		must(t, err)
		if news != c.news || now > seen != c.news {
			t.Errorf("%s: news %v, changes %d after %d", c.what, news, now, seen)
		}
		seen = now
	}
	pauses, err := s.Schedules().Pauses(ctx)
	must(t, err)
	if len(pauses) > 0 {
		t.Error("a schedule that is gone is paused:", pauses)
	}
}

// TestFirings: a scheduled time is claimed or skipped once, by the first caller, and
// the cursor never goes back.
func TestFirings(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	a, b := openTest(t, dir).Firings(), openTest(t, dir).Firings()
	anchor, err := a.Watch(ctx, "nightly", "7", noon)
	must(t, err)
	again, err := b.Watch(ctx, "nightly", "7", noon.Add(time.Minute))
	must(t, err)
	if !anchor.Equal(noon) || !again.Equal(noon) {
		t.Error("looked at since", anchor, again)
	}
	if _, ok, err := b.Cursor(ctx, "other"); ok || err != nil {
		t.Error("nobody looks at it:", ok, err)
	}
	slot := noon.Add(time.Hour)
	for i, book := range []Firings{a, b, a} {
		mine, err := book.Claim(ctx, "nightly", slot, []string{"r1", "r2", "r3"}[i], time.Time{})
		if must(t, err); mine != (i == 0) {
			t.Error("claim", i, mine)
		}
	}
	must(t, b.Skip(ctx, "nightly", slot, "late", time.Time{}))
	must(t, b.Skip(ctx, "nightly", slot.Add(-time.Minute), "missed", time.Time{}))
	last, ok, err := a.Cursor(ctx, "nightly")
	if must(t, err); !ok || !last.Equal(slot) {
		t.Error("the cursor is at", last, ok)
	}
	f, ok, err := b.LastFiring(ctx, "nightly")
	if must(t, err); !ok || f.Run != "r1" || f.Reason != "" || !f.Scheduled.Equal(slot) {
		t.Errorf("%+v", f)
	}

	if anchor, err = b.Watch(ctx, "nightly", "8", slot.Add(time.Hour)); err != nil || !anchor.Equal(slot.Add(time.Hour)) {
		t.Error("a changed plan is looked at since", anchor, err)
	}
	if last, _, _ = a.Cursor(ctx, "nightly"); !last.Equal(slot.Add(time.Hour)) {
		t.Error("a changed plan makes up for slots since", last)
	}
}

// TestFiringsBetween: the firings of a schedule after a time and not after another, the oldest ones first.
func TestFiringsBetween(t *testing.T) {
	ctx := context.Background()
	b := openTest(t, t.TempDir()).Firings()
	at := func(hour int) time.Time { return noon.Add(time.Duration(hour) * time.Hour) }
	for hour := range 5 {
		must(t, b.Skip(ctx, "nightly", at(4-hour), fmt.Sprint(4-hour), time.Time{}))
		must(t, b.Skip(ctx, "other", at(hour), "other", time.Time{}))
	}
	for _, c := range []struct {
		from, to, limit int
		want            string
	}{
		{-1, 9, 9, "0 1 2 3 4"}, {0, 9, 9, "1 2 3 4"}, {-1, 4, 9, "0 1 2 3 4"}, {-1, 3, 9, "0 1 2 3"}, {1, 3, 9, "2 3"}, {2, 2, 9, ""}, {0, 9, 2, "1 2"}, {4, 9, 9, ""},
	} {
		list, err := b.Between(ctx, "nightly", at(c.from), at(c.to), c.limit)
		must(t, err)
		var got []string
		for _, f := range list {
			got = append(got, f.Reason)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("after %d, to %d, at most %d: %q, want %s", c.from, c.to, c.limit, got, c.want)
		}
	}
}

// TestOpenFirings: a firing is open until the commit that starts its run, or until it is
// abandoned.
func TestOpenFirings(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	b := s.Firings()
	for i, run := range []string{"r1", "r2", "r3"} {
		_, err := b.Claim(ctx, "nightly", noon.Add(time.Duration(i)*time.Hour), run, time.Time{})
		must(t, err)
	}
	must(t, b.Skip(ctx, "nightly", noon.Add(4*time.Hour), "overlap", time.Time{}))
	l, err := s.Begin(ctx, &history.Record{ID: "r2", Tool: "report", Origin: "schedule:nightly", Created: noon})
	must(t, err)
	must(t, l.Close())
	must(t, b.Abandon(ctx, "r3", "the tool is gone"))
	must(t, b.Abandon(ctx, "r2", "too late"))
	open, err := b.Open(ctx)
	if must(t, err); len(open) != 1 || open[0].Run != "r1" {
		t.Errorf("%+v", open)
	}
	all, err := b.firings(ctx, "ORDER BY slot")
	must(t, err)
	var got []string
	for _, f := range all {
		got = append(got, f.Run+"/"+f.Reason)
	}
	if diff := cmp.Diff([]string{"r1/", "r2/", "/the tool is gone", "/overlap"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPruneFirings: old firings are removed with old runs, except those whose run has not
// started; the cursor is kept.
func TestPruneFirings(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, t.TempDir())
	b := s.Firings()
	_, err := b.Watch(ctx, "nightly", "7", noon)
	must(t, err)
	for i, run := range []string{"old", "open", "new"} {
		_, err := b.Claim(ctx, "nightly", noon.Add(time.Duration(i)*time.Hour), run, time.Time{})
		must(t, err)
	}
	must(t, s.db.write(ctx, "age", func(ctx context.Context, c *conn) error {
		_, err := c.ExecContext(ctx, "UPDATE firings SET at = at - ?, open = run = 'open' WHERE run <> 'new'", 48*time.Hour)
		return err
	}))
	_, err = s.Retention().Prune(ctx, Policy{OlderThan: time.Hour})
	must(t, err)
	all, err := b.firings(ctx, "ORDER BY slot")
	if must(t, err); len(all) != 2 || all[0].Run != "open" || all[1].Run != "new" {
		t.Errorf("%+v", all)
	}
	if last, _, err := b.Cursor(ctx, "nightly"); err != nil || !last.Equal(noon.Add(2*time.Hour)) {
		t.Error(last, err)
	}
}

// TestDeadlines checks that the deadline of a firing is checked once, whoever does it, and that a past time is claimed once without
// moving the cursor.
func TestDeadlines(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	a, b := s.Firings(), s.Firings()
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	if _, err := a.Watch(ctx, "nightly", "7", noon); err != nil {
		t.Fatal(err)
	}
	at := func(h int) time.Time { return noon.Add(time.Duration(h) * time.Hour) }
	_, err := a.Claim(ctx, "nightly", at(1), "r1", at(5))
	must(t, err)
	must(t, a.Skip(ctx, "nightly", at(2), "overlap", at(4)))
	must(t, a.Skip(ctx, "nightly", at(3), "missed", time.Time{}))
	for hour, want := range []int{0, 0, 0, 0, 1, 2} {
		if list, err := b.PastDeadline(ctx, at(hour)); err != nil || len(list) != want {
			t.Errorf("%d: %+v, %v", hour, list, err)
		}
	}
	list, err := b.PastDeadline(ctx, at(6))
	must(t, err)
	for i, book := range []Firings{a, b} {
		mine, err := book.CloseDeadline(ctx, list[0], true)
		if must(t, err); mine != (i == 0) {
			t.Error("close", i, mine)
		}
	}
	all, err := a.Between(ctx, "nightly", noon, at(6), -1)
	must(t, err)
	if len(all) != 3 || all[0].Late || !all[0].MustEnd.Equal(at(5)) || !all[1].Late || !all[1].MustEnd.IsZero() || all[2].Late {
		t.Errorf("%+v", all)
	}
	for hour, want := range map[int]bool{-1: true, 1: false, 2: true, 3: true} { // r1 has the time 1
		mine, err := a.ClaimPast(ctx, "nightly", at(hour), fmt.Sprint("past", hour))
		if must(t, err); mine != want {
			t.Error("claim", hour, mine)
		}
		if mine, err := b.ClaimPast(ctx, "nightly", at(hour), "other"); err != nil || mine {
			t.Error("claim again", hour, mine, err)
		}
	}
	if last, _, err := a.Cursor(ctx, "nightly"); err != nil || !last.Equal(at(3)) {
		t.Error("the cursor is at", last, err)
	}
	if changed, err := s.Schedules().PauseBecause(ctx, "nightly", "3 failures in a row"); err != nil || !changed {
		t.Error(changed, err)
	}
	pauses, err := s.Schedules().Pauses(ctx)
	if must(t, err); pauses["nightly"].Reason != "3 failures in a row" {
		t.Error(pauses)
	}
	for _, want := range []int{4, 0} {
		list, err := a.SinceResumed(ctx, "nightly", 10)
		if must(t, err); len(list) != want {
			t.Errorf("%d runs count, want %d", len(list), want)
		}
		_, err = s.Schedules().Resume(ctx, "nightly")
		must(t, err)
	}
}
