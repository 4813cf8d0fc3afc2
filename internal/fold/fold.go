// Package fold keeps what is known of a run from its events. Whoever shows, measures or
// traces a run folds the events into a Run, reads it, and keeps nothing but its own.
//
// # The model
//
// Events go in one after the other, as the run makes them or as they are on record: both
// give the same Run. Out come the state of the run and its steps as a tree. A Step has its
// state, attempt, times and last result, the step that holds it, and Inside what it holds,
// in four lists: pending, active, failed, done. Steps that no event has named yet are in
// the tree only where a Plan lists them. Apply returns the step that the event is about;
// its field Own is the reader's.
//
// A Run is bounded by what is under way and by the plan, not by how much has happened. When
// a step has settled, the steps inside it that succeeded are dropped. An item of a loop is
// dropped as soon as it has settled, except for the first KeptFailures that failed: the
// others are only counted. So a loop over a million items keeps those that are under way.
// Applying an event takes time in the depth of its step, and once in what is dropped.
//
// A run that is resumed continues in the same Run. What run.resumed resets is pending again,
// and what holds it is running again. How a step had ended that was dropped is not known: it
// is subtracted from the failed items that were dropped, then from the other ones. That is
// exact because a resume resets all items that failed or were cancelled, unless somebody
// chose single items. Of a loop that was dropped itself, the number of items stays unknown.
//
// A Run knows nothing of processes, files or definitions. It decides nothing and is not safe
// for concurrent use.
package fold

import (
	"iter"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Plan is what is known of a run beside its events. Paths are as events have them. Every
// function may be nil.
type Plan struct {
	// Steps are the names of the steps inside a step, in plan order, those of the tool
	// for ""; none for one that runs a command. Where Steps is set, events inside a step
	// for which it lists none, and which is not a loop, are ignored.
	Steps func(path string) []string
	// Handler says whether a step is a handler: it counts only once something has called for it.
	Handler func(path string) bool
}

// Run is what is known of a run. Readers change only Step.Own.
type Run[T any] struct {
	ID      string
	Status  dag.Status // Pending until it begins, then Running until it ends
	Began   time.Time
	Since   time.Time // when its owner began with it: Began, or when it was resumed
	Resumed uint64    // the number of the last run.resumed, 0 for none
	Ended   time.Time
	Last    time.Time // of the last event
	Result  *dag.Result

	Root           *Step[T] // holds the tool's own steps
	Total, Settled int      // of these, without handlers that nobody has called for
	Running        int      // of all steps that hold no others

	plan   Plan
	steps  map[dag.ID]*Step[T] // by path without attempts
	pauses [][2]time.Time      // between an owner's last event and the next owner's first
}

// Step is one step, or one item of a loop.
type Step[T any] struct {
	Path     dag.ID   // as events have it, with the attempts of what is around it
	Up       *Step[T] // holds it; nil for the Root
	Order    int      // in the plan, or of starting in a loop
	Status   dag.Status
	Attempt  int
	Began    time.Time   // of the first attempt
	Since    time.Time   // of the attempt under way, or the last
	Due      time.Time   // of the next
	Result   *dag.Result // of the last attempt
	Inside   *Inside[T]  // nil for one that holds nothing, as far as is known
	Failures int         // steps that failed in it, or its own failure; not both
	Blamed   bool        // it failed, and nothing right inside it did
	Own      T           // the reader's

	handler        bool
	countedRunning bool     // counted in Run.Running
	Prev, Next     *Step[T] // on the list that it is on
	On             *List[T]
}

// Inside is what a step holds.
type Inside[T any] struct {
	Loop  bool
	Items int    // of a loop
	Ended Counts // of what has settled

	Pending, Active, Failed, Done List[T]
	setAside                      List[T] // handlers that nobody has called for, items that run again
}

// Counts are how steps have ended.
type Counts struct{ Good, Failed, Tolerated, Other int }

// Len is how many of the steps that it holds are kept, handlers that nobody has called for
// left out.
func (in *Inside[T]) Len() int {
	return in.Pending.Len + in.Active.Len + in.Failed.Len + in.Done.Len
}

// All is how many have ended.
func (c *Counts) All() int { return c.Good + c.Failed + c.Tolerated + c.Other }

// counter is the count of a result.
func (c *Counts) counter(r *dag.Result) *int {
	switch {
	case r.Status == dag.Succeeded || r.Status == dag.Reused:
		return &c.Good
	case r.Status != dag.Failed && r.Status != dag.TimedOut:
		return &c.Other
	case r.Tolerated:
		return &c.Tolerated
	}
	return &c.Failed
}

// KeptFailures is how many failed items of a loop are kept.
const KeptFailures = 10

// New is a run before its first event.
func New[T any](p Plan) *Run[T] {
	r := &Run[T]{Root: &Step[T]{Status: dag.Running}, plan: p, steps: map[dag.ID]*Step[T]{}}
	r.Root.Inside = &Inside[T]{}
	r.addPlanned(r.Root)
	return r
}

// Find is the step with that path, nil for none that is known, or kept.
func (r *Run[T]) Find(path dag.ID) *Step[T] { return r.steps[path.WithoutAttempts()] }

// Loops says whether a step is known to be a loop.
func (s *Step[T]) Loops() bool { return s.Inside != nil && s.Inside.Loop }

// Leaves are the steps that run in a step and hold no others, those of one holder in the
// order they began.
func (s *Step[T]) Leaves() iter.Seq[*Step[T]] {
	return func(yield func(*Step[T]) bool) { s.leaves(yield) }
}

func (s *Step[T]) leaves(yield func(*Step[T]) bool) bool {
	if s.Inside == nil {
		return s.Status != dag.Running || yield(s)
	}
	for c := s.Inside.Active.First; c != nil; c = c.Next {
		if !c.leaves(yield) {
			return false
		}
	}
	return true
}

// Worked is how long something of the run took, without the time in which nobody owned it.
func (r *Run[T]) Worked(from, to time.Time) time.Duration {
	d := to.Sub(from)
	for _, p := range r.pauses {
		if !p[0].Before(from) && !p[1].After(to) {
			d -= p[1].Sub(p[0])
		}
	}
	return max(d, 0)
}

// Apply folds an event in. It answers the step that the event is about, which may have
// been dropped with it; nil for one about the run, and for what cannot be: an event of a
// step that has settled, or in one that holds none.
func (r *Run[T]) Apply(e *dag.Event) (s *Step[T]) {
	ends := e.Kind == dag.StepFinished || e.Kind == dag.RunFinished
	if ends && (e.Result == nil || !e.Result.Status.Settled()) {
		return nil
	}
	switch e.Kind {
	case dag.RunStarted:
		r.ID, r.Status, r.Began, r.Since = e.Run, dag.Running, e.Time, e.Time
	case dag.RunResumed:
		r.resume(e)
	case dag.RunCancelling:
		s = r.Find(e.Node)
	case dag.RunFinished:
		r.Status, r.Result, r.Ended = e.Result.Status, e.Result, e.Time
	default:
		if s = r.findOrAdd(e.Node); s == nil || s.Status.Settled() {
			s = nil
		} else {
			r.step(s, e)
		}
	}
	r.Last = e.Time
	return s
}

func (r *Run[T]) step(s *Step[T], e *dag.Event) {
	switch e.Kind {
	case dag.StepStarted:
		r.start(s, e)
	case dag.StepExpanded:
		r.dropInside(s)
		s.Inside = &Inside[T]{Loop: true, Items: max(e.Items, len(e.Keys))}
		r.countRunning(s, false)
		r.markRunning(s)
	case dag.StepRetrying:
		s.Due = e.Due
		r.dropInside(s)
		r.park(s, dag.Retrying, e.Result)
	case dag.StepWaiting:
		r.park(s, dag.Waiting, e.Result)
	case dag.StepFallback:
		s.Result = e.Result
		r.dropInside(s)
	case dag.StepFinished:
		r.finish(s, e.Result)
	}
}

func (r *Run[T]) start(s *Step[T], e *dag.Event) {
	s.Path, s.Status, s.Attempt, s.Since = e.Node, dag.Running, e.Attempt, e.Time
	if e.Attempt == 1 || s.Began.IsZero() {
		s.Began = e.Time
	}
	r.moveTo(&s.Up.Inside.Active, s)
	r.dropInside(s)
	r.addPlanned(s)
	r.countRunning(s, s.Inside == nil)
}

// moveTo puts a step on a list. A handler counts while somebody has called for it.
func (r *Run[T]) moveTo(l *List[T], s *Step[T]) {
	if aside := &s.Up.Inside.setAside; s.handler && s.Up == r.Root && s.On != l {
		switch aside {
		case s.On:
			r.Total++
		case l:
			r.Total--
		}
	}
	l.append(s)
}

// park leaves a step waiting for its next attempt, or for the outside.
func (r *Run[T]) park(s *Step[T], status dag.Status, result *dag.Result) {
	s.Status, s.Result = status, result
	r.countRunning(s, false)
	r.moveTo(&s.Up.Inside.Active, s)
}

// countRunning keeps the number of steps that run, those that hold others left out.
func (r *Run[T]) countRunning(s *Step[T], runs bool) {
	switch {
	case runs && !s.countedRunning:
		r.Running++
	case !runs && s.countedRunning:
		r.Running--
	}
	s.countedRunning = runs
}

func (r *Run[T]) finish(s *Step[T], result *dag.Result) {
	in := s.Up.Inside
	uncalled := s.handler && s.On == &in.setAside && result.Status == dag.Skipped
	r.countRunning(s, false)
	s.Status, s.Result = result.Status, result
	n := in.Ended.counter(result)
	*n++
	failed := n == &in.Ended.Failed
	if s.Blamed = failed && (s.Inside == nil || s.Inside.Ended.Failed == 0); s.Blamed {
		s.addFailures(1)
	}
	r.dropSucceeded(s)
	if s.Up == r.Root && !uncalled {
		r.Settled++
	}
	switch {
	case failed && (in.Failed.Len < KeptFailures || !in.Loop):
		r.moveTo(&in.Failed, s)
	case uncalled:
	case in.Loop:
		r.drop(s)
	default:
		r.moveTo(&in.Done, s)
	}
}

// addFailures counts failures in a step, and in all that hold it.
func (s *Step[T]) addFailures(n int) {
	for ; s != nil && n != 0; s = s.Up {
		s.Failures += n
	}
}

// findOrAdd is the step of a path, made where it is new; nil where what holds it is not known, or
// holds nothing.
func (r *Run[T]) findOrAdd(path dag.ID) *Step[T] {
	if s := r.Find(path); s != nil {
		return s
	}
	up := r.Root
	if outer := holderPath(path); outer != "" {
		if up = r.findHolder(outer); up == nil {
			return nil
		}
	}
	in, order := up.Inside, unplannedOrder
	if strings.HasSuffix(string(path), "]") {
		in.Loop, order = true, in.Active.Len+in.Ended.All()
	}
	return r.add(up, path, order)
}

// unplannedOrder is that of steps that no Plan lists, such as the tool's cleanup.
const unplannedOrder = 1 << 30

// findHolder is the step of a path, ready to hold others.
func (r *Run[T]) findHolder(path dag.ID) *Step[T] {
	s := r.Find(path)
	if s == nil && r.plan.Steps == nil {
		if s = r.findOrAdd(path); s != nil {
			r.markRunning(s)
		}
	}
	switch {
	case s == nil || s.Status == dag.Pending || s.Status.Settled():
		return nil
	case s.Inside == nil && r.plan.Steps != nil:
		return nil
	case s.Inside == nil:
		s.Inside = &Inside[T]{}
		r.countRunning(s, false)
	}
	return s
}

// markRunning has a step run whose start is not on record, as something inside it shows.
func (r *Run[T]) markRunning(s *Step[T]) {
	if s.Status == dag.Pending {
		s.Status = dag.Running
		r.moveTo(&s.Up.Inside.Active, s)
	}
}

// holderPath is the path of the step right around a step, without the number of its attempt
// where that is the last thing in it; "" for none.
func holderPath(path dag.ID) dag.ID {
	cut := strings.LastIndexByte(string(path), '/')
	if strings.HasSuffix(string(path), "]") {
		cut = strings.LastIndexByte(string(path), '[')
	}
	return path[:max(cut, 0)]
}

func (r *Run[T]) add(up *Step[T], path dag.ID, order int) *Step[T] {
	s := &Step[T]{Path: path, Up: up, Order: order, handler: r.plan.Handler != nil && r.plan.Handler(string(path))}
	r.steps[path.WithoutAttempts()] = s
	if s.handler {
		up.Inside.setAside.append(s)
		return s
	}
	up.Inside.Pending.append(s)
	if up == r.Root {
		r.Total++
	}
	return s
}

// addPlanned makes the steps that the plan lists in a step, all pending.
func (r *Run[T]) addPlanned(s *Step[T]) {
	if r.plan.Steps == nil {
		return
	}
	names := r.plan.Steps(string(s.Path))
	if len(names) == 0 {
		return
	}
	s.Inside = &Inside[T]{}
	prefix := s.Path
	if s != r.Root {
		prefix += "/"
	}
	for i, name := range names {
		r.add(s, prefix+dag.ID(name), i)
	}
}

// dropSucceeded drops what nobody asks for in a step that has settled.
func (r *Run[T]) dropSucceeded(s *Step[T]) {
	if s.Inside == nil {
		return
	}
	in := s.Inside
	for c := in.Done.First; c != nil; {
		next := c.Next
		if c.Status == dag.Succeeded || c.Status == dag.Reused {
			r.drop(c)
		}
		c = next
	}
	r.dropAll(&in.Pending, &in.Active, &in.setAside)
}

// dropInside drops everything in a step, and takes back what failed there.
func (r *Run[T]) dropInside(s *Step[T]) {
	s.addFailures(-s.Failures)
	if in := s.Inside; in != nil {
		r.dropAll(&in.Pending, &in.Active, &in.Failed, &in.Done, &in.setAside)
	}
	s.Inside = nil
}

func (r *Run[T]) dropAll(lists ...*List[T]) {
	for _, l := range lists {
		for l.First != nil {
			r.drop(l.First)
		}
	}
}

// drop takes a step and what it holds out of the Run.
func (r *Run[T]) drop(s *Step[T]) {
	s.unlink()
	r.countRunning(s, false)
	if in := s.Inside; in != nil {
		r.dropAll(&in.Pending, &in.Active, &in.Failed, &in.Done, &in.setAside)
	}
	delete(r.steps, s.Path.WithoutAttempts())
}
