package dag

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestNewRefuses(t *testing.T) {
	run := says("ok")
	for _, c := range []struct {
		nodes []Node
		want  string
	}{
		{[]Node{{ID: "a", Runner: run}, {ID: "a", Runner: run}}, `two nodes have the same id "a"`},
		{[]Node{{ID: "a", Runner: run, After: []ID{"b"}}}, `cannot connect "a": it waits for "b", which does not exist`},
		{[]Node{{ID: "a/b", Runner: run}}, `invalid node id "a/b"`},
		{[]Node{{ID: "a#2", Runner: run}}, `invalid node id "a#2"`},
		{[]Node{{ID: "", Runner: run}}, `invalid node id ""`},
		{[]Node{{ID: "a", Each: &Each{Items: new(loopStep).items}}}, `cannot loop in "a": its item has nothing to run`},
		{[]Node{{ID: "a", Runner: run, After: []ID{"a"}}}, "cycle: a waits for a"},
		{[]Node{{ID: "x", Runner: run, After: []ID{"a"}}, {ID: "a", Runner: run, After: []ID{"c"}},
			{ID: "b", Runner: run, After: []ID{"a"}}, {ID: "c", Runner: run, After: []ID{"b"}}}, "cycle: a waits for c, which waits for b, which waits for a"},
		{[]Node{{ID: "a", Runner: run, After: []ID{"j"}}, {ID: "j", After: []ID{"b"}}, {ID: "b", Runner: run, After: []ID{"a"}}},
			"cycle: a waits for b, which waits for a"}, // joins are not what people wrote
	} {
		_, err := New(c.nodes, Settings{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want one that says %q", err, c.want)
		}
		var cycle *cycleError
		if strings.HasPrefix(c.want, "cycle") != errors.As(err, &cycle) {
			t.Errorf("error is a %T", err)
		}
	}
}

func TestGraphLookup(t *testing.T) {
	g := graphOf(t, []step{{id: "a"}, {id: "j", join: true, after: []string{"a"}}, {id: "b", after: []string{"j"}}}, Settings{})
	if g.Len() != 2 || len(g.Nodes()) != 3 {
		t.Errorf("%d steps in %d nodes, want 2 in 3", g.Len(), len(g.Nodes()))
	}
	if n, ok := g.Node("b"); !ok || n.ID != "b" {
		t.Errorf("node b is %v, %v", n, ok)
	}
	if _, ok := g.Node("c"); ok {
		t.Error("there is a node c")
	}
}

// TestViewLooksUpstreamOnly: a node sees what it waits for and nothing else.
func TestViewLooksUpstreamOnly(t *testing.T) {
	g := graphOf(t, []step{{id: "a"}, {id: "b"}, {id: "c", after: []string{"a"}}}, Settings{})
	d := newDriver(t, g, 9, func(int) int { return 0 })
	d.run()
	v := View{f: d.state.root, i: 2}
	if v.Result("a") == nil || v.Result("b") != nil || v.Result("nobody") != nil {
		t.Errorf("c sees a: %v, b: %v, nobody: %v", v.Result("a"), v.Result("b"), v.Result("nobody"))
	}
}

func TestPathsThatAreNot(t *testing.T) {
	g := graphOf(t, []step{{id: "a"}, {id: "j", join: true}, {id: "n", inner: []step{{id: "x"}}}}, Settings{})
	s := NewState("run", g, nil)
	for _, path := range []ID{"", "/", "#", "a/", "a/x", "j", "n/", "n/x", "n/x/y", "#2/x", "b"} {
		s.Apply(Event{Kind: StepStarted, Node: path, Attempt: 1})
		if got := s.Status(path); got != Pending {
			t.Errorf("%q is %v", path, got)
		}
	}
}

// TestWaitNeverWraps: however many tries and whatever the bound, a wait stays
// between nothing and its bound, and is found at once.
func TestWaitNeverWraps(t *testing.T) {
	for _, growth := range []Growth{Exponential, Linear, Constant} {
		for _, delay := range []time.Duration{0, 1, time.Second, math.MaxInt64} {
			for _, limit := range []time.Duration{0, 1, time.Hour, math.MaxInt64} {
				for _, n := range []int{1, 2, 64, math.MaxInt} {
					b := Backoff{Delay: delay, Growth: growth, Max: limit}
					most := limit
					if most == 0 {
						most = maxUnboundedDelay
					}
					if d := b.maxDelay(n); d < 0 || d > most || d < min(delay, most) {
						t.Errorf("%+v: wait before retry %d is %v", b, n, d)
					}
				}
			}
		}
	}
}

func TestStatusWords(t *testing.T) {
	for s := Pending; s <= Interrupted; s++ {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Status
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Errorf("%v becomes %s becomes %v, %v", s, b, back, err)
		}
	}
	if got := fmt.Sprint(Status(99)); got != "status(99)" {
		t.Errorf("an unknown state prints %s", got)
	}
	var s Status
	if err := json.Unmarshal([]byte(`"done"`), &s); err == nil || !strings.Contains(err.Error(), `"done"`) {
		t.Errorf("the error is %v", err)
	}
}

func TestWithoutTries(t *testing.T) {
	for path, want := range map[string]string{
		"a": "a", "setup#2/clone": "setup/clone", "a/b#13": "a/b", "test[x#1]/y": "test[x#1]/y", "a#b/c": "a#b/c", "#": "#",
	} {
		if got := ID(path).WithoutAttempts(); got != ID(want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
