package engine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/library"
)

// A run whose tool has retry-run may be retried automatically: as another run, its next attempt. The engine decides this at
// the end of the run (planAttempt) and records it with the end, as the Due of the last event; from then on it is
// RunInfo.RetryAt of the Store. Who executes runs for others begins the attempt then (NextAttempt): the engine does not
// wait for it.

// WithoutRetryRun makes the end of the run final, also if its tool has retry-run.
func WithoutRetryRun() RunOption { return func(o *runOptions) { o.withoutRetryRun = true } }

// planAttempt decides about the next attempt of a run that ends. If it cannot be, a notice says why.
func (j *job) planAttempt(e *dag.Event) {
	wait, again := j.plan.RetryRun.Next(j.attempt(), e.Result)
	if !again || j.withoutRetryRun || CalledByModel(j.startedBy()) { // a model sees the failure, and decides itself
		return
	}
	if why := j.noAttempt(); why != "" {
		j.account.note(notice.Notice{Code: notice.NotRetried, Message: "the run is not retried automatically: " + why})
		return
	}
	e.Due = e.Time.Add(wait).Round(0)
	j.retryAt = e.Due
}

// attempt returns the number of the run among those that retry each other.
func (j *job) attempt() int {
	if j.kept == nil {
		return 1
	}
	return attemptOf(j.kept)
}

// attemptOf returns the number of a recorded run among those that retry each other.
func attemptOf(r *history.Record) int { return max(r.Attempt, 1) }

// noAttempt returns why the run cannot be retried automatically, "" if it can.
func (j *job) noAttempt() string {
	switch {
	case j.ledger == nil:
		return "it is not recorded"
	case len(j.kept.Withheld) == 1:
		return fmt.Sprintf("its parameter %s is secret and was not stored; to retry it: flowrun retry %s %[1]s=...", j.kept.Withheld[0], j.id)
	case len(j.kept.Withheld) > 1:
		return fmt.Sprintf("its parameters %s are secret and were not stored; pass them again to flowrun retry %s", strings.Join(j.kept.Withheld, ", "), j.id)
	}
	return ""
}

// NextAttempt works out the run that follows this one automatically, at Info.RetryAt: a retry with the same parameters,
// labels and origin, in which every step runs again or, with reuse, as in Retry. Engine.Continue carries it out, once:
// it fails with history.ErrRetried if the run has been retried, resumed or cancelled in the meantime. Errors: the same if
// that has happened before; those of Retry.
func (p *RecordedRun) NextAttempt(lib *library.Library) (*Continuation, error) {
	rule := p.Plan.compiled.RetryRun
	if rule == nil || p.Info.RetryAt.IsZero() {
		return nil, fmt.Errorf("cannot begin the next attempt of run %s: %w", p.Record.ID, history.ErrRetried)
	}
	var o RetryOptions
	if !rule.Reuse {
		o.From = p.Plan.Steps()
	}
	g, err := p.Retry(lib, o)
	if err != nil {
		return nil, err
	}
	g.automatic = true
	return g, nil
}

// RunAttempts returns how many runs there are at most of a call of the plan's tool, those by which retry-run retries it
// included: 1 without retry-run.
func (p *Plan) RunAttempts() int { return p.compiled.RunAttempts() }
