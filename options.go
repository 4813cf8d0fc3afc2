package flowrun

import (
	"context"
)

// WithApproval has ask called for every question of the run's approve steps, each in a
// goroutine of its own as soon as it is asked; of a run that goes on also for those
// that were open. What it answers is recorded like the answer of anybody else; its Step
// and Wait need not be set. It must return soon after ctx ends, which it does when the question has got
// another answer or is too late to answer, and with the run. While it asks, the run
// waits; with an error, which is ErrNobody unless something is wrong, it leaves the
// answer to others. A run of which all that is left waits for others rests: Run returns
// with the status Waiting. Without WithApproval nobody is asked, and without a Store as
// well a step that asks fails.
func WithApproval(ask func(ctx context.Context, q Question) (Answer, error)) RunOption {
	return func(o *runOptions) { o.approval = ask }
}
