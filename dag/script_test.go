package dag

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	fallback string        // word, "" for none
	tolerate bool
	aside    bool
	join     bool
	inner    []step // a nested graph
	bind     string // of a nested graph: "" none, "ok", "refused"
}

// condition is a condition as people write it and as the engine is given it.
type condition struct {
	name string
	when *When
}

var conditions = []condition{
	{"", nil},
	{"{a.output} == 'x'", when(SeesResults, func(View) bool { return true })},
	{"{a.output} == 'y'", when(SeesResults, func(View) bool { return false })},
	{"{a.output} > 1", &When{Eval: func(View) (bool, error) { return false, errors.New(`"x" is no number`) }}},
	{"success()", when(SeesOutcome, func(v View) bool { return !v.Tainted() })},
	{"failure()", when(SeesOutcome, View.Tainted)},
	{"success() || failure()", when(SeesOutcome, func(View) bool { return true })},
	{"always()", when(SeesCancel, func(View) bool { return true })},
	{"cancelled()", when(SeesCancel, View.Stopped)},
	{"!cancelled()", when(SeesCancel, func(v View) bool { return !v.Stopped() })},
	{"always() && success()", when(SeesCancel, func(v View) bool { return !v.Tainted() })},
	{"failure() || cancelled()", when(SeesCancel, func(v View) bool { return v.Tainted() || v.Stopped() })},
}

func when(sees Sees, holds func(View) bool) *When {
	return &When{Sees: sees, Eval: func(v View) (bool, error) { return holds(v), nil }}
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
		if r.Status != Skipped {
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
	g, err := New(nodesOf(t, steps), s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func nodesOf(t fataler, steps []step) []Node {
	t.Helper()
	var nodes []Node
	for _, st := range steps {
		n := Node{ID: ID(st.id), Aside: st.aside, When: whenCalled(st.when),
			Policy: Policy{Attempts: st.retries, Tolerate: st.tolerate, Backoff: Backoff{Delay: st.delay}}}
		for _, up := range st.after {
			n.After = append(n.After, ID(up))
		}
		if st.fallback != "" {
			n.Policy.Fallback = says(st.fallback)
		}
		switch {
		case st.join:
		case st.inner != nil:
			n.Graph, n.Bind = graphOf(t, st.inner, Settings{}), binds(st.bind)
		case len(st.tries) == 0:
			n.Runner = says("ok")
		default:
			n.Runner = says(st.tries...)
		}
		nodes = append(nodes, n)
	}
	return nodes
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
