package dag

import (
	"time"
)

// Machine makes the decisions of a run, for a driver that has the work done elsewhere and
// keeps time itself: a workflow of another engine. It decides as Run does. It has no clock,
// starts no goroutine and does no I/O, so the same inputs always lead to the same turns. It
// has no arguments either: who does a Task computes them, from its Order.
type Machine struct {
	machine
	verdicts map[verdictKey]verdict
	judge    func(*Order) (bool, error)
}

// MachineOptions configure a Machine.
type MachineOptions struct {
	ID       string        // id of the run, for its events
	Parallel int           // number of leaves that run at the same time, at least 1
	Cleanup  time.Duration // as in Options
	// Recorded are the events of another Machine for the same run, to continue where it
	// stopped. Leaves that are running then are started again.
	Recorded []Event
	// Judge evaluates a condition or a rule for retries, like Order.Perform.
	Judge func(*Order) (bool, error)
	// Jitter returns a random part of a time between two attempts.
	Jitter func(time.Duration) time.Duration
	// Acquire makes tasks that ask for what nodes claim (Task.Claims): the driver has it from then
	// on, until it sees the event with which the attempt ends. If it is false, claims are not
	// asked for.
	Acquire bool
	Since   time.Time // as in Options
}

// NewMachine returns a Machine for a run of g.
func NewMachine(g *Graph, o MachineOptions) *Machine {
	if o.Cleanup <= 0 {
		o.Cleanup = DefaultCleanup
	}
	slots := max(o.Parallel, 1)
	m := &Machine{judge: o.Judge, verdicts: map[verdictKey]verdict{}}
	m.machine = machine{state: NewState(o.ID, g, nil), slots: (*counter)(&slots), restarts: true}
	m.jitter, m.since = o.Jitter, o.Since
	m.state.judge, m.state.acquires = m.verdict, o.Acquire
	m.state.apply(&Event{Kind: runOwned, limits: &ownerLimits{o.Cleanup, int32(slots)}})
	for i := range o.Recorded {
		m.state.Apply(o.Recorded[i])
	}
	m.seq = m.state.seq
	m.state.bindAll(m.state.root)
	return m
}

// counter is the slotSource of a run that shares its slots with no other.
type counter int

func (c *counter) take(want int) int {
	n := min(want, int(*c))
	*c -= counter(n)
	return n
}

func (c *counter) give(n int) { *c += counter(n) }

// bindAll gives the frames that are running arguments again, of which a Machine has none.
func (s *State) bindAll(f *frame) {
	for i := range f.nodes {
		c := f.children[int32(i)]
		if c == nil || f.nodes[i].status != Running {
			continue
		}
		if !c.bound && c.expanded {
			s.apply(&Event{Kind: stepBound, Seq: s.seq, Time: s.now, at: place{f, int32(i)}, items: noItems{}})
		}
		s.bindAll(c)
	}
}

// noItems are the items of a loop, in a Machine: it knows only how many there are, and their
// keys.
type noItems struct {
	n      int
	keys   []string
	digest string
}

func (l noItems) Len() int       { return l.n }
func (l noItems) Keys() []string { return l.keys }
func (l noItems) Digest() string { return l.digest }
func (l noItems) Args(int) Args  { return nil }

// Input is what has happened since the last turn.
type Input struct {
	Reports []Report
	Answers []Answer
	Cancel  bool // the run is to be cancelled; stays set
	Force   bool // what runs after a cancel is to be stopped too
	Hold    bool // no leaf that needs a slot may start for now
}

// Report is the result of a Task.
type Report struct {
	Task Task
	Outcome
	// Stopped is the reason for which the driver has stopped the task, if it did not
	// succeed in spite of that; else "".
	Stopped string
	// Granted means that the driver has what the node of a task with Claims claims.
	Granted bool
}

// Turn is what a Machine has decided. It is valid until the next turn.
type Turn struct {
	Events []Event // to record
	Tasks  []Task  // to start
	Wake   time.Time
}

// Task is something to do. It is comparable, and valid until it was reported.
type Task struct{ *task }

// Claims reports whether the task only asks for what its node claims. It is to be reported when
// the driver has that, or was stopped.
func (t Task) Claims() bool { return t.claims }

// Releases reports whether the task only says that an attempt does not start after all for which
// the driver has what the node claims. It is to be reported.
func (t Task) Releases() bool { return t.releases }

// Path returns the path of the node that the task is for.
func (t Task) Path() ID { return t.at.f.path(t.at.i) }

// Turn applies what has happened and decides all that can be decided. The error means that
// the run cannot continue: the items of a loop have changed.
func (m *Machine) Turn(now time.Time, in Input) (t Turn, err error) {
	reports := make([]*task, len(in.Reports))
	for i, r := range in.Reports {
		reports[i] = r.fill()
	}
	m.cancelled, m.forced, m.released = in.Cancel, in.Force, in.Hold
	m.pendingAnswers = append(m.pendingAnswers, in.Answers...)
	for more := true; more; {
		var wake time.Time
		if wake, more, err = m.turn(now, reports); err != nil {
			return t, err
		}
		reports, t.Wake = nil, wake
		t.Events = append(t.Events, m.batch...)
		for _, x := range m.tasks {
			t.Tasks = append(t.Tasks, Task{x})
		}
	}
	for i := range t.Events {
		m.forget(t.Events[i].at)
	}
	return t, nil
}

// fill writes a report into its task.
func (r *Report) fill() *task {
	t := r.Task.task
	culprit, permanent, after := t.res.Culprit, t.res.Permanent || r.Permanent, max(t.res.RetryAfter, r.RetryAfter)
	*t.res = r.Result
	t.res.Culprit, t.res.Permanent, t.res.RetryAfter = culprit, permanent, after
	t.items = noItems{r.Items, r.Keys, r.Digest}
	if r.Granted {
		t.release = func() {} // the driver gives it back by itself
	}
	switch {
	case r.Stopped == "" || t.res.Status.successful() || t.bind && t.res.Status == Pending:
	case r.Stopped == stopCleanupEnd:
		t.res.Status, t.res.ExitCode, t.res.Reason = TimedOut, ExitTimeout, ReasonTimeout
	default:
		t.res.Status, t.res.Reason = Cancelled, r.Stopped
	}
	return t
}

// stopCleanupEnd is what Stop returns for a task that has no time left to clean up. The
// result of its step has ReasonTimeout.
const stopCleanupEnd = "cleanup-end"

// Stop returns the reason for which a task must be stopped now, "" if it may go on. until
// limits how long it may go on; zero means no limit.
func (m *Machine) Stop(t Task, now time.Time) (reason string, until time.Time) {
	if m.wasForced {
		return ReasonForced, until
	}
	s := t.scope
	for s.kind == walking && s.f.stopped == "" {
		s = s.f.scope
	}
	switch {
	case s.kind == walking:
		return s.f.stopped, until
	case s.kind != wholeRun && s.f.stopped != "":
		until = s.f.cleanupDeadline
	}
	if !until.IsZero() && !until.After(now) {
		return stopCleanupEnd, until
	}
	return "", until
}

// State returns the state of the run. It must not be changed.
func (m *Machine) State() *State { return m.state }

// Replace gives the state the result that an event of this turn has now, instead of old: whoever
// records the events has refused it.
func (m *Machine) Replace(old *Result, e *Event) { m.state.replaceResult(old, e) }

// verdictKey names a question to Judge. Its answer does not change until the node starts or
// settles: all that it can read has ended.
type verdictKey struct {
	at        place
	cancelled bool
}

type verdict struct {
	yes bool
	err error
}

// verdict evaluates a condition once, although the State asks again at every turn in which
// there is no slot.
func (m *Machine) verdict(kind OrderKind, v View, r *Result) (bool, error) {
	if kind != OrderCondition {
		return m.judge(v.order(kind, r))
	}
	key := verdictKey{place{v.f, v.i}, v.Stopped()}
	known, ok := m.verdicts[key]
	if !ok {
		known.yes, known.err = m.judge(v.order(kind, nil))
		m.verdicts[key] = known
	}
	return known.yes, known.err
}

func (m *Machine) forget(at place) {
	delete(m.verdicts, verdictKey{at, false})
	delete(m.verdicts, verdictKey{at, true})
}

// Settled reports whether a Machine that is made from the events so far would decide as this
// one does: no fallback waits for a slot, and no answer for its graph.
func (m *Machine) Settled() bool { return len(m.fallbacks)+len(m.pendingAnswers) == 0 }
