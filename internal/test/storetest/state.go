package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

var syncTool = history.StateID{Tool: "sync", File: "/w/sync.yaml"}

// set returns a change of the tool sync.
func set(key, value, merge string) dag.StateChange {
	return dag.StateChange{Tool: syncTool.Tool, File: syncTool.File, Key: key, Value: json.RawMessage(value), Merge: merge}
}

// endWith returns the last event of a run that sets values.
func endWith(run string, seq uint64, status dag.Status, changes ...dag.StateChange) dag.Event {
	e := end(run, seq, status)
	e.Result.SetState(changes)
	return e
}

// stateText returns values as KEY=VALUE.
func stateText(list []history.StateValue) string {
	var words []string
	for _, v := range list {
		words = append(words, v.Key+"="+string(v.Value))
	}
	return strings.Join(words, " ")
}

func wantState(t *testing.T, s history.Store, want string) {
	t.Helper()
	list, err := s.State(context.Background(), syncTool)
	if got := stateText(list); err != nil || got != want {
		t.Errorf("the state is %s, want %s (%v)", got, want, err)
	}
}

func readState(t *testing.T, l history.Ledger, want string) {
	t.Helper()
	list, err := l.ReadState(context.Background(), syncTool, "")
	if got := stateText(list); err != nil || got != want {
		t.Errorf("the run reads %s, want %s (%v)", got, want, err)
	}
}

// Only a run that succeeds changes the state, and only that of the tools it names.
func testState(t *testing.T, s history.Store) {
	for i, c := range []struct {
		status dag.Status
		want   string
	}{
		{dag.Failed, ""}, {dag.Cancelled, ""}, {dag.TimedOut, ""}, {dag.Succeeded, `A=1 B="x"`},
	} {
		id := fmt.Sprintf("r%d", i)
		l := begin(t, s, record(id, "sync"))
		readState(t, l, "")
		appendAll(t, l, endWith(id, 1, c.status, set("B", `"x"`, ""), set("A", "1", "")))
		wantState(t, s, c.want)
	}
	other := history.StateID{Tool: "sync", File: "/w/other.yaml"}
	if list, err := s.State(context.Background(), other); err != nil || len(list) > 0 {
		t.Error("another tool of this name has", list, err)
	}
	list, err := s.State(context.Background(), history.StateID{})
	if err != nil || len(list) != 2 || list[0].Run != "r3" || list[0].At.IsZero() || list[0].Version == 0 || list[0].StateID != syncTool {
		t.Errorf("%+v, %v", list, err)
	}
}

// A run sees what it has read when it started, also after it was claimed.
func testStateSeen(t *testing.T, s history.Store) {
	ctx := context.Background()
	if err := s.SetState(ctx, []dag.StateChange{set("A", "1", "")}); err != nil {
		t.Fatal(err)
	}
	l := begin(t, s, record("r1", "sync"))
	readState(t, l, "A=1")
	if err := s.SetState(history.WithActor(ctx, "ann"), []dag.StateChange{set("A", "2", ""), set("B", "3", "")}); err != nil {
		t.Fatal(err)
	}
	readState(t, l, "A=1")
	l.Close()
	if _, err := l.ReadState(ctx, syncTool, ""); !errors.Is(err, history.ErrFenced) {
		t.Error("a former owner reads the state:", err)
	}
	l = claim(t, s, "r1", 0)
	readState(t, l, "A=1")
	wantState(t, s, "A=2 B=3")

	// A run that takes over results sees what they were made with.
	next := begin(t, s, record("r2", "sync"))
	for range 2 {
		list, err := next.ReadState(ctx, syncTool, "r1")
		if got := stateText(list); err != nil || got != "A=1" {
			t.Errorf("the run reads %s (%v)", got, err)
		}
	}
	err := next.Append(ctx, []dag.Event{endWith("r2", 1, dag.Succeeded, set("A", "9", ""))})
	if refused, ok := errors.AsType[*history.StateError](err); !ok || !refused.Conflict {
		t.Errorf("a value that was changed since it was read: %v", err)
	}
}

// A run that takes over the values of one tool does not take over those of another.
func testStateSeenOfOne(t *testing.T, s history.Store) {
	ctx := context.Background()
	other := history.StateID{Tool: "other", File: "/w/other.yaml"}
	ofOther := func(value string) dag.StateChange {
		return dag.StateChange{Tool: other.Tool, File: other.File, Key: "A", Value: json.RawMessage(value)}
	}
	l := begin(t, s, record("r1", "sync"))
	readState(t, l, "")
	if err := s.SetState(ctx, []dag.StateChange{ofOther("1")}); err != nil {
		t.Fatal(err)
	}
	if list, err := l.ReadState(ctx, other, ""); err != nil || stateText(list) != "A=1" {
		t.Fatal(stateText(list), err)
	}
	next := begin(t, s, record("r2", "sync"))
	if _, err := next.ReadState(ctx, syncTool, "r1"); err != nil {
		t.Fatal(err)
	}
	err := next.Append(ctx, []dag.Event{endWith("r2", 1, dag.Succeeded, ofOther("2"))})
	if refused, ok := errors.AsType[*history.StateError](err); !ok || !refused.Conflict {
		t.Errorf("a value that the run has never read was replaced: %v", err)
	}
}

// The message about a value that cannot be merged does not cut a character.
func testStateMessage(t *testing.T, s history.Store) {
	ctx := context.Background()
	for n := range 4 {
		if err := s.SetState(ctx, []dag.StateChange{set("A", `"`+strings.Repeat("x", n)+strings.Repeat("€", 40)+`"`, "")}); err != nil {
			t.Fatal(err)
		}
		err := s.SetState(ctx, []dag.StateChange{set("A", "[1]", "append")})
		if _, ok := errors.AsType[*history.StateError](err); !ok || !utf8.ValidString(err.Error()) {
			t.Errorf("%q", err)
		}
	}
}

// A change of what somebody else has changed is refused with everything that comes with it.
func testStateRefused(t *testing.T, s history.Store) {
	ctx := context.Background()
	first, second := begin(t, s, record("r1", "sync")), begin(t, s, record("r2", "sync"))
	readState(t, first, "")
	readState(t, second, "")
	appendAll(t, first, endWith("r1", 1, dag.Succeeded, set("A", "1", ""), set("MAX", "7", "max")))
	err := second.Append(ctx, []dag.Event{endWith("r2", 1, dag.Succeeded, set("B", "1", ""), set("A", "2", ""))})
	refused, ok := errors.AsType[*history.StateError](err)
	if !ok || !refused.Conflict || refused.Key != "A" || refused.StateID != syncTool || !strings.Contains(err.Error(), "run r1") {
		t.Fatalf("%+v", err)
	}
	wantState(t, s, "A=1 MAX=7")
	if i := info(t, s, "r2"); i.Status != dag.Running || len(allEvents(t, s, "r2")) > 0 {
		t.Error("the refused events were recorded:", i.Status)
	}
	err = second.Append(ctx, []dag.Event{endWith("r2", 1, dag.Succeeded, set("B", `"`+strings.Repeat("x", history.MaxStateValue)+`"`, ""))})
	if refused, ok := errors.AsType[*history.StateError](err); !ok || refused.Conflict {
		t.Errorf("a value that is too large: %v", err)
	}
	wantState(t, s, "A=1 MAX=7")
	appendAll(t, second, endWith("r2", 1, dag.Succeeded, set("MAX", "5", "max"), set("B", "1", "")))
	wantState(t, s, "A=1 B=1 MAX=7")
}

// The values of a step that keeps them at once do not need the success of the run, and the run can
// change them again.
func testStateAtOnce(t *testing.T, s history.Store) {
	l := begin(t, s, record("r1", "sync"))
	readState(t, l, "")
	step := func(seq uint64, status dag.Status, c dag.StateChange) dag.Event {
		c.Step = true
		e := endWith("r1", seq, status, c)
		e.Kind, e.Node = dag.StepFinished, "a"
		return e
	}
	appendAll(t, l, step(1, dag.Succeeded, set("A", "1", "")))
	wantState(t, s, "A=1")
	readState(t, l, "")
	appendAll(t, l, step(2, dag.Succeeded, set("A", "2", "")), step(3, dag.Failed, set("A", "3", "")))
	wantState(t, s, "A=2")
	l.Close()
	l = claim(t, s, "r1", 3)
	readState(t, l, "")
	appendAll(t, l, step(4, dag.Succeeded, set("A", "4", "")), endWith("r1", 5, dag.Failed, set("B", "1", "")))
	wantState(t, s, "A=4")
}

// The history of a key is bounded and says who set each value.
func testStateHistory(t *testing.T, s history.Store) {
	ctx := context.Background()
	for i := range history.MaxStateHistory + 5 {
		if err := s.SetState(history.WithActor(ctx, "ann"), []dag.StateChange{set("A", strconv.Itoa(i), "")}); err != nil {
			t.Fatal(err)
		}
	}
	l := begin(t, s, record("r1", "sync"))
	readState(t, l, "A=54")
	appendAll(t, l, endWith("r1", 1, dag.Succeeded, set("A", "100", ""), set("B", "1", "")))
	list, err := s.StateHistory(ctx, syncTool, "A")
	if err != nil || len(list) != history.MaxStateHistory || string(list[0].Value) != "100" || list[0].Run != "r1" || list[0].By != "" ||
		string(list[1].Value) != "54" || list[1].Run != "" || list[1].By != "ann" || list[0].Version <= list[1].Version {
		t.Errorf("%d, %+v, %v", len(list), list[:2], err)
	}
	if list, err = s.StateHistory(ctx, syncTool, ""); err != nil || len(list) != history.MaxStateHistory+1 || list[0].Key != "B" {
		t.Error(list, err)
	}
	// A value that does not change is not noted.
	if err := s.SetState(ctx, []dag.StateChange{set("B", "1", "")}); err != nil {
		t.Fatal(err)
	}
	if list, err = s.StateHistory(ctx, syncTool, "B"); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}

// Of runs that change the same value at the same time, one succeeds; merged values lose nothing.
func testStateParallel(t *testing.T, s history.Store) {
	const runs = 8
	ledgers := make([]history.Ledger, runs)
	for i := range ledgers {
		ledgers[i] = begin(t, s, record(fmt.Sprintf("r%d", i), "sync"))
		readState(t, ledgers[i], "")
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	kept := 0
	for i, l := range ledgers {
		wg.Go(func() {
			id := fmt.Sprintf("r%d", i)
			n := strconv.Itoa(i)
			err := l.Append(context.Background(), []dag.Event{endWith(id, 1, dag.Succeeded, set("A", n, ""))})
			if err == nil {
				mu.Lock()
				kept++
				mu.Unlock()
				return
			}
			if _, ok := errors.AsType[*history.StateError](err); !ok {
				t.Error(err)
				return
			}
			if err := l.Append(context.Background(), []dag.Event{endWith(id, 1, dag.Succeeded, set("LIST", "["+n+"]", "append"), set("MAX", n, "max"), set("MIN", n, "min"))}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if kept != 1 {
		t.Errorf("%d runs have set A", kept)
	}
	list, err := s.State(context.Background(), syncTool)
	if err != nil || len(list) != 4 {
		t.Fatal(list, err)
	}
	var all []int
	if err := json.Unmarshal(list[1].Value, &all); err != nil || len(all) != runs-1 {
		t.Error(list[1], err)
	}
}
