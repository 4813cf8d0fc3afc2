package dag

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ID names a node: within its Graph a step's name, in events a path such as
// setup/clone, or setup#2/clone for the second try of setup.
type ID string

// Args is what a graph was called with. The kernel passes it through untouched
// and never looks inside; it must not change once handed over.
type Args any

// Node is one place in a Graph.
type Node struct {
	ID    ID
	After []ID // what it waits for directly
	// When decides whether the node runs once everything in After has settled;
	// nil runs it unless it is tainted.
	When *When

	// Runner makes the node a leaf; Graph makes it a nested graph, whose Args
	// Bind computes (in a worker, with the results of After at hand; nil hands on
	// those of the outer graph). What Bind refuses fails with ReasonInput. Each makes
	// it a loop, of whose Policy only Tolerate and Timeout have a meaning. A node with
	// none of these is a join: it emits no events and passes taint on.
	Runner Runner
	Graph  *Graph
	Bind   func(ctx context.Context, c *Call) (Args, error)
	Each   *Each

	// Summarizes makes a join sum up those of After that it names: what waits for the join
	// finds under its id what they come to, as a graph. It sees what the join waits
	// for, and is not tainted by it.
	Summarizes []ID

	Policy Policy

	// DurableStart marks a leaf of which no try may begin before the journal holds that it
	// does, whatever happens to the machine: one that must never run twice unasked.
	DurableStart bool

	// Cleanup marks a node that cleans up after the others: it has its events and its
	// result, but neither its failure nor its output is the graph's.
	Cleanup bool

	// NoSlot marks a leaf whose work is to wait for something outside: its tries hold no
	// slot, and begin however many others wait for one. Its fallback is ordinary work.
	NoSlot bool

	// NoOutput marks a node whose output is never the graph's, though its failure is.
	NoOutput bool
}

// When is a condition.
type When struct {
	// Eval is called from the goroutine that owns the run and must be a pure
	// function of the View. An error fails the node with ReasonCondition.
	Eval func(View) (bool, error)
	// Uses says what the condition looks at by itself.
	Uses Uses
}

// Uses says which outcomes a condition judges itself.
type Uses uint8

const (
	// UsesResults: success() is implied, and a cancel keeps it from running.
	UsesResults Uses = iota
	// UsesOutcome: it calls success() or failure(), so it is asked when tainted.
	UsesOutcome
	// UsesCancel: it calls always() or cancelled(), so it is asked after a cancel too.
	UsesCancel
)

// Runner does the work of a leaf. Run is called in a worker goroutine; the Call is
// valid until it returns. A failed step is a Result, an error stops the whole run.
//
// A Result with the zero Status is judged by its exit code; Succeeded, Reused,
// Skipped, Failed and TimedOut stand as they are, Waiting does with a Wait that can
// end, and any other Status is Failed. Run
// must return soon after ctx is done; context.Cause tells why. Then only success
// counts: everything else, an error too, is taken for the stop that was asked for.
type Runner interface {
	Run(ctx context.Context, c *Call) (Result, error)
}

// RunnerFunc is a function as a Runner.
type RunnerFunc func(ctx context.Context, c *Call) (Result, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, c *Call) (Result, error) { return f(ctx, c) }

// Call is one try of one node.
type Call struct {
	View
	Run      string  // the run's id
	Path     ID      // the node's path in the run
	Attempt  int     // counts from 1; the fallback has that of the last try
	Previous *Result // of the try before; nil on the first
}

// Graph is nodes and edges, checked and ready to walk. It is immutable and may
// be walked by many runs at once.
type Graph struct {
	nodes []Node
	index map[ID]int32
	// Edges as two flat arrays: the dependents of node i are
	// out[outAt[i]:outAt[i+1]]. waits[i] is how many nodes i waits for.
	out, outAt, waits []int32
	steps             int32 // nodes that are not joins

	settings Settings
}

// Settings are what holds for a Graph as a whole.
type Settings struct {
	// FailFast cancels what still runs or waits at the first untolerated failure.
	FailFast bool
	// Timeout bounds one walk of the graph; 0 is none.
	Timeout time.Duration
	// InheritResults lets the nodes see the results that the node holding the graph sees.
	InheritResults bool
	// Finish may complete the graph's result (its output, its value) before it is
	// recorded. It is called in a worker, when all nodes have settled.
	Finish func(View, *Result)
}

// New checks the nodes, which must stand in plan order, and makes a Graph of
// them. Errors: a duplicate or unknown id, one that cannot stand in a path, a loop
// whose item does nothing, or a *CycleError.
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

// needsSlot says whether a try of the node takes a slot.
func (n *Node) needsSlot() bool { return n.isLeaf() && !n.NoSlot }

// connect fills the flat edge arrays: a counting sort by upstream node.
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

// CycleError is a circle of waiting: each node waits for the next, the last for
// the first.
type CycleError struct{ Path []ID }

func (e *CycleError) Error() string {
	words := make([]string, len(e.Path)+1)
	for i, id := range e.Path {
		words[i] = string(id)
	}
	words[len(e.Path)] = words[0]
	return "cycle: " + strings.Join(words, " waits for ")
}

// cycle finds a circle if there is one: whatever Kahn's algorithm cannot remove
// still waits, so following any upstream of such a node must come back.
func (g *Graph) cycle() *CycleError {
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
	e := &CycleError{}
	for _, i := range path {
		if !g.nodes[i].isJoin() {
			e.Path = append(e.Path, g.nodes[i].ID)
		}
	}
	return e
}

func (g *Graph) dependents(i int32) []int32 { return g.out[g.outAt[i]:g.outAt[i+1]] }

// Len is how many nodes that are not joins the graph has, nested ones not counted.
func (g *Graph) Len() int { return int(g.steps) }

// Nodes are the graph's nodes in plan order, joins included. The slice must not
// be changed.
func (g *Graph) Nodes() []Node { return g.nodes }

// Node is the node with that id.
func (g *Graph) Node(id ID) (*Node, bool) {
	i, ok := g.index[id]
	if !ok {
		return nil, false
	}
	return &g.nodes[i], true
}
