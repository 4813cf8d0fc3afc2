package dag

import (
	"fmt"
	"slices"
	"time"
)

// takeAnswers applies the answers that have been received.
func (l *eventLoop) takeAnswers(now time.Time) {
	for l.options.Answers != nil {
		select {
		case a, more := <-l.options.Answers:
			l.receiveAnswer(a, more)
			continue
		default:
		}
		break
	}
	answers := l.pendingAnswers
	l.pendingAnswers = nil
	for _, a := range answers {
		if a.Result == nil {
			l.decline(a)
			continue
		}
		e, early, late := l.state.answerEvent(a, now)
		switch {
		case early:
			l.pendingAnswers = append(l.pendingAnswers, a)
		case !late:
			l.batch = append(l.batch, e)
			l.apply(&l.batch[len(l.batch)-1], now)
		}
	}
}

// receiveAnswer handles what was received from the channel; more is false if it was closed.
func (l *eventLoop) receiveAnswer(a Answer, more bool) {
	if !more {
		l.options.Answers = nil
		return
	}
	l.pendingAnswers = append(l.pendingAnswers, a)
}

// decline notes that the person who was asked does not answer.
func (l *eventLoop) decline(a Answer) {
	if l.declined == nil {
		l.declined = map[uint64]bool{}
	}
	l.declined[a.Wait] = true
}

// onlyAnswersLeft reports whether everything that is left waits for answers that this
// process cannot get.
func (l *eventLoop) onlyAnswersLeft() bool {
	if l.inFlight+len(l.fallbacks) > 0 || len(l.pendingAnswers) > 0 || l.state.undecided() || len(l.state.waits) == 0 {
		return false
	}
	return !slices.ContainsFunc(l.state.waits, func(t timer) bool {
		n := t.at.f.node(t.at.i)
		return n.status == Waiting && (!n.res.Wait.Asks || l.options.Attended && l.options.Answers != nil && !l.declined[t.wait])
	})
}

// leaveWaiting makes durable what was recorded so far, before Run returns.
func (l *eventLoop) leaveWaiting() error {
	if l.options.Journal == nil {
		return nil
	}
	if err := l.options.Journal.Sync(l.record); err != nil {
		return fmt.Errorf("cannot record the run's events: %w", err)
	}
	return nil
}
