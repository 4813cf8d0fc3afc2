package joined

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
)

var start = time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)

// joinedOf returns a Store with runs a0, b1, a2, ... that began one second after another, of which each store has every second.
func joinedOf(t *testing.T, n int) *Store {
	t.Helper()
	stores := []*history.Memory{history.NewMemory(), history.NewMemory()}
	for i := range n {
		at := start.Add(time.Duration(i) * time.Second)
		l, err := stores[i%2].Begin(t.Context(), &history.Record{ID: fmt.Sprintf("%c%d", 'a'+i%2, i), Tool: "t", Created: at})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return New(stores[0], stores[1])
}

// TestRuns: the list has the runs of both stores, newest first, also in pages.
func TestRuns(t *testing.T) {
	s := joinedOf(t, 7)
	for _, c := range []struct {
		query history.Query
		want  string
	}{
		{history.Query{}, "a6 b5 a4 b3 a2 b1 a0"},
		{history.Query{Limit: 3}, "a6 b5 a4"},
		{history.Query{Limit: 3, Before: "a4"}, "b3 a2 b1"},
		{history.Query{Limit: 3, Before: "b1"}, "a0"},
		{history.Query{Before: "b3", Until: start.Add(2 * time.Second)}, "b1 a0"},
		{history.Query{Before: "unknown"}, ""},
		{history.Query{Prefix: "b"}, "b5 b3 b1"},
		{history.Query{Prefix: "c"}, ""},
	} {
		list, err := s.Runs(t.Context(), c.query)
		var ids []string
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || err != nil {
			t.Errorf("%+v: %s, %v; want %s", c.query, got, err, c.want)
		}
	}
}

// TestRunOfEither: what is asked about a run is asked of the store that has it.
func TestRunOfEither(t *testing.T) {
	s := joinedOf(t, 4)
	for _, id := range []string{"a2", "b3"} {
		record, err := s.Record(t.Context(), id)
		if err != nil || record.ID != id {
			t.Errorf("%s: %v, %v", id, record, err)
		}
		if found, err := history.FindRun(t.Context(), s, id); found != id {
			t.Errorf("%s: %s, %v", id, found, err)
		}
		if events, err := s.Events(t.Context(), id, 0); err != nil || len(events) > 0 {
			t.Errorf("%s: %v, %v", id, events, err)
		}
		if err := errors.Join(s.Answer(t.Context(), id, history.Answer{Wait: 1}), s.Cancel(t.Context(), id, "")); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if l, err := s.Claim(t.Context(), id, 0); err != nil || l.Epoch() != 2 {
			t.Errorf("%s: %v", id, err)
		}
	}
	if id, err := history.FindRun(t.Context(), s, history.Latest); id != "b3" {
		t.Errorf("latest is %s, %v", id, err)
	}
	_, err := s.Info(t.Context(), "c")
	if err := errors.Join(s.Answer(t.Context(), "c", history.Answer{}), err); !errors.Is(err, history.ErrNoRun) {
		t.Error(err)
	}
}
