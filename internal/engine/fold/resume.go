package fold

import (
	"time"

	"github.com/flowrun/flowrun/dag"
)

// resume applies that another owner continues the run.
func (r *Run[T]) resume(e *dag.Event) {
	gap := r.ownerless(e)
	r.ID, r.Status, r.Since, r.Resumed = e.Run, dag.Running, e.Time, e.Seq
	r.Ended, r.Result = time.Time{}, nil
	if r.Began.IsZero() {
		r.Began = e.Since()
	}
	for _, path := range e.Reset {
		for _, outer := range path.Ancestors() {
			r.reopen(outer, gap)
		}
		r.reset(path)
	}
}

// reopen marks a step as running again because a step inside it runs again. gap is how long the run
// had no owner.
func (r *Run[T]) reopen(path dag.ID, gap time.Duration) {
	s, fresh := r.findOrRestore(path)
	if s == nil || !fresh && !s.Status.Settled() {
		return
	}
	r.unsettle(s)
	s.Status, s.Result, s.Ended = dag.Running, nil, time.Time{}
	s.times.idle += gap
	r.moveTo(&s.Parent.Inside.Active, s)
	if s.Inside == nil {
		s.Inside = &Inside[T]{}
	}
}

// reset makes a step one that has not run.
func (r *Run[T]) reset(path dag.ID) {
	s, _ := r.findOrRestore(path)
	if s == nil {
		return
	}
	r.unsettle(s)
	s.Status, s.Result, s.Attempt = dag.Pending, nil, 0
	r.countRunning(s, false)
	r.dropInside(s)
	s.Began, s.Ended, s.times = time.Time{}, time.Time{}, times{}
	switch in := s.Parent.Inside; {
	case s.handler, in.Loop:
		r.moveTo(&in.setAside, s)
	default:
		in.Pending.insert(s)
	}
}

// findOrRestore returns a step that has started. If it was dropped after it had settled, it
// is made again and fresh is true. The tool's own steps are never dropped.
func (r *Run[T]) findOrRestore(path dag.ID) (s *Step[T], fresh bool) {
	if s = r.Find(path); s != nil || holderPath(path) == "" {
		return s, false
	}
	if s = r.findOrAdd(path); s != nil {
		s.Parent.uncount(s.Parent.Inside.droppedCount())
	}
	return s, true
}

// droppedCount returns the count from which to subtract a dropped step, nil if there is
// none.
func (in *Inside[T]) droppedCount() *int {
	c := &in.Ended
	switch {
	case c.Failed > in.Failed.Len:
		return &c.Failed
	case in.Loop && c.Other > 0:
		return &c.Other
	case in.Loop && c.Tolerated > 0 && c.Good == 0:
		return &c.Tolerated
	case c.Good > 0:
		return &c.Good
	}
	return nil
}

// unsettle subtracts a step from the counts of settled steps.
func (r *Run[T]) unsettle(s *Step[T]) {
	if !s.Status.Settled() {
		return
	}
	if s.FailedItself {
		s.FailedItself = false
		s.addFailures(-1)
	}
	in := s.Parent.Inside
	if s.Parent == r.Root && s.List != &in.setAside {
		r.Settled--
	}
	s.Parent.uncount(in.Ended.counter(s.Result))
}

// uncount subtracts one from a count of how the steps inside have ended. When no failed
// step is left, the failures of the dropped steps are subtracted too.
func (s *Step[T]) uncount(n *int) {
	if n == nil {
		return
	}
	*n--
	in, left := s.Inside, 0
	if n != &in.Ended.Failed || *n > 0 {
		return
	}
	for _, l := range []*List[T]{&in.Active, &in.Failed, &in.Done} {
		for c := l.First; c != nil; c = c.Next {
			left += c.Failures
		}
	}
	if s.FailedItself {
		left++
	}
	s.addFailures(left - s.Failures)
}
