package dag

import (
	"fmt"
	"slices"
	"time"
)

// hear folds in the answers that have come.
func (l *loop) hear(now time.Time) {
	for l.options.Answers != nil {
		select {
		case a, more := <-l.options.Answers:
			l.answer(a, more)
			continue
		default:
		}
		break
	}
	answers := l.pendingAnswers
	l.pendingAnswers = nil
	for _, a := range answers {
		if a.Result == nil {
			l.leave(a)
			continue
		}
		e, early, late := l.state.answered(a, now)
		switch {
		case early:
			l.pendingAnswers = append(l.pendingAnswers, a)
		case !late:
			l.batch = append(l.batch, e)
			l.note(&l.batch[len(l.batch)-1], now)
		}
	}
}

// answer takes what came from the channel.
func (l *loop) answer(a Answer, more bool) {
	if !more {
		l.options.Answers = nil
		return
	}
	l.pendingAnswers = append(l.pendingAnswers, a)
}

// leave notes that whoever was asked does not answer.
func (l *loop) leave(a Answer) {
	if l.declined == nil {
		l.declined = map[uint64]bool{}
	}
	l.declined[a.Wait] = true
}

// rests says whether everything that is left waits for answers which nobody here gives.
func (l *loop) rests() bool {
	if l.inFlight+len(l.fallbacks) > 0 || len(l.pendingAnswers) > 0 || l.state.undecided() || len(l.state.waits) == 0 {
		return false
	}
	return !slices.ContainsFunc(l.state.waits, func(t timer) bool {
		n := t.at.f.node(t.at.i)
		return n.status == Waiting && (!n.res.Wait.Asks || l.options.Attended && l.options.Answers != nil && !l.declined[t.wait])
	})
}

// rest leaves the run as it is, once what it has come to is durable.
func (l *loop) rest() error {
	if l.options.Journal == nil {
		return nil
	}
	if err := l.options.Journal.Sync(l.record); err != nil {
		return fmt.Errorf("cannot record the run's events: %w", err)
	}
	return nil
}
