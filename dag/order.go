package dag

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// OrderKind is what an Order asks for.
type OrderKind string

// The kinds of orders.
const (
	OrderRun       OrderKind = "run"
	OrderFallback  OrderKind = "fallback"
	OrderBind      OrderKind = "bind"      // compute the arguments of a graph, or the items of a loop
	OrderComplete  OrderKind = "complete"  // complete the result of a graph or a loop
	OrderCondition OrderKind = "condition" // evaluate When
	OrderRetry     OrderKind = "retry"     // evaluate Policy.RetryIf
	OrderRepeat    OrderKind = "repeat"    // ask Repeat.Done
)

// Order is a Task in a form that another process can carry out. It contains the results
// that the node may read, and those that the nodes around it may read, but no arguments:
// they may contain secrets.
type Order struct {
	Kind    OrderKind `json:"kind"`
	Path    ID        `json:"path"` // of the node, or of the one that holds the graph or loop to complete
	Attempt int       `json:"attempt,omitempty"`
	Round   int       `json:"round,omitempty"` // 0 means 1
	Until   time.Time `json:"until,omitzero"`  // when the attempt must have ended
	// Given is the result that the attempt follows, that a rule for retries is asked about,
	// or that is to be completed.
	Given     *Result `json:"given,omitempty"`
	Tainted   bool    `json:"tainted,omitempty"`
	Cancelled bool    `json:"cancelled,omitempty"` // the condition sees the run as cancelled
	Walks     []Walk  `json:"walks"`               // the graphs and loops around the node, outermost first
}

// Walk is one graph or loop around the node of an Order.
type Walk struct {
	Part    string       `json:"part,omitempty"` // the node that holds it in the walk before: its id, or [KEY]
	Attempt int          `json:"attempt,omitempty"`
	Started time.Time    `json:"started"`
	Items   int          `json:"items,omitempty"` // number and digest of the items of a loop
	Digest  string       `json:"digest,omitempty"`
	Results []NodeResult `json:"results,omitempty"` // those that may be read
}

// NodeResult is the result of a node.
type NodeResult struct {
	Node    ID      `json:"node"`
	Result  *Result `json:"result"`
	Culprit ID      `json:"culprit,omitempty"`
}

// Outcome is the result of an Order.
type Outcome struct {
	Result     Result   `json:"result"`
	Permanent  bool     `json:"permanent,omitempty"`   // a retry cannot help
	RetryAfter int32    `json:"retry_after,omitempty"` // of the Result
	Items      int      `json:"items,omitempty"`
	Keys       []string `json:"keys,omitempty"`
	Digest     string   `json:"digest,omitempty"`
	Yes        bool     `json:"yes,omitempty"` // the answer of a condition or rule
}

// Order returns what is needed to carry out the task in another process.
func (t Task) Order() *Order {
	kind, given := OrderRun, t.previous
	v := t.at.view()
	switch {
	case t.completes != nil:
		kind, given, v = OrderComplete, t.res, View{f: t.completes, i: -1}
	case t.bind:
		kind = OrderBind
	case t.fallback:
		kind = OrderFallback
	}
	o := v.order(kind, given)
	o.Attempt, o.Until = t.attempt, t.until
	if t.round > 1 {
		o.Round = int(t.round)
	}
	return o
}

// Node returns the node that the task is for, nil for the run itself.
func (t Task) Node() *Node {
	if t.at.f == nil {
		return nil
	}
	return t.at.f.def(t.at.i)
}

// order returns an Order for the node of a View.
func (v View) order(kind OrderKind, given *Result) *Order {
	o := &Order{Kind: kind, Path: v.f.path(v.i), Given: given, Cancelled: v.Stopped()}
	if v.i >= 0 {
		o.Tainted = v.f.nodes[v.i].tainted
	}
	for f, i := v.f, v.i; f != nil; f, i = f.parent.f, f.parent.i {
		o.Walks = append([]Walk{f.walkOrder(i)}, o.Walks...)
	}
	return o
}

// walkOrder describes a frame for an Order about node i, or about a node inside it.
func (f *frame) walkOrder(i int32) Walk {
	w := Walk{Started: f.started}
	if up := f.parent; up.f != nil {
		w.Part, w.Attempt = up.f.part(up.i), int(up.f.node(up.i).attempt)
	}
	if l, ok := f.walk.(*loopWalk); ok {
		w.Items, w.Digest = l.count, l.digest
	}
	add := func(j int32) {
		if r := f.nodes[j].res; r != nil {
			w.Results = append(w.Results, NodeResult{Node: ID(f.part(j)), Result: r, Culprit: r.Culprit})
		}
	}
	if i < 0 {
		for j := range f.nodes {
			add(int32(j))
		}
		return w
	}
	g, ok := f.walk.(graphWalk)
	if !ok {
		return w
	}
	for _, id := range g.nodes[i].After {
		j := g.index[id]
		if add(j); g.nodes[j].isJoin() && g.nodes[j].Summarizes != nil {
			for _, member := range g.nodes[j].After {
				add(g.index[member])
			}
		}
	}
	return w
}

// part returns the part of a path that names node i: its id, or [KEY].
func (f *frame) part(i int32) string {
	if g, ok := f.walk.(graphWalk); ok {
		return string(g.nodes[i].ID)
	}
	return "[" + f.walk.(*loopWalk).key(i) + "]"
}

// Performer carries out orders of one run. It is safe for concurrent use.
type Performer struct {
	Run   string
	Graph *Graph
	Args  Args

	bound sync.Map // arguments of graphs and items of loops, by the prefix of their frame
}

// Perform carries out an Order as a worker of Run would. The error means that the engine
// could not do its job.
func (p *Performer) Perform(ctx context.Context, o *Order) (out Outcome, err error) {
	s := NewState(p.Run, p.Graph, p.Args)
	f, failure, err := p.open(ctx, s, o)
	if err != nil || failure != nil {
		if failure != nil {
			out.Result, out.Permanent = *failure, failure.Permanent
		}
		return out, err
	}
	if o.Kind == OrderComplete {
		t := &task{completes: f, res: o.Given}
		t.complete()
		return Outcome{Result: *t.res}, nil
	}
	_, last := o.Path.last()
	i, ok := f.walk.lookup(last)
	if !ok {
		return out, fmt.Errorf("the run has no step %s", o.Path)
	}
	at := place{f, i}
	f.nodes[i].tainted = o.Tainted
	switch o.Kind {
	case OrderCondition:
		v := at.view()
		v.assumeCancelled = o.Cancelled
		if out.Yes, err = f.def(i).When.Eval(v); err != nil {
			out.Result, err = Result{Message: err.Error()}, nil
		}
		return out, err
	case OrderRetry:
		out.Yes = f.def(i).Policy.RetryIf(at.view(), o.Given)
		return out, nil
	case OrderRepeat:
		if out.Yes, err = f.def(i).Policy.Repeat.Done(at.view(), o.Given); err != nil {
			out.Result, err = Result{Message: err.Error()}, nil
		}
		return out, err
	}
	f.nodes[i].attempt = int32(o.Attempt)
	t := &task{at: at, ctx: ctx, attempt: o.Attempt, round: int32(max(o.Round, 1)), until: o.Until, bind: o.Kind == OrderBind, fallback: o.Kind == OrderFallback, previous: o.Given, res: new(Result)}
	(&pool{run: p.Run}).execute(t, new(Call))
	out.Result, out.Permanent, out.RetryAfter = *t.res, t.res.Permanent, t.res.RetryAfter
	if t.items != nil {
		out.Items, out.Keys, out.Digest = t.items.Len(), t.items.Keys(), t.items.Digest()
	}
	return out, t.err
}

// open builds the frames around the node of an Order, with the results that may be read, and
// returns the innermost one. failure is the result of a step whose arguments cannot be
// computed here.
func (p *Performer) open(ctx context.Context, s *State, o *Order) (f *frame, failure *Result, err error) {
	for level, w := range o.Walks {
		if level == 0 {
			f = s.root
		} else if f, failure, err = p.enter(ctx, s, f, &w); err != nil || failure != nil {
			return nil, failure, err
		}
		f.started = w.Started
		for _, r := range w.Results {
			if i, ok := f.walk.lookup(string(r.Node)); ok {
				r.Result.Culprit = r.Culprit
				f.nodes[i].res, f.nodes[i].status = r.Result, r.Result.Status
			}
		}
	}
	return f, nil, nil
}

// enter opens the frame of a graph or loop inside f and gives it its arguments.
func (p *Performer) enter(ctx context.Context, s *State, f *frame, w *Walk) (*frame, *Result, error) {
	i, ok := f.walk.lookup(w.Part)
	if !ok {
		return nil, nil, fmt.Errorf("the run has no step %s in %q", w.Part, f.prefix)
	}
	at := place{f, i}
	s.startNode(at, &Event{Attempt: w.Attempt, Time: w.Started})
	c := f.children[i]
	if c == nil {
		return nil, nil, fmt.Errorf("there is nothing inside step %s", f.path(i))
	}
	if c.bound {
		return c, nil, nil
	}
	t := &task{at: at, ctx: ctx, attempt: w.Attempt, bind: true, res: new(Result)}
	if known, ok := p.bound.Load(c.prefix); ok {
		t.args, t.items = known.(*task).args, known.(*task).items
	} else {
		(&pool{run: p.Run}).execute(t, new(Call))
		if t.err != nil || t.res.Status != Pending {
			return nil, t.res, t.err
		}
		p.bound.Store(c.prefix, &task{args: t.args, items: t.items})
	}
	if l, ok := c.walk.(*loopWalk); ok {
		if t.items.Len() != w.Items || w.Digest != "" && t.items.Digest() != w.Digest {
			return nil, nil, errors.New("the items of step " + string(f.path(i)) + " are not the same on every worker")
		}
		l.count, l.keys, l.digest, l.items = w.Items, t.items.Keys(), w.Digest, t.items
		c.expanded, c.nodes = true, make([]nodeState, w.Items)
	}
	c.args, c.bound = t.args, true
	return c, nil, nil
}
