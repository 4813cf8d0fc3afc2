package dag

import (
	"fmt"
	"slices"
	"time"
)

// applyAnswers applies the answers that have been received.
func (m *machine) applyAnswers(now time.Time) {
	answers := m.pendingAnswers
	m.pendingAnswers = nil
	for _, a := range answers {
		if a.Result == nil && !a.Restart {
			m.decline(a)
			continue
		}
		e, early, late := m.state.answerEvent(a, now)
		switch {
		case early:
			m.pendingAnswers = append(m.pendingAnswers, a)
		case !late:
			m.batch = append(m.batch, e)
			m.apply(&m.batch[len(m.batch)-1], now)
			if e.Kind == StepStarted {
				m.restart(e.at)
			}
		}
	}
}

// decline notes that the person who was asked does not answer.
func (m *machine) decline(a Answer) {
	if m.declined == nil {
		m.declined = map[uint64]bool{}
	}
	m.declined[a.Wait] = true
}

// onlyAnswersLeft reports whether everything that is left waits for answers. attended means
// that those count as reachable which nobody has declined to give.
func (m *machine) onlyAnswersLeft(attended bool) bool {
	if !m.idle() || len(m.pendingAnswers) > 0 || len(m.state.waits) == 0 {
		return false
	}
	return !slices.ContainsFunc(m.state.waits, func(t timer) bool {
		n := t.at.f.node(t.at.i)
		return n.status == Waiting && (!n.res.Wait.Asks || attended && !m.declined[t.wait])
	})
}

// takeAnswers receives the answers that are in the channel.
func (l *eventLoop) takeAnswers() {
	for l.options.Answers != nil {
		select {
		case a, more := <-l.options.Answers:
			l.receiveAnswer(a, more)
		default:
			return
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
