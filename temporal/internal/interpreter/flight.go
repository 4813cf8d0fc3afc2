package interpreter

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/temporal/internal/queue"
)

// flight is a task that is being carried out.
type flight struct {
	task    dag.Task
	order   *dag.Order
	cancel  workflow.CancelFunc
	stopped string // why it was cancelled, "" if it was not
}

// An attempt may take as long as it likes. A worker that has sent no heartbeat for
// HeartbeatTimeout is lost.
const (
	noTimeout        = 10 * 365 * 24 * time.Hour
	HeartbeatTimeout = 15 * time.Second
)

// start carries out a task.
func (r *run) start(t dag.Task) {
	switch {
	case t.Claims():
		r.claim(t)
		return
	case t.Releases(): // the event of the step has given it back
		r.report(dag.Report{Task: t})
		return
	}
	o := t.Order()
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(r.ctx, workflow.ActivityOptions{TaskQueue: r.queue(t, o),
		StartToCloseTimeout: noTimeout, HeartbeatTimeout: HeartbeatTimeout, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: title(o)}))
	f := &flight{task: t, order: o, cancel: cancel}
	r.flights = append(r.flights, f)
	done := workflow.ExecuteActivity(ctx, activityType(o), o)
	workflow.Go(r.ctx, func(ctx workflow.Context) {
		var out dag.Outcome
		err := done.Get(ctx, &out)
		r.flights = slices.DeleteFunc(r.flights, func(x *flight) bool { return x == f })
		r.land(f, out, err)
		r.wakeup = true
	})
}

// queue returns the task queue of the workers that carry out a task.
func (r *run) queue(t dag.Task, o *dag.Order) string {
	queue := workflow.GetInfo(r.ctx).TaskQueueName
	switch {
	case o.Kind != dag.OrderRun:
	case t.Node().NoSlot:
		return WaitQueue(queue)
	case t.Node().Claim != nil:
		if pool := r.plan.Pool(string(o.Path.WithoutKeys())); pool != "" {
			return PoolQueue(queue, pool)
		}
	}
	return queue
}

// activityType is the name of an activity in the pages of the server: the path of the step in
// the definition.
func activityType(o *dag.Order) string {
	name := string(o.Path.WithoutKeys())
	switch {
	case o.Kind == dag.OrderBind:
		return name + " (arguments)"
	case o.Kind == dag.OrderComplete && name == "":
		return "(output)"
	case o.Kind == dag.OrderComplete:
		return name + " (output)"
	}
	return name
}

// title is the line that the pages of the server show beside an activity: which attempt of
// which item it is.
func title(o *dag.Order) string {
	var b strings.Builder
	b.WriteString(string(o.Path))
	if o.Attempt > 1 {
		b.WriteString("#" + strconv.Itoa(o.Attempt))
	}
	if o.Kind == dag.OrderFallback {
		b.WriteString(" (fallback)")
	}
	return b.String()
}

// land handles the end of an activity.
func (r *run) land(f *flight, out dag.Outcome, err error) {
	report := dag.Report{Task: f.task, Outcome: out}
	if out.Result.Status == dag.Cancelled { // otherwise it ended before the cancel reached it
		report.Stopped = f.stopped
	}
	switch {
	case err == nil:
	case temporal.IsCanceledError(err): // it had not started
		now := workflow.Now(r.ctx)
		report.Result, report.Stopped = dag.Result{Status: dag.Failed, Started: now, Ended: now}, f.stopped
	case !isLost(err):
		r.err = errors.New("step " + string(f.order.Path) + ": " + message(err))
		return
	default:
		r.interrupted(f)
		return
	}
	r.in.Reports = append(r.in.Reports, report)
}

// InterruptedType is the type of the error with which a worker gives up an attempt because it
// is being stopped itself.
const InterruptedType = "interrupted"

// isLost reports whether an activity ended because its worker is gone.
func isLost(err error) bool {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enums.TIMEOUT_TYPE_HEARTBEAT ||
		errors.As(err, &app) && app.Type() == InterruptedType
}

// message returns the message of an error without what the SDK adds.
func message(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	return err.Error()
}

// stop cancels the activities that a cancel, or the end of the time for cleaning up, ends. It
// returns when to look again.
func (r *run) stop() (next time.Time) {
	now := workflow.Now(r.ctx)
	next = r.stopClaims(now)
	for _, f := range r.flights {
		if f.stopped != "" {
			continue
		}
		reason, until := r.machine.Stop(f.task, now)
		if reason != "" {
			f.stopped = reason
			f.cancel()
			continue
		}
		next = queue.Sooner(next, until)
	}
	return next
}
