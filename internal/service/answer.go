package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

// Answer answers the question of the step with that path, or the only question if step is "", and
// makes sure that the run continues. Errors: ErrNoRun, ErrNoQuestion, ErrManyQuestions, ErrTooLate,
// engine.ErrAnswered, a *engine.ParamsError if the values do not fit the form.
func (c *Control) Answer(ctx context.Context, id, step string, a Answer) error {
	past, err := c.runs.RecordedRun(ctx, id)
	if err != nil {
		return err
	}
	q, err := questionOf(past, step)
	if err != nil {
		return err
	}
	full := history.Answer{Step: q.Step, Wait: q.Wait, Approve: a.Approve, Comment: a.Comment, By: history.ActorOf(ctx), At: time.Now()}
	if a.Approve {
		if full.Values, err = q.Check(a.Values); err != nil {
			return err
		}
	}
	if err := c.store.Answer(ctx, id, full); err != nil {
		return err
	}
	return c.answered(ctx, past, q.Wait)
}

// questionOf returns the question of the step with that path, whatever its attempt. If step
// is "", it returns the only question of the run.
func questionOf(p *engine.RecordedRun, step string) (history.Question, error) {
	meant := engine.Named(p.Questions(), step)
	switch {
	case len(meant) == 0 && step != "" && p.Plan.Step(step) == nil:
		return history.Question{}, p.NoStep(step)
	case len(meant) == 0:
		return history.Question{}, outcome.ErrNoQuestion
	case len(meant) > 1:
		return history.Question{}, outcome.ErrManyQuestions
	case meant[0].Over(time.Now()):
		return history.Question{}, fmt.Errorf("%w: the deadline was %s", outcome.ErrTooLate, meant[0].Until.Format(time.RFC3339))
	}
	return meant[0], nil
}

// A live owner usually receives an answer at once, but not if it is just giving up the run
// in order to wait. The run is therefore polled every answerPollInterval, for at most maxAnswerPoll.
const (
	maxAnswerPoll      = 5 * time.Second
	answerPollInterval = 50 * time.Millisecond
)

// answered resumes a run whose question has been answered, unless its owner, or another engine, handles the
// answer. It is not an error if another process resumes the run first.
func (c *Control) answered(ctx context.Context, p *engine.RecordedRun, wait uint64) error {
	for until := time.Now().Add(maxAnswerPoll); ; time.Sleep(answerPollInterval) {
		if !p.Info.Live() && p.Info.Engine == "" {
			err := c.proceed(ctx, p.Record.ID, (*engine.RecordedRun).Continue)
			if errors.Is(err, outcome.ErrDraining) {
				return nil
			}
			// If another owner was faster, it may have stopped receiving answers before this one came.
			if !errors.Is(err, history.ErrLive) && !errors.Is(err, history.ErrChanged) {
				return err
			}
		}
		if err := p.Refresh(ctx, c.store); err != nil {
			return err
		}
		handled := !slices.ContainsFunc(p.Questions(), func(q history.Question) bool { return q.Wait == wait })
		if handled || time.Now().After(until) {
			return nil
		}
	}
}
