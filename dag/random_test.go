package dag

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// scriptGen draws graphs of up to 40 steps: nested ones, loops, joins, conditions,
// retries, fallbacks and tolerated failures.
func scriptGen() *rapid.Generator[[]step] { return scripts(false) }

// hastyGen draws loops with fail-fast too: how their items end depends on who is
// faster.
func hastyGen() *rapid.Generator[[]step] { return scripts(true) }

func scripts(hasty bool) *rapid.Generator[[]step] {
	return rapid.Custom(func(t *rapid.T) []step {
		d := drawing{t: t, left: rapid.IntRange(1, 40).Draw(t, "steps"), hasty: hasty}
		return d.steps(d.left, 3)
	})
}

type drawing struct {
	t     *rapid.T
	left  int // steps that may still be drawn
	hasty bool
}

func (d *drawing) steps(n, depth int) []step {
	t := d.t
	steps := []step{} // not nil: an empty nested graph is a nested graph
	for i := 0; i < n && d.left > 0; i++ {
		d.left--
		st := step{id: fmt.Sprintf("s%d", i)}
		for range min(i, rapid.IntRange(0, 3).Draw(t, "edges")) {
			up := steps[rapid.IntRange(0, i-1).Draw(t, "after")].id
			if !slices.Contains(st.after, up) {
				st.after = append(st.after, up)
			}
		}
		if i > 0 && rapid.IntRange(0, 9).Draw(t, "join") == 0 {
			st.join = true
		} else {
			d.body(&st, depth)
		}
		steps = append(steps, st)
	}
	return steps
}

// body draws what a step, or an item, does.
func (d *drawing) body(st *step, depth int) {
	t := d.t
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if kind <= 1 && depth > 0 {
		d.loop(st, depth)
		return
	}
	d.policy(st)
	if kind <= 3 && depth > 0 {
		st.bind = rapid.SampledFrom([]string{"", "ok", "ok", "refused"}).Draw(t, "bind")
		st.within = rapid.Bool().Draw(t, "within")
		st.inner = d.steps(rapid.IntRange(0, 3*depth).Draw(t, "n"), depth-1)
		return
	}
	st.tries, st.idle = d.words(), rapid.IntRange(0, 3).Draw(t, "idle") == 0
}

func (d *drawing) words() []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"ok", "ok", "fail", "timeout", "permanent", "reused", "later", "later-fail", "ask", "ask-fail", "ask-late"}), 1, 3).Draw(d.t, "tries")
}

// itemKeys are keys that could be taken for something else in a path.
var itemKeys = []string{"a", "b", "linux/amd64", "x#2", "/", "#", "", "0", "1", "ä ö"}

func (d *drawing) loop(st *step, depth int) {
	t := d.t
	d.when(st)
	st.tolerate = rapid.IntRange(0, 3).Draw(t, "tolerate") == 0
	l := &loopStep{
		keys:     rapid.Permutation(itemKeys).Draw(t, "keys")[:rapid.IntRange(0, 6).Draw(t, "items")],
		numbered: rapid.Bool().Draw(t, "numbered"),
		parallel: rapid.IntRange(0, 3).Draw(t, "parallel"),
		least:    max(0, rapid.IntRange(-4, 7).Draw(t, "least")),
		hasty:    d.hasty && rapid.Bool().Draw(t, "fail-fast"),
	}
	d.body(&l.item, depth-1)
	for range l.keys {
		l.words = append(l.words, d.words())
	}
	if odd := rapid.IntRange(0, 19).Draw(t, "refused"); odd == 0 {
		l.refused = "error"
	} else if odd == 1 && len(l.keys) > 1 {
		l.refused = "twice"
	}
	st.loop = l
}

func (d *drawing) when(st *step) {
	if rapid.Bool().Draw(d.t, "conditional") {
		st.when = rapid.SampledFrom(conditions).Draw(d.t, "when").name
	}
}

func (d *drawing) policy(st *step) {
	t := d.t
	some := rapid.Bool()
	d.when(st)
	if some.Draw(t, "retry") {
		st.retries = rapid.IntRange(0, 3).Draw(t, "retries")
		st.delay = time.Duration(rapid.IntRange(0, 2).Draw(t, "delay")) * time.Second
	}
	if rapid.IntRange(0, 3).Draw(t, "repeat") == 0 {
		st.repeat = &repeatStep{done: rapid.IntRange(0, 5).Draw(t, "done"), max: rapid.IntRange(1, 4).Draw(t, "max"),
			failures: some.Draw(t, "failures"), every: time.Duration(rapid.IntRange(0, 2).Draw(t, "every")) * time.Second}
	}
	if some.Draw(t, "fallback") {
		st.fallback = rapid.SampledFrom([]string{"ok", "fail", "timeout"}).Draw(t, "fallback")
	}
	st.tolerate = rapid.IntRange(0, 3).Draw(t, "tolerate") == 0
}

// anyOrder lets workers report in an order that rapid chooses.
func anyOrder(t *rapid.T) func(int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "reports next") }
}

// TestEveryInterleaving: with any order of reports and any number of slots, a run ends as
// the rules say; the driver checks every start against the rules.
func TestEveryInterleaving(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, total := oracle(steps, "", false)
		g := graphOf(t, steps, Settings{})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		d.run()
		if diff := cmp.Diff(want, states(d.state)); diff != "" {
			t.Fatalf("end states (-rules +driver):\n%s", diff)
		}
		if got := d.state.Result().Status.String(); got != total {
			t.Fatalf("the run ends %s, want %s", got, total)
		}
		if diff := cmp.Diff(want, states(replay(t, g, d.log))); diff != "" {
			t.Fatalf("replayed (-rules +replay):\n%s", diff)
		}
		checkPaths(t, d.state)
	})
}

// checkPaths: every path that a State tells leads to the step that it names.
func checkPaths(t *rapid.T, s *State) {
	s.All(func(path ID, n *Node, _ Status, r *Result) {
		if p := s.find(path); p.f == nil || p.f.def(p.i) != n || p.f.node(p.i).res != r || p.f.path(p.i) != path {
			t.Fatalf("%s leads elsewhere", path)
		}
	})
}

// TestContinueAnywhere: a State that was read back from any prefix of a journal can
// continue in place of the one that wrote it.
func TestContinueAnywhere(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, _ := oracle(steps, "", false)
		g := graphOf(t, steps, Settings{})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		crash := rapid.IntRange(1, 60).Draw(t, "crash in turn")
		d.turns = func(turn int) {
			if turn == crash {
				d.resume(replay(t, g, d.log))
				d.decide()
			}
		}
		d.run()
		if diff := cmp.Diff(want, states(d.state)); diff != "" {
			t.Fatalf("end states (-rules +driver):\n%s", diff)
		}
	})
}

// TestCancelAnywhere: a run that is cancelled at any moment ends with every step settled,
// and replays to the same states.
func TestCancelAnywhere(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := hastyGen().Draw(t, "script")
		g := graphOf(t, steps, Settings{FailFast: rapid.Bool().Draw(t, "fail-fast")})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		when := rapid.IntRange(1, 60).Draw(t, "cancel in turn")
		d.turns = func(turn int) {
			if turn == when && d.state.result == nil {
				d.cancel()
				d.decide()
			}
		}
		d.run()
		d.state.All(func(path ID, _ *Node, st Status, _ *Result) {
			if !st.Settled() {
				t.Fatalf("%s ends %s", path, st)
			}
		})
		if diff := cmp.Diff(states(d.state), states(replay(t, g, d.log))); diff != "" {
			t.Fatalf("end states (-driver +replay):\n%s", diff)
		}
	})
}

// TestRunAnyGraph: with real workers Run gives the same result, never uses more slots than
// there are, and its events are complete.
func TestRunAnyGraph(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, total := oracle(steps, "", false)
		slots := rapid.IntRange(1, 8).Draw(t, "slots")
		var running, most atomic.Int32
		nodes := nodesOf(t, steps)
		watch(nodes, &running, &most)
		g, err := New(nodes, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var log []Event
		shared := NewSlots(slots)
		answers := make(chan Answer, 1000)
		s, err := Run(context.Background(), g, nil, Options{ID: "run", Slots: shared, Answers: answers, Attended: true,
			Sinks: []Sink{SinkFunc(func(e Event) {
				log = append(log, e)
				if a := asked(e); a != nil {
					answers <- *a
				}
			})}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, states(s)); diff != "" {
			t.Fatalf("end states (-rules +Run):\n%s", diff)
		}
		if got := s.Result().Status.String(); got != total {
			t.Fatalf("the run ends %s, want %s", got, total)
		}
		if int(most.Load()) > slots {
			t.Fatalf("%d leaves ran at once with %d slots", most.Load(), slots)
		}
		checkParallel(t, steps, log)
		if shared.free != slots || len(shared.queue) > 0 {
			t.Fatalf("%d slots are free afterwards and %d runs queue, want %d and none", shared.free, len(shared.queue), slots)
		}
		if diff := cmp.Diff(want, states(replay(t, g, log))); diff != "" {
			t.Fatalf("replayed (-rules +replay):\n%s", diff)
		}
	})
}

// checkParallel: by what the events tell, no loop ever had more items active than
// it may.
func checkParallel(t *rapid.T, steps []step, log []Event) {
	most := map[string]int{}
	bounds(steps, "", most)
	under := map[string]map[ID]bool{}
	for _, e := range log {
		path, isItem := strings.CutSuffix(withoutTries(string(e.Node)), "]")
		if !isItem {
			continue
		}
		loop := string(e.Node[:strings.LastIndexByte(string(e.Node), '[')])
		path = path[:strings.LastIndexByte(path, '[')]
		if under[loop] == nil {
			under[loop] = map[ID]bool{}
		}
		switch e.Kind {
		case StepStarted:
			under[loop][e.Node] = true
		case StepFinished:
			delete(under[loop], e.Node)
		}
		if bound := most[anyKey.ReplaceAllString(path, "[]")]; bound > 0 && len(under[loop]) > bound {
			t.Fatalf("%d items of %s are active, want at most %d", len(under[loop]), loop, bound)
		}
	}
}

var anyKey = regexp.MustCompile(`\[[^\]]*\]`)

func bounds(steps []step, prefix string, most map[string]int) {
	for _, st := range steps {
		path := prefix + st.id
		if st.loop != nil {
			most[path] = st.loop.parallel
			bounds([]step{st.loop.item}, path+"[]", most)
		}
		bounds(st.inner, path+"/", most)
	}
}

// watch counts how many runners of the nodes run at once, nested ones too, and takes
// the waits out of them.
func watch(nodes []Node, running, most *atomic.Int32) {
	counted := func(r Runner) Runner {
		return RunnerFunc(func(ctx context.Context, c *Call) (Result, error) {
			now := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			return r.Run(ctx, c)
		})
	}
	for i := range nodes {
		watchNode(&nodes[i], counted)
	}
}

func watchNode(n *Node, counted func(Runner) Runner) {
	n.Policy.Backoff = Backoff{} // this clock is real
	if n.Policy.Repeat != nil {
		n.Policy.Repeat.Backoff = Backoff{}
	}
	if n.Runner != nil && !n.NoSlot {
		n.Runner = counted(n.Runner)
	}
	if n.Policy.Fallback != nil {
		n.Policy.Fallback = counted(n.Policy.Fallback)
	}
	if n.Graph != nil {
		for i := range n.Graph.nodes {
			watchNode(&n.Graph.nodes[i], counted)
		}
	}
	if n.Each != nil {
		watchNode(&n.Each.Item, counted)
	}
}
