package schedule

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

func schedule(t testing.TB, line string) Schedule {
	t.Helper()
	spec, err := cron.Parse(line, cron.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return Schedule{Name: "it", Spec: spec}
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		o               Overlap
		caughtUp        int
		running, queued int
		want            Action
	}{
		{"", 0, 0, 0, Start}, {"", 0, 1, 0, Skip}, {"", 0, 0, 1, Skip}, {"", 1, 1, 0, Queue}, {"", 2, 0, 1, Queue}, {"", 1, 0, 0, Start},
		{OverlapSkip, 0, 0, 0, Start}, {OverlapSkip, 0, 2, 0, Skip}, {OverlapSkip, 1, 1, 1, Queue},
		{OverlapQueue, 0, 0, 0, Start}, {OverlapQueue, 0, 1, 0, Queue}, {OverlapQueue, 0, 1, 1, Skip}, {OverlapQueue, 1, 1, 1, Queue}, {OverlapQueue, 0, 0, 1, Skip},
		{OverlapReplace, 0, 0, 0, Start}, {OverlapReplace, 0, 1, 0, Replace}, {OverlapReplace, 1, 1, 0, Replace},
		{OverlapAllow, 0, 5, 5, Start}, {OverlapAllow, 1, 5, 5, Start},
	} {
		got, reason := Decide(c.o, c.caughtUp, c.running, c.queued)
		if got != c.want || (reason != "") != (got == Skip) {
			t.Errorf("%+v: %v %q", c, got, reason)
		}
	}
}

func TestSatisfied(t *testing.T) {
	for _, c := range []struct {
		line, slot, success string
		want                bool
	}{
		{"0 7 * * *", "2026-06-02T07:00:00Z", "2026-06-02T06:00:00Z", true},
		{"0 7 * * *", "2026-06-02T07:00:00Z", "2026-06-01T07:00:00Z", true},
		{"0 7 * * *", "2026-06-02T07:00:00Z", "2026-06-01T06:59:59Z", false},
		{"0 7 * * *", "2026-06-02T07:00:00Z", "0001-01-01T00:00:00Z", false},
		{"* * * * * *", "2026-06-02T07:00:00Z", "2026-06-02T06:59:58Z", false},
		{"* * * * * *", "2026-06-02T07:00:00Z", "2026-06-02T06:59:59Z", true},
		{"0 0 29 2 *", "2104-02-29T00:00:00Z", "2096-03-01T00:00:00Z", true},
		{"0 0 29 2 *", "2104-02-29T00:00:00Z", "2096-02-28T00:00:00Z", false},
	} {
		s := schedule(t, c.line)
		if got := Satisfied(&s, at(c.slot), at(c.success)); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	first := schedule(t, "@daily")
	first.Start = at("2026-06-02T00:00:00Z")
	if Satisfied(&first, first.Start, first.Start.Add(-time.Hour)) {
		t.Error("there is no slot before the first")
	}
}

func TestJitter(t *testing.T) {
	s := schedule(t, "0 * * * *")
	s.Jitter = 10 * time.Minute
	other := s
	other.Name = "another"
	var parts [10]int
	same := 0
	slot := at("2026-06-01T00:00:00Z")
	for range 1000 {
		late := s.due(slot).Sub(slot)
		if late < 0 || late >= s.Jitter || late != s.due(slot).Sub(slot) {
			t.Fatalf("%v: %v", slot, late)
		}
		if late == other.due(slot).Sub(slot) {
			same++
		}
		parts[late/time.Minute]++
		slot = slot.Add(time.Hour)
	}
	if slices.Min(parts[:]) < 50 || same > 10 {
		t.Errorf("slots by minute: %v; %d like those of another schedule", parts, same)
	}
	dense := schedule(t, "* * * * * *")
	dense.Jitter = time.Hour
	for range 1000 {
		if d := dense.due(slot); d.Before(slot) || !d.Before(slot.Add(time.Second)) {
			t.Fatalf("%v starts at %v, after the next", slot, d)
		}
		slot = slot.Add(time.Second)
	}
}

// TestNothingLostOrDoubled checks a schedule at arbitrary times: with CatchUpAll each time
// fires once and in order; otherwise each fires at most once, and the others are counted.
func TestNothingLostOrDoubled(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"*/5 * * * *", "0 2 * * *", "30 2 * * *", "0,1,30 1-3 * * *", "0 */3 * * *", "@every 17m", "10 0 * * * *"}).Draw(t, "line")
		zone, err := cron.LoadZone(rapid.SampledFrom([]string{"UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe"}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		spec, err := cron.Parse(line, cron.Options{Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		s := Schedule{Name: "it", Spec: spec, Cap: 1 << 20, CatchUp: rapid.SampledFrom([]CatchUp{CatchUpAll, CatchUpOnce, CatchUpNone}).Draw(t, "catch-up")}
		s.Jitter = time.Duration(rapid.IntRange(0, 600).Draw(t, "jitter")) * time.Second
		begin := at("2026-01-01T00:00:00Z").Add(time.Duration(rapid.IntRange(0, 365*24*60).Draw(t, "begin")) * time.Minute)
		now, cursor := begin, begin
		var fired []time.Time
		missed := 0
		for range rapid.IntRange(1, 20).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 6*3600).Draw(t, "later")) * time.Second)
			n := Due(&s, cursor, now)
			if n.Missed > 0 {
				missed += n.Missed
				cursor = n.LastMissed
			}
			for _, slot := range n.Fire {
				if !slot.At.After(cursor) || slot.Due.After(now) {
					t.Fatalf("at %v, behind %v: %+v", now, cursor, slot)
				}
				cursor = slot.At
				fired = append(fired, slot.At)
			}
			if !n.Next.After(now) {
				t.Fatalf("at %v: look again at %v", now, n.Next)
			}
		}
		count := 0
		for slot := s.Next(begin); !s.due(slot).After(now); slot = s.Next(slot) {
			if s.CatchUp == CatchUpAll && (count >= len(fired) || !fired[count].Equal(slot)) {
				t.Fatalf("%v is lost: %v", slot, fired)
			}
			count++
		}
		if len(fired)+missed != count {
			t.Fatalf("%d slots: %d fired, %d missed", count, len(fired), missed)
		}
	})
}

func TestNewest(t *testing.T) {
	s := schedule(t, "* * * * * *")
	upTo := at("2026-06-01T12:00:00Z")
	list, count := newest(&s, upTo.AddDate(-20, 0, 0), upTo, 5)
	if count != countUpTo || len(list) != 5 || !list[4].Equal(upTo) || !list[0].Equal(upTo.Add(-4*time.Second)) {
		t.Errorf("%v of %d", list, count)
	}
	list, count = newest(&s, upTo.Add(-3*time.Second), upTo, 5)
	if count != 3 || len(list) != 3 {
		t.Errorf("%v of %d", list, count)
	}
}
