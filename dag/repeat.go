package dag

import (
	"fmt"
	"time"
)

// Repeat runs a node in rounds. A round is an attempt with its retries; the next one starts
// when Done says that another is needed and the time between two rounds has passed. Between
// rounds the node holds no slot. Its result is that of the last round.
type Repeat struct {
	// Done is asked after a round with its result, whether it was the last one. It is called
	// by the goroutine that owns the run. An error fails the node with ReasonCondition.
	Done func(View, *Result) (bool, error)
	// Failures means that Done is asked about rounds that failed, too. Otherwise such a round
	// is the last one.
	Failures bool
	Backoff  Backoff       // time between two rounds
	Max      int           // number of rounds after which the node fails with ReasonRepeat; 0 means no limit
	Timeout  time.Duration // of all rounds together: then the node has timed out, with ReasonRepeat; 0 means none
}

// rounds is the progress of a node with Policy.Repeat. It survives a resume.
type rounds struct {
	started  time.Time // of the first attempt
	ended    int       // number of rounds
	attempts int       // in the rounds that have ended
}

// startRound notes that a node starts an attempt.
func (f *frame) startRound(i int32, now time.Time) {
	if f.def(i).Policy.Repeat == nil || f.rounds[i] != nil {
		return
	}
	if f.rounds == nil {
		f.rounds = map[int32]*rounds{}
	}
	f.rounds[i] = &rounds{started: now}
}

// endRound notes that a round of a node has ended and another one follows.
func (f *frame) endRound(i int32) {
	if p := f.rounds[i]; p != nil {
		p.ended++
		p.attempts = int(f.node(i).attempt)
	}
}

// roundDeadline returns when all rounds of a node must have ended, zero for no limit.
func (at place) roundDeadline() (due time.Time) {
	if p := at.f.rounds[at.i]; p != nil && at.f.def(at.i).Policy.Repeat.Timeout > 0 {
		return p.started.Add(at.f.def(at.i).Policy.Repeat.Timeout)
	}
	return due
}

// round returns which round of a node runs or comes next. It counts from 1.
func (at place) round() int32 {
	if p := at.f.rounds[at.i]; p != nil {
		return int32(p.ended) + 1
	}
	return 1
}

// roundsBefore returns the number of attempts in earlier rounds.
func (at place) roundsBefore() int {
	if p := at.f.rounds[at.i]; p != nil {
		return p.attempts
	}
	return 0
}

// afterRound decides what follows a round with result r: the end of the node with that
// result, its end because it has used up its rounds or its time, or another round at due.
func (s *State) afterRound(at place, r *Result, now time.Time) (due time.Time, again bool) {
	policy, progress := at.f.def(at.i).Policy.Repeat, at.f.rounds[at.i]
	deadline := at.roundDeadline()
	late := !deadline.IsZero() && !now.Before(deadline)
	giveUp := func(status Status, code int, why string) {
		r.Status, r.ExitCode, r.Reason, r.Message = status, code, ReasonRepeat, why
	}
	switch {
	case progress == nil, r.Permanent, r.Status != Succeeded && r.Status != Failed && r.Status != TimedOut:
		return due, false
	case late && r.Status == TimedOut:
		giveUp(TimedOut, ExitTimeout, fmt.Sprintf("gave up after %s, in round %d", policy.Timeout, progress.ended+1))
		return due, false
	case r.Status != Succeeded && !policy.Failures:
		return due, false
	}
	done, err := s.lastRound(at.view(), r)
	due = now.Add(policy.Backoff.maxDelay(progress.ended + 1))
	switch {
	case err != nil:
		r.Status, r.ExitCode, r.Reason, r.Message = Failed, 1, ReasonCondition, err.Error()
	case done:
	case policy.Max > 0 && progress.ended+1 >= policy.Max:
		giveUp(Failed, max(r.ExitCode, 1), fmt.Sprintf("gave up after %s", countRounds(progress.ended+1)))
	case !deadline.IsZero() && !due.Before(deadline):
		giveUp(TimedOut, ExitTimeout, fmt.Sprintf("gave up after %s: the next would start after the timeout of %s", countRounds(progress.ended+1), policy.Timeout))
	default:
		return due, true
	}
	return due, false
}

// endStopped sets how a node ends whose round ended with result r after a cancel. No other round
// starts: a node that needs one is cancelled, as a step is that a cancel stops.
func (s *State) endStopped(at place, r *Result) {
	if r.Status != Succeeded {
		return
	}
	if done, err := s.lastRound(at.view(), r); !done || err != nil {
		r.Status, r.Reason = Cancelled, at.f.stopped
	}
}

func countRounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

// lastRound asks whether the round with result r was the last one.
func (s *State) lastRound(v View, r *Result) (bool, error) {
	if s.judge != nil {
		return s.judge(OrderRepeat, v, r)
	}
	return v.f.def(v.i).Policy.Repeat.Done(v, r)
}
