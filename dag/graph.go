package dag

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ID names a node. Within its Graph it is the name of a step. In events it is a path such
// as setup/clone, or setup#2/clone for the second attempt of setup.
type ID string

// Args are the arguments of one call of a graph. Package dag passes the value on and never
// reads it. It must not change after it was passed.
type Args any

// Node is one node of a Graph.
type Node struct {
	ID    ID
	After []ID // the nodes it directly waits for
	// When decides whether the node runs, after everything in After has settled. If it is
	// nil, the node runs unless it is tainted.
	When *When

	// Runner makes the node a leaf. Graph makes it a nested graph: Bind computes its Args,
	// in a worker that can read the results of After. If Bind is nil, the nested graph gets
	// the Args of the outer one. If Bind returns an error, the node fails with ReasonInput.
	// Each makes the node a loop; of a loop's Policy only Tolerate and Timeout apply. A
	// node with none of these is a join: it emits no events and passes taint on.
	Runner Runner
	Graph  *Graph
	Bind   func(ctx context.Context, c *Call) (Args, error)
	Each   *Each

	// Summarizes makes a join summarize the nodes of After that it names. A node that waits
	// for the join finds the summary under the id of the join: their result, as if they
	// were a graph. Such a node can also read every result that the join waits for, and the
	// join does not taint it.
	Summarizes []ID

	Policy Policy

	// Claim is something that runs share, and that each attempt of a leaf holds: see
	// Options.Acquire. Package dag does not read it; nil means nothing.
	Claim any

	// DurableStart marks a leaf that must never run twice without a person's consent. No
	// attempt starts before the journal has made its start durable, so that even a power
	// cut cannot lose it.
	DurableStart bool

	// Cleanup marks a node that cleans up after the others. It has events and a result, but
	// neither its failure nor its output becomes that of the graph.
	Cleanup bool

	// NoSlot marks a leaf that only waits for something outside. Its attempts hold no slot
	// and start even when all slots are in use. Its fallback needs a slot like any other.
	NoSlot bool

	// NoOutput marks a node whose output never becomes that of the graph, although its
	// failure does.
	NoOutput bool
}

// When is the condition of a node.
type When struct {
	// Eval is called by the goroutine that owns the run. It must be a pure function of the
	// View. An error fails the node with ReasonCondition.
	Eval func(View) (bool, error)
	// Uses classifies the condition by the functions about the outcome that it calls.
	Uses Uses
}

// Uses classifies a condition by the outcomes that it checks itself.
type Uses uint8

const (
	// UsesResults marks a condition without such functions: success() is implied, and after
	// a cancel the node does not run.
	UsesResults Uses = iota
	// UsesOutcome marks a condition that calls success() or failure(). It is evaluated for
	// a tainted node too.
	UsesOutcome
	// UsesCancel marks a condition that calls always() or cancelled(). It is evaluated
	// after a cancel too.
	UsesCancel
)

// Runner does the work of a leaf. Run is called in a worker goroutine; the Call is valid
// until it returns. A step that failed is a Result. An error stops the whole run.
//
// A Result with the zero Status is judged by its exit code. The statuses Succeeded, Reused,
// Skipped, Failed and TimedOut are kept, and so is Waiting with a Wait that can end. Any
// other Status becomes Failed.
//
// Run must return soon after ctx is done; context.Cause gives the reason. After that only
// success counts: any other result, also an error, is recorded as the timeout or cancel
// that ended ctx.
type Runner interface {
	Run(ctx context.Context, c *Call) (Result, error)
}

// RunnerFunc is a function that implements Runner.
type RunnerFunc func(ctx context.Context, c *Call) (Result, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, c *Call) (Result, error) { return f(ctx, c) }

// Call is one attempt of one node.
type Call struct {
	View
	Run      string  // id of the run
	Path     ID      // path of the node in the run
	Attempt  int     // counts from 1; for the fallback, that of the last attempt
	Round    int     // counts from 1; see Repeat
	Previous *Result // result of the attempt before; nil for the first
}

// Graph is a list of nodes with edges, checked and ready to run. It is immutable; any
// number of runs may use it at the same time.
type Graph struct {
	nodes []Node
	index map[ID]int32
	// The edges as flat arrays: the dependents of node i are out[outAt[i]:outAt[i+1]], and
	// waits[i] counts the nodes that i waits for.
	out, outAt, waits []int32
	steps             int32 // number of nodes that are not joins

	settings Settings
}

// Settings apply to a Graph as a whole.
type Settings struct {
	// FailFast cancels everything that still runs or waits after the first failure that is
	// not tolerated.
	FailFast bool
	// Timeout limits one walk of the graph; 0 means no limit.
	Timeout time.Duration
	// InheritResults lets the nodes read the results that are visible to the node which
	// holds the graph.
	InheritResults bool
	// Finish may complete the result of the graph (its output, its value) before it is
	// recorded. A worker calls it after all nodes have settled.
	Finish func(View, *Result)
}

// New checks the nodes, which must be in plan order, and makes a Graph of them. It returns
// an error for a duplicate or unknown id, an id that cannot be part of a path, a loop whose
// item does nothing, and one that names the nodes of a cycle.
func New(nodes []Node, s Settings) (*Graph, error) {
	g := &Graph{nodes: nodes, index: make(map[ID]int32, len(nodes)), settings: s,
		outAt: make([]int32, len(nodes)+1), waits: make([]int32, len(nodes))}
	for i, n := range nodes {
		if _, dup := g.index[n.ID]; dup {
			return nil, fmt.Errorf("two nodes have the same id %q", n.ID)
		}
		if n.ID == "" || strings.ContainsAny(string(n.ID), "/#[]") {
			return nil, fmt.Errorf("invalid node id %q: an id must not be empty or contain any of / # [ ]", n.ID)
		}
		if n.Each != nil && n.Each.Item.isJoin() {
			return nil, fmt.Errorf("cannot loop in %q: its item has nothing to run", n.ID)
		}
		g.index[n.ID] = int32(i)
		if !n.isJoin() {
			g.steps++
		}
	}
	if err := g.connect(); err != nil {
		return nil, err
	}
	if c := g.cycle(); c != nil {
		return nil, c
	}
	return g, nil
}

func (n *Node) isJoin() bool { return n.Runner == nil && n.Graph == nil && n.Each == nil }

func (n *Node) isLeaf() bool { return n.Graph == nil && n.Each == nil }

// needsSlot reports whether an attempt of the node takes a slot.
func (n *Node) needsSlot() bool { return n.isLeaf() && !n.NoSlot }

// connect fills the flat edge arrays with a counting sort by upstream node.
func (g *Graph) connect() error {
	edges := 0
	for i, n := range g.nodes {
		for _, up := range n.After {
			u, ok := g.index[up]
			if !ok {
				return fmt.Errorf("cannot connect %q: it waits for %q, which does not exist", n.ID, up)
			}
			g.outAt[u+1]++
			g.waits[i]++
			edges++
		}
	}
	for i := range g.nodes {
		g.outAt[i+1] += g.outAt[i]
	}
	g.out = make([]int32, edges)
	fill := append([]int32(nil), g.outAt...)
	for i, n := range g.nodes {
		for _, up := range n.After {
			u := g.index[up]
			g.out[fill[u]] = int32(i)
			fill[u]++
		}
	}
	return nil
}

// cycleError reports a cycle: each node of path waits for the next, and the last for the
// first.
type cycleError struct{ path []ID }

func (e *cycleError) Error() string {
	words := make([]string, len(e.path)+1)
	for i, id := range e.path {
		words[i] = string(id)
	}
	words[len(e.path)] = words[0]
	return "cycle: " + words[0] + " waits for " + strings.Join(words[1:], ", which waits for ")
}

// cycle returns a cycle, or nil. A node that Kahn's algorithm cannot remove is on a cycle
// or downstream of one, so following its upstream nodes must come back to one already seen.
func (g *Graph) cycle() *cycleError {
	left := append([]int32(nil), g.waits...)
	var free []int32
	for i, n := range left {
		if n == 0 {
			free = append(free, int32(i))
		}
	}
	removed := 0
	for ; len(free) > 0; removed++ {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		for _, d := range g.dependents(i) {
			if left[d]--; left[d] == 0 {
				free = append(free, d)
			}
		}
	}
	if removed == len(g.nodes) {
		return nil
	}
	at := int32(0)
	for left[at] == 0 {
		at++
	}
	var path []int32
	seen := map[int32]int{}
	for {
		if start, seenBefore := seen[at]; seenBefore {
			path = path[start:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, up := range g.nodes[at].After {
			if u := g.index[up]; left[u] > 0 {
				at = u
				break
			}
		}
	}
	e := &cycleError{}
	for _, i := range path {
		if !g.nodes[i].isJoin() {
			e.path = append(e.path, g.nodes[i].ID)
		}
	}
	return e
}

func (g *Graph) dependents(i int32) []int32 { return g.out[g.outAt[i]:g.outAt[i+1]] }

// Len returns the number of nodes, without joins and without the nodes of nested graphs.
func (g *Graph) Len() int { return int(g.steps) }

// Nodes returns the nodes in plan order, joins included. The slice must not be changed.
func (g *Graph) Nodes() []Node { return g.nodes }

// Node returns the node with that id.
func (g *Graph) Node(id ID) (*Node, bool) {
	i, ok := g.index[id]
	if !ok {
		return nil, false
	}
	return &g.nodes[i], true
}
