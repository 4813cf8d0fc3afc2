// Package fold computes the state of a run from its events. Code that shows, measures or
// traces a run applies the events to a Run and reads it.
//
// # The model
//
// Apply takes one event after the other, live or from the journal; both give the same Run.
// The result is the state of the run, with its steps as a tree. A Step has its status,
// attempt, times and last result, the step that holds it (Parent), and the steps that it holds
// (Inside) in four lists: pending, active, failed, done. A step that no event has named yet
// is in the tree only if a Plan lists it. Apply returns the step of the event; its field
// Own belongs to the reader.
//
// The size of a Run depends on the active steps and the plan, not on how much has happened.
// When a step has settled, the steps inside it that succeeded are dropped. An item of a
// loop is dropped as soon as it has settled, except for the first KeptFailures that failed;
// other failures are only counted. So a loop over a million items keeps only the active
// ones. To apply an event takes time in the depth of its step. To drop a step takes time
// once.
//
// A resumed run continues in the same Run. The steps that run.resumed resets are pending
// again, and the steps that hold them are running again. How a dropped step had ended is
// not known. It is subtracted from the count of dropped failures, and if there are none
// left, from the other counts. That is exact because a resume resets all items that failed
// or were cancelled, unless somebody selected single items. If a loop was dropped itself,
// the number of its items stays unknown.
//
// How long the run and each step took, waited and had no owner is computed here (Durations), from
// the times of events and, once there is a result, those of the result. The times of a group count
// what is in it. A step that was dropped and runs again has lost what it had waited before.
//
// A Run knows nothing of processes, files or definitions, and it decides nothing. It is not
// safe for concurrent use.
package fold

import (
	"iter"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Plan is what is known of a run beside its events. Paths are as in events. Every function
// may be nil.
type Plan struct {
	// Steps returns the names of the steps inside a step, in plan order; for "" those of
	// the tool, and none for a step that runs a command. If Steps is set, events of a step
	// inside another one for which it returns none are ignored, unless that is a loop.
	Steps func(path string) []string
	// Handler reports whether a step is a handler. A handler counts only after something
	// has called for it.
	Handler func(path string) bool
}

// Run is the state of a run. Readers may change only Step.Data.
type Run[T any] struct {
	ID      string
	Status  dag.Status // Pending until it starts, then Running until it ends
	Began   time.Time
	Since   time.Time // when its present owner started: Began, or when it was resumed
	Resumed uint64    // number of the last run.resumed, 0 if there is none
	Ended   time.Time
	Last    time.Time // of the last event
	Result  *dag.Result

	Root           *Step[T] // holds the steps of the tool
	Total, Settled int      // counts of these, without handlers that were not called for
	Running        int      // count of running steps that hold no others

	plan  Plan
	steps map[dag.ID]*Step[T] // by path without attempts
	now   time.Time           // of the event that is being applied
}

// Step is one step, or one item of a loop.
type Step[T any] struct {
	Path         dag.ID   // as in events, with the attempts of the steps around it
	Parent       *Step[T] // the step that holds it; nil for the Root
	Order        int      // in the plan; in a loop, of starting
	Status       dag.Status
	Attempt      int
	Began        time.Time   // of the first attempt; once there is a result, as that says
	Ended        time.Time   // as its result says; zero until it has settled
	Since        time.Time   // of the current attempt, or the last
	Due          time.Time   // when the next attempt starts
	Repeats      bool        // the last attempt ended a round, and another follows
	Result       *dag.Result // of the last attempt
	Inside       *Inside[T]  // nil for a step that holds none, as far as is known
	Failures     int         // number of failed steps in it, or 1 for its own failure; not both
	FailedItself bool        // it failed, and no step directly inside it did
	Data         T           // for the reader

	handler        bool
	countedRunning bool // counted in Run.Running
	times          times
	Prev, Next     *Step[T] // neighbours in List
	List           *List[T]
}

// Inside are the steps that a step holds.
type Inside[T any] struct {
	Loop  bool
	Items int    // of a loop
	Ended Counts // of the steps that have settled

	Pending, Active, Failed, Done List[T]
	setAside                      List[T] // handlers that were not called for, and items that run again
}

// Counts are the numbers of steps by how they ended.
type Counts struct{ Good, Failed, Tolerated, Other int }

// Len returns the number of kept steps, without handlers that were not called for.
func (in *Inside[T]) Len() int {
	return in.Pending.Len + in.Active.Len + in.Failed.Len + in.Done.Len
}

// All returns the number of steps that have ended.
func (c *Counts) All() int { return c.Good + c.Failed + c.Tolerated + c.Other }

// counter returns the count that a result belongs to.
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

// New returns a run before its first event.
func New[T any](p Plan) *Run[T] {
	r := &Run[T]{Root: &Step[T]{Status: dag.Running}, plan: p, steps: map[dag.ID]*Step[T]{}}
	r.Root.Inside = &Inside[T]{}
	r.addPlanned(r.Root)
	return r
}

// Find returns the step with that path, nil if it is not known or was dropped.
func (r *Run[T]) Find(path dag.ID) *Step[T] { return r.steps[path.WithoutAttempts()] }

// IsLoop reports whether the step is known to be a loop.
func (s *Step[T]) IsLoop() bool { return s.Inside != nil && s.Inside.Loop }

// Leaves iterates over the running steps inside a step that hold no others. Steps of the
// same holder come in the order in which they started.
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

// Apply applies an event. It returns the step of the event, which may just have been
// dropped. It returns nil for an event of the run, and for an impossible event: one of a
// step that has settled, or of a step inside one that holds none.
func (r *Run[T]) Apply(e *dag.Event) (s *Step[T]) {
	ends := e.Kind == dag.StepFinished || e.Kind == dag.RunFinished
	if ends && (e.Result == nil || !e.Result.Status.Settled()) {
		return nil
	}
	r.now = e.Time
	switch e.Kind {
	case dag.RunStarted:
		r.ID, r.Status, r.Began, r.Since = e.Run, dag.Running, e.Since(), e.Time
	case dag.RunResumed:
		r.resume(e)
	case dag.RunCancelling:
		s = r.Find(e.Node)
	case dag.RunFinished:
		r.Status, r.Result, r.Ended = e.Result.Status, e.Result, endOf(e)
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
		s.Due, s.Repeats = e.Due, e.Reason == dag.ReasonRepeat
		r.dropInside(s)
		r.park(s, dag.Retrying, e.Result)
	case dag.StepWaiting:
		r.park(s, dag.Waiting, e.Result)
	case dag.StepFallback:
		r.setResult(s, e.Result)
		r.dropInside(s)
		r.does(s, runs)
	case dag.StepFinished:
		r.finish(s, e)
	}
}

// setResult sets the result of an attempt.
func (r *Run[T]) setResult(s *Step[T], result *dag.Result) {
	if s.Result = result; result != nil && !result.Started.IsZero() && result.Status != dag.Reused { // whose times are those of another run
		s.Began = result.Started
	}
}

func (r *Run[T]) start(s *Step[T], e *dag.Event) {
	s.Path, s.Status, s.Attempt, s.Since = e.Node, dag.Running, e.Attempt, e.Time
	if e.Attempt == 1 || s.Began.IsZero() {
		s.Began = e.Time
	}
	r.moveTo(&s.Parent.Inside.Active, s)
	r.dropInside(s)
	r.addPlanned(s)
	r.countRunning(s, s.Inside == nil)
}

// moveTo moves a step to a list. A handler counts in Total unless it is set aside.
func (r *Run[T]) moveTo(l *List[T], s *Step[T]) {
	if aside := &s.Parent.Inside.setAside; s.handler && s.Parent == r.Root && s.List != l {
		switch aside {
		case s.List:
			r.Total++
		case l:
			r.Total--
		}
	}
	l.append(s)
}

// park makes a step wait for its next attempt, a time or an answer.
func (r *Run[T]) park(s *Step[T], status dag.Status, result *dag.Result) {
	s.Status = status
	r.setResult(s, result)
	r.countRunning(s, false)
	r.moveTo(&s.Parent.Inside.Active, s)
}

// countRunning sets whether a step counts in Run.Running, and notes what else it does.
func (r *Run[T]) countRunning(s *Step[T], running bool) {
	switch {
	case running && !s.countedRunning:
		r.Running++
	case !running && s.countedRunning:
		r.Running--
	}
	s.countedRunning = running
	switch {
	case running, s.Status == dag.Retrying:
		r.does(s, runs)
	case s.Status == dag.Waiting:
		r.does(s, waits)
	default:
		r.does(s, nothing)
	}
}

func (r *Run[T]) finish(s *Step[T], e *dag.Event) {
	in, result := s.Parent.Inside, e.Result
	uncalled := s.handler && s.List == &in.setAside && result.Status == dag.Skipped
	s.Status, s.Ended = result.Status, endOf(e)
	r.countRunning(s, false)
	r.setResult(s, result)
	n := in.Ended.counter(result)
	*n++
	failed := n == &in.Ended.Failed
	if s.FailedItself = failed && (s.Inside == nil || s.Inside.Ended.Failed == 0); s.FailedItself {
		s.addFailures(1)
	}
	r.dropSucceeded(s)
	if s.Parent == r.Root && !uncalled {
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

// addFailures adds n to the failures of a step and of all steps that hold it.
func (s *Step[T]) addFailures(n int) {
	for ; s != nil && n != 0; s = s.Parent {
		s.Failures += n
	}
}

// findOrAdd returns the step with that path, and adds it if it is new. It returns nil if
// the step that holds it is not known or cannot hold steps.
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

// unplannedOrder is the order of steps that no Plan lists, such as the cleanup of the tool.
const unplannedOrder = 1 << 30

// findHolder returns the step with that path, ready to hold others; nil if it cannot.
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

// markRunning marks a step as running whose start was not seen, but something inside it
// was.
func (r *Run[T]) markRunning(s *Step[T]) {
	if s.Status == dag.Pending {
		s.Status = dag.Running
		r.moveTo(&s.Parent.Inside.Active, s)
	}
}

// holderPath returns the path of the step that directly holds a step, without an attempt
// number at the end; "" for a step of the tool.
func holderPath(path dag.ID) dag.ID {
	cut := strings.LastIndexByte(string(path), '/')
	if strings.HasSuffix(string(path), "]") {
		cut = strings.LastIndexByte(string(path), '[')
	}
	return path[:max(cut, 0)]
}

func (r *Run[T]) add(up *Step[T], path dag.ID, order int) *Step[T] {
	s := &Step[T]{Path: path, Parent: up, Order: order, handler: r.plan.Handler != nil && r.plan.Handler(string(path))}
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

// addPlanned adds the steps that the plan lists inside a step, all pending.
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

// dropSucceeded drops, in a step that has settled, the steps that succeeded or did not end.
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

// dropInside drops everything in a step and subtracts its failures.
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

// drop removes a step and what it holds from the Run.
func (r *Run[T]) drop(s *Step[T]) {
	s.unlink()
	r.countRunning(s, false)
	r.does(s, nothing)
	if in := s.Inside; in != nil {
		r.dropAll(&in.Pending, &in.Active, &in.Failed, &in.Done, &in.setAside)
	}
	delete(r.steps, s.Path.WithoutAttempts())
}
