package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// Answer implements API.
func (s *Service) Answer(ctx context.Context, id, step string, a Answer) error {
	past, err := s.RecordedRun(ctx, id)
	if err != nil {
		return err
	}
	q, err := questionOf(past, step)
	if err != nil {
		return err
	}
	full := flowrun.Answer{Step: q.Step, Wait: q.Wait, Approve: a.Approve, Comment: a.Comment, By: cmp.Or(history.ActorOf(ctx), "api"), At: time.Now()}
	if a.Approve {
		if full.Values, err = q.Check(a.Values); err != nil {
			return err
		}
	}
	if err := s.Store.Answer(ctx, id, full); err != nil {
		return err
	}
	return s.answered(ctx, past, q.Wait)
}

// questionOf returns the question of the step with that path, whatever its attempt. If step
// is "", it returns the only question of the run.
func questionOf(p *flowrun.RecordedRun, step string) (flowrun.Question, error) {
	var meant []flowrun.Question
	for _, q := range p.Questions() {
		plain := dag.ID(q.Step).WithoutAttempts()
		if step == "" || q.Step == step || plain == dag.ID(step) || dag.ID(step).Names(plain) {
			meant = append(meant, q)
		}
	}
	switch {
	case len(meant) == 0 && step != "" && p.Plan.Step(step) == nil:
		return flowrun.Question{}, p.NoStep(step)
	case len(meant) == 0:
		return flowrun.Question{}, ErrNoQuestion
	case len(meant) > 1:
		return flowrun.Question{}, ErrManyQuestions
	case meant[0].Over(time.Now()):
		return flowrun.Question{}, fmt.Errorf("%w: the deadline was %s", ErrTooLate, meant[0].Until.Format(time.RFC3339))
	}
	return meant[0], nil
}

// A live owner usually receives an answer at once, but not if it is just giving up the run
// in order to wait. The run is therefore polled every answerPollInterval, for at most maxAnswerPoll.
const (
	maxAnswerPoll      = 5 * time.Second
	answerPollInterval = 50 * time.Millisecond
)

// answered resumes a run whose question has been answered, unless its owner handles the
// answer. It is not an error if another process resumes the run first.
func (s *Service) answered(ctx context.Context, p *flowrun.RecordedRun, wait uint64) error {
	for until := time.Now().Add(maxAnswerPoll); ; time.Sleep(answerPollInterval) {
		if !p.Info.Live() {
			err := s.carryOn(ctx, p.Record.ID)
			if errors.Is(err, ErrDraining) {
				return nil
			}
			// If another owner was faster, it may have stopped receiving answers before this one came.
			if !errors.Is(err, flowrun.ErrLive) && !errors.Is(err, flowrun.ErrChanged) {
				return err
			}
		}
		if err := p.Refresh(ctx, s.Store); err != nil {
			return err
		}
		handled := !slices.ContainsFunc(p.Questions(), func(q flowrun.Question) bool { return q.Wait == wait })
		if handled || time.Now().After(until) {
			return nil
		}
	}
}
