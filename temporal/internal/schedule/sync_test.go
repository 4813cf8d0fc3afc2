package schedule

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/internal/service/schedule"
)

// fake is a Server in memory.
type fake struct {
	entries map[string]Entry
	fails   string // operation that fails
	calls   []string
}

func (f *fake) List(context.Context) (list []Entry, err error) {
	for _, e := range f.entries {
		list = append(list, e)
	}
	return list, nil
}

func (f *fake) call(what, id string) error {
	f.calls = append(f.calls, what+" "+id)
	if what == f.fails {
		return errors.New("no permission")
	}
	return nil
}

func (f *fake) Create(_ context.Context, e Entry) error {
	f.entries[e.ID] = e
	return f.call("create", e.ID)
}

func (f *fake) Update(_ context.Context, e Entry) error {
	f.entries[e.ID] = e
	return f.call("update", e.ID)
}

func (f *fake) Delete(_ context.Context, id string) error {
	delete(f.entries, id)
	return f.call("delete", id)
}

func entry(t *testing.T, id, line string, change func(*schedule.Schedule)) Entry {
	t.Helper()
	s := schedule.Schedule{Spec: parse(t, line, "UTC").From(now)}
	if change != nil {
		change(&s)
	}
	timing, err := TimingOf(s, "UTC", now)
	if err != nil {
		t.Fatal(err)
	}
	return Entry{ID: id, Timing: timing, Stamp: Stamp{Tool: "report", Params: "{}", Definitions: "sha256:1", Queue: "flowrun"}, Floating: s.Spec.Interval() > 0 && s.Start.IsZero()}
}

func TestCompare(t *testing.T) {
	f := &fake{entries: map[string]Entry{}}
	for _, e := range []Entry{entry(t, "cron", "0 7 * * *", nil), entry(t, "every", "@every 1h", nil), entry(t, "gone", "0 7 * * *", nil), entry(t, "same", "0 0 13 * FRI", nil), entry(t, "edited", "0 7 * * *", nil)} {
		f.entries[e.ID] = e
	}
	edited := f.entries["edited"]
	edited.Timing.Spec.Calendars[0].Hour = []client.ScheduleRange{{Start: 9}}
	// As the server returns it: values that it fills in.
	same := f.entries["same"]
	for i := range same.Timing.Spec.Calendars {
		for j := range same.Timing.Spec.Calendars[i].Minute {
			same.Timing.Spec.Calendars[i].Minute[j].Step = 0
		}
	}

	changed := entry(t, "cron", "0 8 * * *", func(s *schedule.Schedule) {
		s.Overlap, s.CatchUp, s.Jitter = schedule.OverlapQueue, schedule.CatchUpNone, time.Minute
		s.Start, s.End = now, now.AddDate(1, 0, 0)
	})
	changed.Paused, changed.Stamp = true, Stamp{Tool: "other", Params: `{"A":1}`, Definitions: "sha256:2", Queue: "gpu", Enforced: true}
	later := entry(t, "every", "@every 1h", func(s *schedule.Schedule) { s.Spec = s.Spec.From(now.Add(7 * time.Minute)) })
	wanted := []Entry{changed, later, entry(t, "same", "0 0 13 * FRI", nil), entry(t, "new", "@every 2h", nil), entry(t, "edited", "0 7 * * *", nil)}
	list, _ := f.List(t.Context())
	diff := Compare(wanted, list)
	want := []Difference{
		{Kind: Change, ID: "cron", Lines: []string{"times: 0 7 * * * -> 0 8 * * *", "start: none -> 2026-11-23T12:00:00Z", "end: none -> 2027-11-23T11:59:59Z", "jitter: 0s -> 1m0s", "overlap: skip -> queue",
			"catch-up window: 876000h0m0s -> 10s", "paused: false -> true", "tool: report -> other", `parameters: {} -> {"A":1}`, "task queue: flowrun -> gpu", "enforced permissions: false -> true", "definitions: changed"}},
		{Kind: Change, ID: "edited", Lines: []string{"times: changed on the server"}},
		{Kind: Keep, ID: "every"},
		{Kind: Remove, ID: "gone"},
		{Kind: Add, ID: "new"},
		{Kind: Keep, ID: "same"},
	}
	if d := cmp.Diff(want, diff, cmpopts.IgnoreUnexported(Difference{})); d != "" {
		t.Fatalf("-want +got:\n%s", d)
	}
	if err := Apply(t.Context(), f, diff); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"update cron", "update edited", "delete gone", "create new"}, f.calls); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	list, _ = f.List(t.Context())
	for _, d := range Compare(wanted, list) {
		if d.Kind != Keep {
			t.Errorf("afterwards: %+v", d)
		}
	}
}

func TestApplyFails(t *testing.T) {
	f := &fake{entries: map[string]Entry{}, fails: "create"}
	err := Apply(t.Context(), f, Compare([]Entry{entry(t, "flowrun:shop:a", "0 7 * * *", nil)}, nil))
	if err == nil || !strings.Contains(err.Error(), "cannot add schedule flowrun:shop:a: no permission") {
		t.Error(err)
	}
}
