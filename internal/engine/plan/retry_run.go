package plan

import (
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// RetryRun says which runs of a tool are retried automatically, as other runs, and when.
type RetryRun struct {
	*tool.RetryRun
	Delays dag.Backoff // between the end of a run and the begin of the next
}

// Next returns how long after its end the run with that result is retried. attempt is its number among the runs that
// retry each other, which counts from 1. again is false if it is not retried, which is so without a rule.
func (r *RetryRun) Next(attempt int, res *dag.Result) (wait time.Duration, again bool) {
	if r == nil || attempt > r.Attempts || res.Permanent || !r.After(res.Status.String(), res.Reason) {
		return 0, false
	}
	return r.Delays.Wait(attempt), true
}

// RunAttempts returns how many runs there are at most of a call of the tool: 1 if none is retried automatically.
func (p *Plan) RunAttempts() int {
	if p.RetryRun == nil {
		return 1
	}
	return p.RetryRun.Attempts + 1
}
