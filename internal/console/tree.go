package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Scene is what the narration of a run knows of its plan. Steps are named by paths as
// they stand in events. Every function may be nil.
type Scene struct {
	// Tool is what runs.
	Tool string
	// Steps are the names of the steps inside a step, in plan order, those of the tool
	// for ""; none for one that runs a command.
	Steps func(path string) []string
	// Upstream are the steps that a step waits for directly.
	Upstream func(path string) []string
	// Handler says whether a step is a handler: that one is not called for is not told.
	Handler func(path string) bool
	// Lasting says whether a cancel leaves a step running: it cleans up.
	Lasting func(path string) bool
	// Pos is where a step is defined; line is 0 for one that is in no file.
	Pos func(path string) (file string, line, col int)
	// Command is what a step runs, as its author wrote it.
	Command func(path string) string
	// Logs are the files in which the output of a try that is under way may stand.
	Logs func(run, path string, attempt int) []string
}

// tree is what a View shows: the steps of a run, folded from its events. Every step
// stands in one chain of the step around it, by what is to be told of it, so that a
// frame costs what it shows and not the number of steps. What settled well inside a
// step that has settled is forgotten.
type tree struct {
	waits   string    // before the run begins: what it stands in line for
	waiting time.Time // since when
	scene   Scene
	root    *node
	nodes   map[dag.ID]*node // by path without tries
	run     string
	began   time.Time
	status  dag.Status // of the run
	notes   []string   // on it
	ended   time.Time
	stopped string // why the run is stopped, in words; "" while it is not

	total, settled  int // of the tool's own steps
	running, failed int // of all that hold no others
	recalling       bool
	echoed          bool // the run's output goes above the region as it is printed
}

// node is one step, or one item of a loop.
type node struct {
	path    dag.ID // as events have it, with tries
	name    string // cleaned
	up      *node
	order   int // in the plan, or of starting in a loop
	status  dag.Status
	attempt int
	began   time.Time // of the first try
	due     time.Time // of the next
	result  *dag.Result
	handler bool
	counted bool // among those running
	streams bool // what it prints is shown elsewhere
	inside  *branch
	waits   []string // for what it waited when last asked
	asked   bool
	tail    logTail // belongs to who draws

	prev, next *node
	on         *chain
}

// branch is what is inside a step.
type branch struct {
	loop                          bool
	items                         int
	good, bad, other              int
	unkept                        int // failures that are only counted
	pending, active, failed, done chain
	aside                         chain // handlers that nobody has called for
}

// chain is a list of nodes.
type chain struct {
	first, last *node
	n           int
}

// put appends a node to a chain, and takes it off the one it was on.
func (c *chain) put(n *node) {
	n.leave()
	n.on, n.prev = c, c.last
	if c.last != nil {
		c.last.next = n
	} else {
		c.first = n
	}
	c.last = n
	c.n++
}

// insert puts a node into a chain that is kept in plan order.
func (c *chain) insert(n *node) {
	n.leave()
	before := c.last
	for before != nil && before.order > n.order {
		before = before.prev
	}
	n.on, n.prev = c, before
	after := c.first
	if before != nil {
		after, before.next = before.next, n
	} else {
		c.first = n
	}
	if n.next = after; after != nil {
		after.prev = n
	} else {
		c.last = n
	}
	c.n++
}

func (n *node) leave() {
	c := n.on
	if c == nil {
		return
	}
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		c.first = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		c.last = n.prev
	}
	c.n--
	n.on, n.prev, n.next = nil, nil, nil
}

func newTree(s Scene) *tree {
	t := &tree{scene: s, root: &node{status: dag.Running}, nodes: map[dag.ID]*node{}, status: dag.Running}
	t.fill(t.root)
	return t
}

// fill makes the steps inside a step, all pending.
func (t *tree) fill(n *node) {
	n.inside = &branch{}
	if t.scene.Steps == nil {
		return
	}
	prefix := n.path
	if n != t.root {
		prefix += "/"
	}
	for i, name := range t.scene.Steps(string(n.path)) {
		t.add(n, prefix+dag.ID(name), name, i)
	}
}

func (t *tree) add(up *node, path dag.ID, name string, order int) *node {
	n := &node{path: path, name: Clean(name), up: up, order: order}
	n.handler = t.scene.Handler != nil && t.scene.Handler(string(path))
	t.nodes[path.WithoutTries()] = n
	if n.handler {
		up.inside.aside.put(n)
		return n
	}
	up.inside.pending.put(n)
	if up == t.root {
		t.total++
	}
	return n
}

// lastOrder is that of steps nobody foretold, as the tool's cleanup.
const lastOrder = 1 << 30

// of is the node of a path, made where it is new; nil where what is around it is not
// known, or forgotten.
func (t *tree) of(path dag.ID) *node {
	if n := t.nodes[path.WithoutTries()]; n != nil {
		return n
	}
	up := t.root
	if holders := path.Holders(); len(holders) > 0 {
		if up = t.nodes[holders[len(holders)-1].WithoutTries()]; up == nil || up.inside == nil {
			return nil
		}
	}
	base, order := path.Base(), lastOrder
	if b := up.inside; b.loop {
		order = b.active.n + b.good + b.bad + b.other
		base = path[len(up.path):]
	}
	n := t.add(up, path, strings.TrimPrefix(string(base), "@"), order) // @cleanup
	return n
}

// apply folds one event.
func (t *tree) apply(e dag.Event) {
	switch e.Kind {
	case dag.RunStarted:
		t.run, t.began = e.Run, e.Time
	case dag.RunResumed:
		t.run, t.began, t.status, t.stopped, t.ended = e.Run, e.Time, dag.Running, "", time.Time{}
		for _, path := range e.Reset {
			t.reset(path)
		}
	case dag.RunCancelling:
		if e.Node == "" {
			t.stopped = stopping(e, t.stoppable())
		}
	case dag.RunFinished:
		t.ended, t.status, t.notes = e.Time, e.Result.Status, e.Result.Notes
	default:
		if n := t.of(e.Node); n != nil && !n.status.Settled() {
			t.step(n, e)
		}
	}
}

func (t *tree) step(n *node, e dag.Event) {
	b := n.up.inside
	switch e.Kind {
	case dag.StepStarted:
		t.start(n, e)
	case dag.StepExpanded:
		t.forget(n)
		n.inside = &branch{loop: true, items: e.Items}
		t.count(n, false)
	case dag.StepRetrying:
		n.status, n.due, n.result = dag.Retrying, e.Due, e.Result
		t.forget(n)
		n.inside = nil
		t.count(n, false)
		b.active.put(n)
	case dag.StepWaiting:
		n.status, n.result = dag.Waiting, e.Result
		t.count(n, false)
		b.active.put(n)
	case dag.StepFallback:
		n.result = e.Result
		t.forget(n)
		n.inside = nil
	case dag.StepFinished:
		t.finish(n, e)
	}
}

func (t *tree) start(n *node, e dag.Event) {
	if n.on == &n.up.inside.aside && n.up == t.root {
		t.total++ // it is called for
	}
	n.path, n.status, n.attempt = e.Node, dag.Running, e.Attempt
	if e.Attempt == 1 || n.began.IsZero() {
		n.began = e.Time
	}
	n.up.inside.active.put(n)
	t.forget(n)
	n.inside = nil
	if t.scene.Steps != nil && len(t.scene.Steps(string(n.path))) > 0 {
		t.fill(n)
	}
	t.count(n, n.inside == nil)
}

// count keeps the number of steps that run, those that hold others left out.
func (t *tree) count(n *node, runs bool) {
	if n.counted == runs {
		return
	}
	n.counted = runs
	if runs {
		t.running++
	} else {
		t.running--
	}
}

func (t *tree) finish(n *node, e dag.Event) {
	r, b := e.Result, n.up.inside
	t.count(n, false)
	if t.recalling && b.loop && !wentWell(r) {
		t.drop(n) // it runs again
		return
	}
	uncalled := n.on == &b.aside && r.Status == dag.Skipped
	if n.on == &b.aside && !uncalled && n.up == t.root {
		t.total++
	}
	n.status, n.result = r.Status, r
	if bad(r) && (n.inside == nil || n.inside.bad == 0) {
		t.failed++
	}
	b.count(r)
	t.forget(n)
	if n.up == t.root && !uncalled {
		t.settled++
	}
	switch {
	case bad(r) && (b.failed.n < mostFailures || !b.loop):
		b.failed.put(n)
	case uncalled:
	case b.loop:
		all := t.failed
		t.drop(n)
		b.unkept, t.failed = b.unkept+all-t.failed, all
	default:
		b.done.put(n)
	}
}

// bad says whether a step failed and somebody minds.
func bad(r *dag.Result) bool { return failed(r) && !r.Tolerated }

func wentWell(r *dag.Result) bool { return r.Status == dag.Succeeded || r.Status == dag.Reused }

func (b *branch) count(r *dag.Result) {
	switch {
	case bad(r):
		b.bad++
	case wentWell(r):
		b.good++
	default:
		b.other++
	}
}

// forget drops what is inside a step but what failed there.
func (t *tree) forget(n *node) {
	if n.inside == nil {
		return
	}
	keep := n.status.Settled()
	if !keep {
		t.failed -= n.inside.unkept
		n.inside.unkept = 0
	}
	for _, c := range []*chain{&n.inside.pending, &n.inside.active, &n.inside.done, &n.inside.aside, &n.inside.failed} {
		if keep && c == &n.inside.failed {
			continue
		}
		for c.first != nil {
			t.drop(c.first)
		}
	}
}

// drop takes a node and what is inside it out of the tree.
func (t *tree) drop(n *node) {
	n.leave()
	t.count(n, false)
	t.unfail(n)
	n.status = dag.Pending // nothing of it is kept
	t.forget(n)
	delete(t.nodes, n.path.WithoutTries())
}

// unfail takes back that a step failed.
func (t *tree) unfail(n *node) {
	if n.status.Settled() && n.result != nil && bad(n.result) && (n.inside == nil || n.inside.bad == 0) {
		t.failed--
	}
}

// reset sends a step back to where it was before it ran. What is around it runs again
// as well, and finds it so.
func (t *tree) reset(path dag.ID) {
	n := t.nodes[path.WithoutTries()]
	if n == nil {
		return
	}
	if n.status.Settled() && n.up == t.root && n.on != &n.up.inside.aside {
		t.settled--
	}
	t.unfail(n)
	n.status = dag.Pending
	t.count(n, false)
	t.forget(n)
	n.inside, n.result, n.attempt, n.asked, n.waits = nil, nil, 0, false, nil
	if n.handler {
		if n.on != &n.up.inside.aside && n.up == t.root {
			t.total--
		}
		n.up.inside.aside.put(n)
		return
	}
	n.up.inside.pending.insert(n)
}

// stoppable is how many steps a cancel stops: those that run, but what cleans up.
func (t *tree) stoppable() int {
	n := t.running
	if t.scene.Lasting == nil {
		return n
	}
	t.eachActive(t.root, func(leaf *node) {
		if leaf.counted && t.scene.Lasting(string(leaf.path)) {
			n--
		}
	})
	return n
}

func (t *tree) eachActive(n *node, visit func(*node)) {
	for c := n.inside.active.first; c != nil; c = c.next {
		if c.inside != nil {
			t.eachActive(c, visit)
		} else {
			visit(c)
		}
	}
}

// waitsFor is what keeps a pending step from starting: the steps that have not
// settled. None says that it waits for a slot.
func (t *tree) waitsFor(n *node) []string {
	if !n.asked {
		n.asked = true
		if t.scene.Upstream != nil {
			n.waits = slices.Clone(t.scene.Upstream(string(n.path)))
		}
	}
	left := n.waits[:0]
	for _, up := range n.waits {
		if m := t.nodes[dag.ID(up).WithoutTries()]; m != nil && !m.status.Settled() {
			left = append(left, up)
		}
	}
	n.waits = left
	return left
}

// shownAbove says whether what a step prints goes above the region: it streams, or it is
// the last step of the plan, whose output is the run's.
func (t *tree) shownAbove(n *node) bool {
	if n.streams || !t.echoed {
		return n.streams
	}
	for ; n != t.root; n = n.up {
		for _, c := range []*chain{&n.up.inside.pending, &n.up.inside.active, &n.up.inside.failed, &n.up.inside.done} {
			if c.last != nil && c.last.order > n.order {
				return false
			}
		}
	}
	return true
}

// elapsed is how long the run has taken.
func (t *tree) elapsed(now time.Time) time.Duration {
	if t.began.IsZero() {
		return 0
	}
	if !t.ended.IsZero() {
		now = t.ended
	}
	return max(now.Sub(t.began), 0)
}

// byOrder sorts nodes of one branch as the plan has them.
func byOrder(a, b *node) int { return cmp.Compare(a.order, b.order) }
