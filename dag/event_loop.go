package dag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// eventLoop is the local driver: the goroutine that owns the State of a run, takes turns of
// the machine and carries out what it decides.
type eventLoop struct {
	machine
	ctx      context.Context // of the caller
	record   context.Context // of the journal: never cancelled, because the cancel has to be recorded
	base     context.Context // parent of all contexts of work; only a forced stop cancels it
	force    context.CancelCauseFunc
	options  Options
	pool     *pool
	reports  []*task       // from workers
	onExit   []func() bool // undo what is scheduled for the end of the cleanup time
	controls map[*frame]*control
	made     []*Result // of the events of the turn, before the journal had them
}

// control holds the contexts of what runs in a frame that has not ended.
type control struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	cleanup context.Context // of what runs after a cancel; nil until needed

	// Of nodes that start before a cancel and would also start after one: the cancel does
	// not stop them, but the end of the cleanup time does. nil until needed.
	outlast context.Context
	expire  context.CancelCauseFunc
}

func (l *eventLoop) run() error {
	for !l.abandoned() {
		wake, more, err := l.turn()
		switch {
		case err != nil || l.state.result != nil:
			return err
		case more:
			continue
		case l.held == 0 && l.releasing():
			return ErrReleased
		}
		if l.idle() && wake.IsZero() && len(l.state.waits) == 0 {
			return ErrStuck
		}
		if l.onlyAnswersLeft(l.options.Attended && l.options.Answers != nil) {
			return l.leaveWaiting()
		}
		l.wait(wake)
	}
	return ErrReleased
}

// turn does one round: decide, record, act.
func (l *eventLoop) turn() (wake time.Time, more bool, err error) {
	l.listen()
	l.reports = l.pool.takeReports(l.reports)
	wake, more, err = l.machine.turn(time.Now(), l.reports)
	if err = errors.Join(err, l.publish()); err != nil {
		return wake, false, err
	}
	l.act()
	return wake, more, nil
}

// listen receives what the caller wants. After Abandon, no cancel is recorded any more.
func (l *eventLoop) listen() {
	l.takeAnswers()
	if closed(l.options.Force) && !l.abandoned() {
		l.options.Force, l.forced = nil, true
	}
	l.cancelled = l.ctx.Err() != nil && !l.abandoned()
	l.released = l.released || closed(l.options.Release)
}

// context returns the context of a scope.
func (l *eventLoop) context(s scope) context.Context {
	switch s.kind {
	case walking:
		return l.controls[s.f].ctx
	case outlasting:
		return l.outlastContext(s.f)
	case cleaning:
		return l.cleanupContext(s.f)
	}
	return l.base
}

// outlastContext returns the context of nodes that a cancel of the frame does not stop.
func (l *eventLoop) outlastContext(f *frame) context.Context {
	c := l.controls[f]
	if c.outlast == nil {
		c.outlast, c.expire = context.WithCancelCause(l.base)
	}
	return c.outlast
}

// cleanupContext returns the context of everything that runs in a frame after its cancel.
// It is one context, so that all of it shares one time limit.
func (l *eventLoop) cleanupContext(f *frame) context.Context {
	c := l.controls[f]
	if c.cleanup == nil {
		ctx, cancel := context.WithDeadlineCause(l.base, f.cleanupDeadline, ErrTimeout)
		_ = cancel // base ends with the run, and this context with it
		c.cleanup = ctx
	}
	return c.cleanup
}

// publish records the events of the turn and sends them to the sinks.
func (l *eventLoop) publish() error {
	if err := l.journal(); err != nil {
		return fmt.Errorf("cannot record the run's events: %w", err)
	}
	for _, s := range l.options.Sinks {
		for i := range l.batch {
			s.Emit(l.batch[i])
		}
	}
	return nil
}

// journal records the events of the turn.
func (l *eventLoop) journal() error {
	j := l.options.Journal
	if len(l.batch) == 0 || j == nil {
		return nil
	}
	l.made = l.made[:0]
	for i := range l.batch {
		l.made = append(l.made, l.batch[i].Result)
	}
	if err := j.Append(l.record, l.batch); err != nil {
		return err
	}
	for i, r := range l.made {
		if e := &l.batch[i]; e.Result != r {
			l.state.replaceResult(r, e)
		}
		l.state.notices = append(l.state.notices, l.batch[i].Notices...)
	}
	if !slices.ContainsFunc(l.batch, needsSync) {
		return nil
	}
	return j.Sync(l.record)
}

// needsSync reports whether an event must be durable before Run acts on it.
func needsSync(e Event) bool {
	switch e.Kind {
	case RunFinished:
		return true
	case StepStarted, StepFallback:
		return e.at.f != nil && e.at.f.def(e.at.i).DurableStart
	}
	return false
}

// act carries out what was decided and recorded: it opens and cancels contexts and starts
// tasks.
func (l *eventLoop) act() {
	for _, f := range l.opened {
		l.addControl(f)
	}
	for _, t := range l.tasks {
		t.ctx = l.context(t.scope)
	}
	for i := range l.batch {
		if e := &l.batch[i]; e.Kind == RunCancelling {
			l.cancelContexts(e)
		}
	}
	for _, f := range l.closed { // otherwise the context would stay in memory as long as that of the outer graph
		if c := l.controls[f]; c != nil {
			c.cancel(nil)
			delete(l.controls, f)
		}
	}
	l.pool.submit(l.tasks)
}

func (l *eventLoop) addControl(f *frame) {
	c := new(control)
	c.ctx, c.cancel = context.WithCancelCause(l.context(f.scope))
	l.controls[f] = c
}

// cancelContexts ends the contexts of a cancelled frame, and with them those of nested
// frames.
func (l *eventLoop) cancelContexts(e *Event) {
	if e.Reason == ReasonForced {
		l.force(&Cancel{Reason: ReasonForced, Cause: errForced})
		return
	}
	if f := l.state.cancelledFrame(e); f != nil {
		if c := l.controls[f]; c != nil {
			c.cancel(&Cancel{Reason: e.Reason, Cause: context.Cause(l.ctx)})
		}
		l.limitCleanup(f)
	}
}

// limitCleanup sets the end of the cleanup time for nodes that still run in a cancelled
// frame.
func (l *eventLoop) limitCleanup(f *frame) {
	if f.stopped == "" {
		return // not cancelled: it belongs to a node that outlasts the cancel
	}
	if c := l.controls[f]; c != nil && c.expire != nil {
		cleanup := l.cleanupContext(f) // it ends by its deadline, or by force
		l.onExit = append(l.onExit, context.AfterFunc(cleanup, func() { c.expire(context.Cause(cleanup)) }))
	}
	for _, c := range f.children {
		l.limitCleanup(c)
	}
}

// wait sleeps until there is a reason for another turn.
func (l *eventLoop) wait(wake time.Time) {
	var due <-chan time.Time
	if !wake.IsZero() {
		t := time.NewTimer(time.Until(wake))
		defer t.Stop()
		due = t.C
	}
	done := l.ctx.Done()
	if l.cancelSeen {
		done = nil // already recorded
	}
	select {
	case <-l.pool.wake:
	case <-due:
	case <-done:
	case <-l.options.Force:
	case a, more := <-l.options.Answers:
		l.receiveAnswer(a, more)
	case <-l.releaseSignal():
	case <-l.options.Abandon:
	}
}
