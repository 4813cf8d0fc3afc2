package runfilter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/runfilter"
)

// storeOf returns a store of runs r0 to r8, a minute apart.
func storeOf(t *testing.T) *history.Memory {
	s := history.NewMemory()
	begin := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for i := range 9 {
		l, err := s.Begin(t.Context(), &history.Record{ID: fmt.Sprintf("r%d", i), Tool: "t", Created: begin.Add(time.Duration(i) * time.Minute),
			Origin: []string{"", "api", "schedule:nightly"}[i%3],
			Labels: []map[string]string{{"team": "ops"}, {"team": "dev", "site": "x"}, nil}[i%3],
			Params: map[string]any{"REGION": []string{"eu", "us"}[i%2], "N": json.Number("12345678901234567890"), "LIST": []any{"a", "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	return s
}

// TestPage holds which runs a filter chooses, all at once and a page at a time.
func TestPage(t *testing.T) {
	s := storeOf(t)
	for _, c := range []struct {
		status, origin string
		params         []string
		labels         string
		want           string
	}{
		{"", "", nil, "", "r8 r7 r6 r5 r4 r3 r2 r1 r0"},
		{"interrupted", "cli", nil, "", "r6 r3 r0"},
		{"succeeded", "", nil, "", ""},
		{"", "schedule", nil, "", "r8 r5 r2"},
		{"", "schedule:nightly", nil, "", "r8 r5 r2"},
		{"", "schedule:night", nil, "", ""},
		{"", "api", []string{"REGION=us"}, "", "r7 r1"},
		{"", "", []string{"REGION=us", "N=12345678901234567890"}, "", "r7 r5 r3 r1"},
		{"", "", []string{"N=1.2345678901234567e19"}, "", ""},
		{"", "", []string{`LIST=["a","b"]`, "REGION=eu"}, "", "r8 r6 r4 r2 r0"},
		{"", "", []string{"NONE="}, "", ""},
		{"", "", nil, "team", "r7 r6 r4 r3 r1 r0"},
		{"", "", nil, "team=ops", "r6 r3 r0"},
		{"", "", []string{"REGION=us"}, "team=dev site", "r7 r1"},
		{"", "", nil, "team=ops team=dev", ""},
	} {
		var f runfilter.Filter
		if c.status != "" {
			if err := f.AddStatus(c.status); err != nil {
				t.Fatal(err)
			}
		}
		f.SetOrigin(c.origin)
		for _, p := range c.params {
			if err := f.AddParam(p); err != nil {
				t.Fatal(err)
			}
		}
		for _, l := range strings.Fields(c.labels) {
			if err := f.AddLabel(l); err != nil {
				t.Fatal(err)
			}
		}
		for _, limit := range []int{0, 1, 2, 9} {
			f.Query.Limit, f.Query.Before = limit, ""
			var got []string
			for {
				page, next, err := f.Page(t.Context(), s.Runs, time.Time{})
				if err != nil || limit > 0 && len(page) > limit {
					t.Fatal(err, len(page))
				}
				for _, r := range page {
					if got = append(got, r.ID); r.Params != nil {
						t.Errorf("%+v: parameters that nobody asked for: %v", c, r.Params)
					}
				}
				if next == "" {
					break
				}
				if len(page) < limit {
					t.Errorf("%+v, %d at a time: %d runs, and more", c, limit, len(page))
				}
				f.Query.Before = next
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%+v, %d at a time: %s", c, limit, got)
			}
		}
	}
}

// TestPageStops: a page is returned after its time, and the next one continues.
func TestPageStops(t *testing.T) {
	s := history.NewMemory()
	for i := range 1200 {
		l, err := s.Begin(t.Context(), &history.Record{ID: fmt.Sprintf("r%04d", i), Tool: "t", Params: map[string]any{"N": fmt.Sprint(i)}})
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	var f runfilter.Filter
	f.Query.Limit, f.Query.WithParams = 1, true
	f.AddParam("N=3")
	var pages int
	for {
		page, next, err := f.Page(t.Context(), s.Runs, time.Unix(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		if pages++; len(page) == 1 {
			if page[0].ID != "r0003" || page[0].Params["N"] != "3" || pages != 3 || next != "" {
				t.Errorf("page %d: %+v, %q", pages, page, next)
			}
			return
		}
		if next == "" {
			t.Fatal("the list ends without the run")
		}
		f.Query.Before = next
	}
}

// TestWords holds what no word of a filter is.
func TestWords(t *testing.T) {
	var f runfilter.Filter
	for _, word := range []string{"", "REGION", "=eu"} {
		if err := f.AddParam(word); err == nil || err.Error() != "has no name and value" {
			t.Errorf("%q: %v", word, err)
		}
	}
	for _, word := range runfilter.Statuses() {
		if err := f.AddStatus(word); err != nil {
			t.Error(err)
		}
	}
	for _, word := range []string{"", "Team", "team=", "=ops", "team={X}"} {
		if err := f.AddLabel(word); err == nil {
			t.Errorf("%q is a label", word)
		}
	}
	if err := f.AddStatus("odd"); err == nil {
		t.Error("odd is a state")
	}
}
