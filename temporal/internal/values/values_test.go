package values

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

var tool = history.StateID{Tool: "sync", File: "/sync.yaml"}

func read(run string) Request { return Request{Run: run, Read: tool} }

// sets is a commit of one value.
func sets(run string, event uint64, merge, value string) Request {
	return Request{Run: run, Event: event, Changes: []dag.StateChange{{Tool: tool.Tool, File: tool.File, Key: "N", Merge: merge, Value: json.RawMessage(value)}}}
}

// setBy is a value that a person sets.
func setBy(person, merge, value string) Request {
	q := sets("", 0, merge, value)
	q.By = person
	return q
}

// do carries out requests, with the state going to the service and back after each, and returns what the last one found.
func do(t *testing.T, s *State, list ...Request) (value string, refused bool) {
	t.Helper()
	for i, q := range list {
		reply := s.do(q, time.Unix(int64(i), 0))
		value, refused = "", reply.Refused != nil
		for _, v := range reply.Values {
			value += string(v.Value)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if *s = (State{}); json.Unmarshal(text, s) != nil {
			t.Fatalf("cannot read %s", text)
		}
	}
	return value, refused
}

// TestRequests: a run reads what was there when it read first, a commit that arrives twice counts once, and who would
// overwrite what another run has set since then is refused, each time it asks.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name    string
		list    []Request
		value   string
		refused bool
	}{
		{"nothing yet", []Request{read("a")}, "", false},
		{"of the run before", []Request{read("a"), sets("a", 9, "", "1"), read("b")}, "1", false},
		{"not its own", []Request{read("a"), sets("a", 9, "", "1"), read("a")}, "", false},
		{"as it was at first", []Request{read("a"), sets("a", 9, "", "1"), read("b"), read("c"), sets("c", 9, "", "2"), read("b")}, "1", false},
		{"conflict", []Request{read("a"), read("b"), sets("a", 9, "", "1"), sets("b", 9, "", "2")}, "", true},
		{"conflict, again", []Request{read("a"), read("b"), sets("a", 9, "", "1"), sets("b", 9, "", "2"), sets("b", 9, "", "2")}, "", true},
		{"once", []Request{read("a"), sets("a", 9, "append", "[1]"), sets("a", 9, "append", "[1]"), read("b")}, "[1]", false},
		{"a person", []Request{setBy("ada", "", "5"), read("a")}, "5", false},
		{"a person in between", []Request{read("a"), setBy("ada", "", "5"), sets("a", 9, "", "1")}, "", true},
		{"a person adds", []Request{sets("a", 9, "append", "[1]"), setBy("ada", "append", "[2]"), read("b")}, "[1,2]", false},
		{"a person, too much", []Request{setBy("ada", "", `"`+strings.Repeat("x", history.MaxStateValue)+`"`)}, "", true},
		{"two events", []Request{read("a"), sets("a", 8, "append", "[1]"), sets("a", 9, "append", "[2]"), read("b")}, "[1,2]", false},
		{"its own before", []Request{read("a"), sets("a", 8, "", "1"), sets("a", 9, "", "2"), read("b")}, "2", false},
	} {
		if value, refused := do(t, &State{}, c.list...); value != c.value || refused != c.refused {
			t.Errorf("%s: %q, refused %v; want %q, %v", c.name, value, refused, c.value, c.refused)
		}
	}
}

// TestForget: nothing is left of a run that has ended but what it has set.
func TestForget(t *testing.T) {
	s := &State{}
	do(t, s, read("a"), sets("a", 9, "", "1"))
	s.forget("a")
	if len(s.Readers) != 0 || len(s.Values) != 1 || s.Values[0].Run != "a" {
		t.Errorf("%+v", s)
	}
}
