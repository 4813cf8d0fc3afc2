package dag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// step is a node told as data: what it waits for, when it runs, and what each of
// its tries does. The same steps make a Graph (graphOf) and are judged by the
// oracle, which knows nothing of graphs.
type step struct {
	id       string
	after    []string
	when     string   // "" or the name of one of conditions
	tries    []string // words of results; the last one repeats
	retries  int
	delay    time.Duration // before each retry
	repeat   *repeatStep
	fallback string // word, "" for none
	tolerate bool
	aside    bool
	idle     bool // it takes no slot
	join     bool
	inner    []step // a nested graph
	bind     string // of a nested graph: "" none, "ok", "refused"
	within   bool   // of a nested graph: its steps see what it sees
	loop     *loopStep
}

// repeatStep is how often a step runs that repeats.
type repeatStep struct {
	done     int  // the condition holds from this attempt on; 0 is never
	errs     bool // the condition cannot be evaluated
	max      int
	failures bool // the condition is asked about failed rounds too
	every    time.Duration
	timeout  time.Duration
}

func (r *repeatStep) policy() *Repeat {
	if r == nil {
		return nil
	}
	return &Repeat{Max: r.max, Failures: r.failures, Timeout: r.timeout, Backoff: Backoff{Delay: r.every, Growth: Constant},
		Done: func(_ View, res *Result) (bool, error) {
			if r.errs {
				return false, errors.New("the step printed nothing")
			}
			return r.done > 0 && res.Attempts >= r.done, nil
		}}
}

// loopStep is what a step that is a loop does.
type loopStep struct {
	item     step       // what runs for each item: it has no id and waits for nothing
	keys     []string   // what the items are called
	numbered bool       // they are called 0, 1, 2 ... after all
	words    [][]string // what the tries of each item do, where the item is a leaf
	refused  string     // "error", or "twice": two have the same key; "" is neither
	parallel int
	least    int  // that must succeed
	hasty    bool // stops at once when it can no longer succeed
}

func (l *loopStep) key(i int) string {
	if l.numbered {
		return strconv.Itoa(i)
	}
	return l.keys[i]
}

// itemArgs are the arguments of an item.
type itemArgs struct {
	key string
	i   int
}

func (l *loopStep) Len() int        { return len(l.keys) }
func (l *loopStep) Args(i int) Args { return itemArgs{l.key(i), i} }
func (l *loopStep) Digest() string  { return "" }
func (l *loopStep) Keys() []string {
	switch {
	case l.refused == "twice":
		return slices.Repeat([]string{"same"}, len(l.keys))
	case l.numbered:
		return nil
	}
	return l.keys
}

func (l *loopStep) items(context.Context, *Call) (Items, error) {
	if l.refused == "error" {
		return nil, errors.New("the list cannot be read")
	}
	return l, nil
}

// condition is a condition as people write it and as the engine is given it.
type condition struct {
	name string
	when *When
}

var conditions = []condition{
	{"", nil},
	{"{a.output} == 'x'", when(UsesResults, func(View) bool { return true })},
	{"{a.output} == 'y'", when(UsesResults, func(View) bool { return false })},
	{"{a.output} > 1", &When{Eval: func(View) (bool, error) { return false, errors.New(`"x" is no number`) }}},
	{"success()", when(UsesOutcome, func(v View) bool { return !v.Tainted() })},
	{"failure()", when(UsesOutcome, View.Tainted)},
	{"success() || failure()", when(UsesOutcome, func(View) bool { return true })},
	{"always()", when(UsesCancel, func(View) bool { return true })},
	{"cancelled()", when(UsesCancel, View.Stopped)},
	{"!cancelled()", when(UsesCancel, func(v View) bool { return !v.Stopped() })},
	{"always() && success()", when(UsesCancel, func(v View) bool { return !v.Tainted() })},
	{"failure() || cancelled()", when(UsesCancel, func(v View) bool { return v.Tainted() || v.Stopped() })},
}

func when(sees Uses, holds func(View) bool) *When {
	return &When{Uses: sees, Eval: func(v View) (bool, error) { return holds(v), nil }}
}

func whenCalled(name string) *When {
	i := slices.IndexFunc(conditions, func(c condition) bool { return c.name == name })
	if i < 0 {
		panic("no condition is called " + name)
	}
	return conditions[i].when
}

// results are what the words of a script stand for. A runner answers each of them
// at once, but hang, which waits to be stopped.
var results = map[string]Result{
	"ok":        {Status: Succeeded},
	"reused":    {Status: Reused},
	"fail":      {Status: Failed, ExitCode: 3, Reason: ReasonExit},
	"timeout":   {Status: TimedOut, ExitCode: ExitTimeout, Reason: ReasonTimeout},
	"permanent": {Status: Failed, ExitCode: 4, Reason: ReasonInput, Permanent: true},
	"hang":      {Status: Failed, ExitCode: 143},

	// What waits: for a time, or for the answer that its kind says.
	"later":      {Status: Waiting, Wait: &Wait{Kind: "time"}},
	"later-fail": {Status: Waiting, Wait: &Wait{Kind: "time", Then: &Result{Status: Failed, ExitCode: 5, Reason: "late"}}},
	"ask":        {Status: Waiting, Wait: &Wait{Kind: "ok", Asks: true}},
	"ask-fail":   {Status: Waiting, Wait: &Wait{Kind: "fail", Asks: true}},
	"ask-late":   {Status: Waiting, Wait: &Wait{Kind: "", Asks: true, Then: &Result{Status: Failed, ExitCode: 5, Reason: "late"}}},
}

// shortly is how long the words that wait for a time do so.
const shortly = 2 * time.Millisecond

// asked is what answers an event that asks: nil where nothing is asked, or nobody
// answers in time.
func asked(e Event) *Answer {
	if e.Kind != StepWaiting || e.Result.Wait.Kind == "time" || e.Result.Wait.Kind == "" {
		return nil
	}
	r := results[e.Result.Wait.Kind]
	if r.Status == Succeeded {
		r.Stdout = &Output{Raw: "yes", Inline: "yes", Size: 3}
	}
	return &Answer{Node: e.Node, Wait: e.Seq, Result: &r}
}

// says is a Runner whose n-th try does the n-th word.
func says(words ...string) Runner {
	return RunnerFunc(func(ctx context.Context, c *Call) (Result, error) {
		w := words[min(c.Attempt, len(words))-1]
		r, ok := results[w]
		if !ok {
			return r, fmt.Errorf("no result is called %q", w)
		}
		if w == "hang" {
			<-ctx.Done()
		}
		if r.Wait != nil {
			wait := *r.Wait
			if r.Wait = &wait; wait.Kind == "time" || wait.Kind == "" {
				r.Wait.Until = time.Now().Add(shortly)
			}
		} else if r.Status != Skipped {
			r.Stdout = &Output{Raw: string(c.Path), Inline: string(c.Path)}
		}
		return r, nil
	})
}

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func graphOf(t fataler, steps []step, s Settings) *Graph {
	t.Helper()
	return surroundings{}.graph(t, steps, s)
}

func (in surroundings) graph(t fataler, steps []step, s Settings) *Graph {
	t.Helper()
	g, err := New(in.nodes(t, steps), s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func nodesOf(t fataler, steps []step) []Node {
	t.Helper()
	return surroundings{}.nodes(t, steps)
}

// surroundings are what steps can count on, whatever happens to them. Every runner,
// condition and retry looks whether it is there.
type surroundings struct {
	sees []string // steps whose results can be seen from outside
	item bool     // the arguments are those of an item
	none bool     // nothing is sure: the journal may have lied
}

func (in surroundings) nodes(t fataler, steps []step) []Node {
	t.Helper()
	joins := map[string]bool{}
	var nodes []Node
	for _, st := range steps {
		joins[st.id] = st.join
		here := in
		for _, up := range st.after {
			if joins[up] { // it has no result, and hides what has the same name outside
				here.sees = slices.DeleteFunc(slices.Clone(here.sees), func(id string) bool { return id == up })
			} else {
				here.sees = append(slices.Clip(here.sees), up)
			}
		}
		nodes = append(nodes, here.node(t, st))
	}
	return nodes
}

func (in surroundings) node(t fataler, st step) Node {
	t.Helper()
	n := Node{ID: ID(st.id), Cleanup: st.aside, NoSlot: st.idle, When: in.when(whenCalled(st.when)),
		Policy: Policy{Attempts: st.retries, Tolerate: st.tolerate, Backoff: Backoff{Delay: st.delay}, Repeat: st.repeat.policy()}}
	n.Policy.RetryIf = func(v View, _ *Result) bool {
		if err := in.check(v); err != nil {
			panic(err)
		}
		return true
	}
	for _, up := range st.after {
		n.After = append(n.After, ID(up))
	}
	if st.fallback != "" {
		n.Policy.Fallback = in.runner(says(st.fallback))
	}
	switch {
	case st.join:
	case st.loop != nil:
		n.Each = in.each(t, st.loop)
	case st.inner != nil:
		inner := surroundings{item: in.item && st.bind == "", none: in.none}
		if st.within {
			inner.sees = in.sees
		}
		n.Graph, n.Bind = inner.graph(t, st.inner, Settings{InheritResults: st.within}), binds(st.bind)
	case len(st.tries) == 0:
		n.Runner = in.runner(says("ok"))
	default:
		n.Runner = in.runner(says(st.tries...))
	}
	return n
}

func (in surroundings) each(t fataler, l *loopStep) *Each {
	in.item = true
	e := &Each{Items: l.items, Item: in.node(t, l.item), Parallel: l.parallel, MinSuccess: l.least, FailFast: l.hasty}
	if e.Item.Runner != nil {
		e.Item.Runner = in.runner(RunnerFunc(func(ctx context.Context, c *Call) (Result, error) {
			a := c.Args().(itemArgs)
			if !strings.HasSuffix(string(c.Path), "["+a.key+"]") {
				return Result{}, fmt.Errorf("%s has the arguments of item %q", c.Path, a.key)
			}
			return says(l.words[a.i]...).Run(ctx, c)
		}))
	}
	return e
}

// check says what is missing.
func (in surroundings) check(v View) error {
	if in.none {
		return nil
	}
	if _, ok := v.Args().(itemArgs); in.item && !ok {
		return fmt.Errorf("the arguments are %v, want those of an item", v.Args())
	}
	for _, id := range in.sees {
		if v.Result(ID(id)) == nil {
			return fmt.Errorf("the result of %s cannot be seen", id)
		}
	}
	return nil
}

func (in surroundings) runner(r Runner) Runner {
	return RunnerFunc(func(ctx context.Context, c *Call) (Result, error) {
		if err := in.check(c.View); err != nil {
			return Result{}, err
		}
		return r.Run(ctx, c)
	})
}

func (in surroundings) when(w *When) *When {
	if w == nil {
		return nil
	}
	return &When{Uses: w.Uses, Eval: func(v View) (bool, error) {
		if err := in.check(v); err != nil {
			panic(err)
		}
		return w.Eval(v)
	}}
}

func binds(how string) func(context.Context, *Call) (Args, error) {
	switch how {
	case "":
		return nil
	case "refused":
		return func(context.Context, *Call) (Args, error) { return nil, errors.New("a parameter is missing") }
	}
	return func(_ context.Context, c *Call) (Args, error) { return c.Path, nil }
}

// states are where every step of a run stands, by path, as one line each would
// show it: the state, why, and whether anybody minds.
func states(s *State) map[string]string {
	m := map[string]string{}
	s.All(func(path ID, _ *Node, st Status, r *Result) {
		m[withoutTries(string(path))] = describe(st, r)
	})
	return m
}

func describe(st Status, r *Result) string {
	text := st.String()
	if r != nil && (st == Skipped || st == Cancelled && r.Reason != ReasonCancelled) {
		text += " (" + r.Reason + ")"
	}
	if r != nil && r.Tolerated {
		text += " tolerated"
	}
	return text
}
