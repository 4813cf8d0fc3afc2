package dag

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// driver runs a State by hand, one report at a time: Next and Apply without the
// loop, the workers and the clock. It holds what the model promises to be true
// after every event and fails the test where it is not.
type driver struct {
	t     fataler
	state *State
	free  int
	slots int
	now   time.Time
	pick  func(n int) int // which of n workers reports next
	lost  func(job) bool  // whose flowrun was killed: its end is recorded, not reported
	log   []Event
	turns func(turn int) // told after every turn
	out   []job
	begun map[string]bool
	due   map[ID]time.Time // of steps that wait for their next try
	asked []Answer         // to questions that are open

	lenient bool // the journal may have lied: what starts is not checked
	twice   bool // every decision is asked for twice, and must change nothing
}

// job is what a worker would be doing.
type job struct {
	at       place
	bind     bool
	fallback bool
	ends     *frame
	idle     bool // it holds no slot
	stopped  bool // by a cancel that came after it began
}

func newDriver(t fataler, g *Graph, slots int, pick func(int) int) *driver {
	d := &driver{t: t, free: slots, slots: slots, now: time.Unix(1e9, 0).UTC(), pick: pick, begun: map[string]bool{}, due: map[ID]time.Time{}}
	d.take(NewState("run", g, nil))
	return d
}

// take makes a state the driver's, with all slots free: nobody works for it yet.
func (d *driver) take(s *State) {
	d.state, d.out, d.free = s, nil, d.slots
	s.apply(&Event{Kind: runOwned, limits: &ownerLimits{DefaultCleanup, int32(d.slots)}})
}

// run drives the state to the run's end.
func (d *driver) run() {
	for turn := 1; d.state.result == nil; turn++ {
		if turn > 100_000 {
			d.t.Fatal("the run does not end")
		}
		wake := d.decide()
		if d.turns != nil {
			d.turns(turn)
			wake = d.decide() // the state may be another one now
		}
		switch {
		case d.state.result != nil:
		case len(d.out) > 0:
			if n := d.pick(len(d.out) + len(d.asked)); n < len(d.out) {
				d.report(n)
			} else {
				d.answer(n - len(d.out))
			}
		case len(d.asked) > 0:
			d.answer(0)
		case !wake.IsZero():
			d.now = wake
		default:
			d.t.Fatal("nothing runs, nothing can start, and the run has not ended")
		}
	}
}

// decide asks for decisions until there are none.
func (d *driver) decide() (wake time.Time) {
	for {
		before, free := d.free, max(d.free, 0) // more may have run when the journal ended
		e, wake, ok := d.next(free)
		if !ok {
			return wake
		}
		if e.Kind == stepCompleting {
			d.state.apply(&e)
			d.out = append(d.out, job{ends: e.at.f})
			continue
		}
		d.apply(&e)
		d.act(&e)
		if before-d.free > free {
			d.t.Fatal("more leaves started than there are slots")
		}
	}
}

func (d *driver) next(free int) (Event, time.Time, bool) {
	if !d.twice {
		return d.state.Next(d.now, free)
	}
	before := memory(d.state)
	e, wake, ok := d.state.Next(d.now, free)
	again, wakeAgain, okAgain := d.state.Next(d.now, free)
	if ok != okAgain || !wake.Equal(wakeAgain) || !reflect.DeepEqual(e, again) {
		d.t.Fatalf("asked twice, Next decides\n%+v\n%+v", e, again)
	}
	if after := memory(d.state); after != before {
		d.t.Fatalf("Next changed the state:\n%s\n%s", before, after)
	}
	return e, wake, ok
}

func (d *driver) apply(e *Event) {
	e.V, e.Seq, e.Run, e.Time = EventVersion, uint64(len(d.log)+1), "run", d.now
	if e.Kind == StepStarted && !d.lenient {
		d.check(e)
	}
	if e.Kind == StepFinished && !d.lenient && d.state.Status(e.Node).Settled() {
		d.t.Fatalf("%s ends twice", e.Node)
	}
	if e.Kind == StepRetrying {
		d.due[e.Node] = e.Due
	}
	if a := asked(*e); a != nil {
		d.asked = append(d.asked, *a)
	}
	d.state.Apply(*e)
	d.log = append(d.log, *e)
}

// check holds a start against the rules: once per try, not before everything it
// waits for has settled, and not before its retry is due.
func (d *driver) check(e *Event) {
	key := fmt.Sprintf("%s try %d", e.Node, e.Attempt)
	if d.begun[key] {
		d.t.Fatalf("%s started twice", key)
	}
	d.begun[key] = true
	if e.Time.Before(d.due[e.Node]) {
		d.t.Fatalf("%s started %v early", key, d.due[e.Node].Sub(e.Time))
	}
	if w, ok := e.at.f.walk.(*loopWalk); ok {
		d.checkItem(w, e)
		return
	}
	if up := unsettledBefore(e.at.f, e.at.i); up != "" {
		d.t.Fatalf("%s started before %s had settled", e.Node, up)
	}
}

// checkItem holds the start of an item against the rules: items begin in order, and
// no more are active than may be.
func (d *driver) checkItem(w *loopWalk, e *Event) {
	f, under, active := e.at.f, 1, int32(0)
	for i := range f.nodes {
		if e.Attempt == 1 && int32(i) < e.at.i && f.nodes[i].status == Pending {
			d.t.Fatalf("%s started before %s", e.Node, f.path(int32(i)))
		}
		switch st := f.nodes[i].status; {
		case st == Running, st.parked() && w.Parallel > 0, st == Pending && int32(i) < w.next:
			active++
		}
		if st := f.nodes[i].status; int32(i) != e.at.i && (st == Running || st.parked()) {
			under++
		}
	}
	if w.active != active {
		d.t.Fatalf("before %s %d items count as active, and %d are", e.Node, w.active, active)
	}
	// Items that a resume finds active go on together, were they more than that.
	if most := w.Parallel; most > 0 && under > most && e.Attempt == 1 {
		d.t.Fatalf("with %s %d items are active, want at most %d", e.Node, under, most)
	}
}

func unsettledBefore(f *frame, i int32) ID {
	for _, up := range f.def(i).After {
		u := f.index(up)
		if f.def(u).isJoin() {
			if id := unsettledBefore(f, u); id != "" {
				return id
			}
		} else if !f.nodes[u].status.Settled() {
			return up
		}
	}
	return ""
}

// act does what the loop does with a decision.
func (d *driver) act(e *Event) {
	switch e.Kind {
	case StepStarted:
		if c := e.at.f.children[e.at.i]; c == nil {
			d.start(job{at: e.at, idle: e.at.f.def(e.at.i).NoSlot})
		} else if !c.bound {
			d.out = append(d.out, job{at: e.at, bind: true})
		}
	case StepFallback:
		d.start(job{at: e.at, fallback: true, idle: true}) // of a graph: the loop has it wait for a slot
	case RunCancelling:
		f := d.state.cancelledFrame(e)
		for i := range d.out {
			if d.out[i].ends == nil && within(d.out[i].at.f, f) {
				d.out[i].stopped = true
			}
		}
	}
}

func (d *driver) start(j job) {
	d.out = append(d.out, j)
	if !j.idle {
		d.free--
	}
}

func within(f, outer *frame) bool {
	for ; f != nil; f = f.parent.f {
		if f == outer {
			return true
		}
	}
	return false
}

// answer is what somebody says to an open question.
func (d *driver) answer(n int) {
	a := d.asked[n]
	e, early, late := d.state.answerEvent(a, d.now)
	if early {
		d.report(0) // there is something that gives its graph the arguments
		return
	}
	d.asked = append(d.asked[:n], d.asked[n+1:]...)
	if !late {
		d.apply(&e)
	}
}

// cancel is the caller's.
func (d *driver) cancel() {
	e := d.state.cancellingEvent(d.state.root, ReasonCancelled)
	d.apply(&e)
	d.act(&e)
}

// report is what one worker answers.
func (d *driver) report(n int) {
	j := d.out[n]
	d.out = append(d.out[:n], d.out[n+1:]...)
	if j.ends != nil {
		d.ended(j.ends)
		return
	}
	def, f := j.at.f.def(j.at.i), j.at.f
	c := &Call{View: j.at.view(), Path: f.path(j.at.i), Attempt: int(f.node(j.at.i).attempt)}
	t := &task{at: j.at, bind: j.bind, fallback: j.fallback, res: new(Result)}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	if j.stopped {
		stop(&Cancel{Reason: f.stopped})
		t.res.Status = Failed
	} else {
		t.call(ctx, def, c, nil)
	}
	t.classifyStop(ctx)
	t.res.Started, t.res.Ended = d.now, d.now
	if d.lost != nil && d.lost(j) {
		t.res.Status = Interrupted
	}
	switch {
	case t.err != nil:
		d.t.Fatal(t.err)
	case j.bind && t.res.Status == Pending:
		d.bound(t)
		return
	case j.bind:
		d.refused(j.at, t.res)
		return
	}
	e := d.state.outcomeEvent(j.at, t.res, d.now)
	d.apply(&e)
	if !j.idle {
		d.free++
	}
	if e.Kind == StepFallback { // of a step without a slot: the loop has it wait for one
		d.start(job{at: e.at, fallback: true, idle: j.idle})
	}
}

// ended is what a worker answers that completed the result of a walk.
func (d *driver) ended(f *frame) {
	r := f.finalResult()
	f.walk.completer(f)(r)
	r.Ended = d.now
	e := d.state.finishEvent(f, r, d.now)
	d.apply(&e)
	d.act(&e)
}

// refused is what follows where a graph or a loop could not have its arguments.
func (d *driver) refused(at place, r *Result) {
	e := d.state.bindFailedEvent(at, r, d.now)
	d.apply(&e)
	d.act(&e)
}

// bound does what the loop does with what a graph, or a loop, needs to go.
func (d *driver) bound(t *task) {
	c := t.at.f.children[t.at.i]
	switch w, loops := c.walk.(*loopWalk); {
	case !loops || c.expanded && w.sameItems(t.items):
	case !c.expanded:
		d.apply(&Event{Kind: StepExpanded, Node: t.at.f.path(t.at.i), Items: t.items.Len(), Keys: t.items.Keys()})
	default:
		d.refused(t.at, &Result{Status: Failed, ExitCode: 1, Reason: ReasonInput, Permanent: true})
		return
	}
	d.give(t.at, t.args, t.items)
	d.rebind(c)
}

// give hands a graph its arguments, or a loop its items.
func (d *driver) give(at place, a Args, items Items) {
	d.state.apply(&Event{Kind: stepBound, Time: d.now, at: at, args: a, items: items})
}

// overJSON sends events through their JSON form, as a journal does: what an Event
// holds besides is gone.
func overJSON(t fataler, events []Event) []Event {
	t.Helper()
	b, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	var back []Event
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// replay folds events that were read back into a fresh State.
func replay(t fataler, g *Graph, events []Event) *State {
	s := NewState("run", g, nil)
	for _, e := range overJSON(t, events) {
		s.Apply(e)
	}
	return s
}

// resume takes a replayed State over: whatever ran begins its work again.
func (d *driver) resume(s *State) {
	d.take(s)
	d.adopt(s.root)
}

func (d *driver) adopt(f *frame) {
	for i := range f.nodes {
		at := place{f, int32(i)}
		n, c := f.node(at.i), f.children[at.i]
		w, loops := (*loopWalk)(nil), false
		if c != nil {
			w, loops = c.walk.(*loopWalk)
		}
		switch {
		case n.status != Running:
		case c == nil:
			d.start(job{at: at, fallback: n.fallback})
		case loops && c.expanded:
			d.adoptLoop(at, c, w)
		case !c.bound && !slices.ContainsFunc(c.nodes, func(n nodeState) bool { return n.status != Pending }):
			d.out = append(d.out, job{at: at, bind: true})
		default:
			if !c.bound && c.unsettled > 0 {
				d.give(at, nil, nil) // its arguments were good once
			}
			d.adopt(c)
		}
	}
}

// adoptLoop continues with a loop whose items were known, if it still has the same.
func (d *driver) adoptLoop(at place, c *frame, w *loopWalk) {
	items, err := w.Items(context.Background(), &Call{View: at.view()})
	if err != nil || checkItems(items) != nil || !w.sameItems(items) {
		d.refused(at, &Result{Status: Failed, ExitCode: 1, Reason: ReasonInput, Permanent: true})
		return
	}
	d.give(at, nil, items)
	d.adopt(c)
}
