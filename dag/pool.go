package dag

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// pool executes tasks in goroutines that it keeps for the whole run: to start a goroutine
// for each of many short steps would cost more than the bookkeeping of the step. The loop
// limits the number of tasks, so the pool never rejects one.
type pool struct {
	run         string
	mu          sync.Mutex
	work        sync.Cond
	tasks       []*task
	head        int
	idleWorkers int
	waking      bool // a worker was woken or started and has not taken a task yet
	closed      bool
	reports     []*task
	around      func(context.Context, *Call, Runner) (Result, error)
	acquires    func(ctx context.Context, path ID, claim any) (func(), error)
	wake        chan struct{} // holds one token if there are reports or a slot was granted
	workers     sync.WaitGroup
}

func newPool(run string) *pool {
	p := &pool{run: run, wake: make(chan struct{}, 1)}
	p.work.L = &p.mu
	return p
}

// submit passes tasks to workers.
func (p *pool) submit(ts []*task) {
	if len(ts) == 0 {
		return
	}
	p.mu.Lock()
	p.tasks = append(p.tasks, ts...)
	p.wakeWorker()
	p.mu.Unlock()
}

// wakeWorker starts or wakes one worker if there is a task and no other worker is on its
// way. That worker calls wakeWorker again after it has taken its task. So workers start one
// after another while there are tasks; if tasks are shorter than a wake-up, few workers do
// all the work. The caller holds the lock.
func (p *pool) wakeWorker() {
	if p.waking || p.head == len(p.tasks) {
		return
	}
	p.waking = true
	if p.idleWorkers > 0 {
		p.work.Signal()
		return
	}
	p.workers.Add(1)
	go p.worker()
}

func (p *pool) worker() {
	defer p.workers.Done()
	var c Call
	p.mu.Lock()
	p.waking = false
	for {
		for p.head == len(p.tasks) && !p.closed {
			p.idleWorkers++
			p.work.Wait()
			p.idleWorkers--
			p.waking = false
		}
		if p.head == len(p.tasks) {
			p.mu.Unlock()
			return
		}
		t := p.tasks[p.head]
		p.tasks[p.head] = nil
		if p.head++; p.head == len(p.tasks) {
			p.tasks, p.head = p.tasks[:0], 0
		}
		p.wakeWorker()
		p.mu.Unlock()
		p.execute(t, &c)
		p.mu.Lock()
		p.reports = append(p.reports, t)
		if len(p.reports) == 1 {
			select {
			case p.wake <- struct{}{}:
			default:
			}
		}
	}
}

// takeReports returns the reports and uses buf for the next ones.
func (p *pool) takeReports(buf []*task) []*task {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := p.reports
	p.reports = buf[:0]
	return full
}

// close stops the workers and waits for them.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.work.Broadcast()
	p.mu.Unlock()
	p.workers.Wait()
}

// execute runs one task. The Call belongs to the worker and is valid until the next task.
func (p *pool) execute(t *task, c *Call) {
	returned := false
	defer func() {
		if !returned {
			p.reportExited(t)
		}
	}()
	if t.completes != nil || t.claims || t.releases {
		t.manage(p)
		returned = true
		return
	}
	if t.release != nil {
		defer t.release()
	}
	def := t.at.f.def(t.at.i)
	*c = Call{View: t.at.view(), Run: p.run, Path: t.at.f.path(t.at.i), Attempt: t.attempt, Round: int(t.round), Previous: t.previous}
	ctx := t.ctx
	if d := def.Policy.Timeout; d > 0 && !t.bind {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, ErrTimeout)
		defer cancel()
	}
	if !t.until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, t.until, ErrTimeout)
		defer cancel()
	}
	started := time.Now()
	if ctx.Err() == nil {
		t.call(ctx, def, c, p.around)
	} else {
		t.res.Status = Failed // not Pending, or a bind that never started would count as successful
	}
	t.classifyStop(ctx)
	t.res.Started, t.res.Ended = started, time.Now()
	returned = true
}

// reportExited reports a task whose runner ended the goroutine of the worker with
// runtime.Goexit, as FailNow of a test does. Without the report the run would wait for it
// forever.
func (p *pool) reportExited(t *task) {
	now := time.Now()
	*t.res = Result{Status: Failed, ExitCode: 1, Reason: ReasonPanic, Started: now, Ended: now,
		Message: "the step's goroutine ended without returning (runtime.Goexit)"}
	p.mu.Lock()
	p.reports = append(p.reports, t)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// manage does a task that is not part of a step's own work.
func (t *task) manage(p *pool) {
	switch {
	case t.claims:
		p.acquire(t)
	case t.releases:
		t.release()
	default:
		t.complete()
	}
}

// complete completes the result of a walk. A panic fails it.
func (t *task) complete() {
	defer func() {
		if v := recover(); v != nil {
			t.res.Status, t.res.ExitCode, t.res.Reason, t.res.Message = Failed, 1, ReasonPanic, fmt.Sprintf("panic: %v", v)
		}
		t.res.Ended = time.Now()
	}()
	t.completes.walk.completer(t.completes)(t.res)
}

// call calls the function that the task is for. A panic becomes a failure.
func (t *task) call(ctx context.Context, def *Node, c *Call, around func(context.Context, *Call, Runner) (Result, error)) {
	defer func() {
		if v := recover(); v != nil {
			t.err = nil
			*t.res = Result{Status: Failed, ExitCode: 1, Reason: ReasonPanic, Message: fmt.Sprintf("panic: %v", v)}
		}
	}()
	if t.bind {
		t.bindArgs(ctx, def, c)
		return
	}
	runner := def.Runner
	if t.fallback {
		runner = def.Policy.Fallback
	}
	if around != nil {
		*t.res, t.err = around(ctx, c, runner)
	} else {
		*t.res, t.err = runner.Run(ctx, c)
	}
	t.res.Status = t.res.endStatus()
}

// bindArgs computes the arguments or items. On success it leaves the status Pending.
func (t *task) bindArgs(ctx context.Context, def *Node, c *Call) {
	var err error
	if def.Each != nil {
		if t.items, err = def.Each.Items(ctx, c); err == nil {
			err = checkItems(t.items)
		}
	} else {
		t.args, err = def.Bind(ctx, c)
	}
	if err != nil {
		*t.res = Result{Status: Failed, ExitCode: 1, Reason: ReasonInput, Message: err.Error(), Permanent: true}
	}
}

// classifyStop sets the status of an attempt whose context has ended: whatever the runner
// returned, also an error, it is a timeout or a cancel. An attempt that succeeded in spite
// of this keeps its result.
func (t *task) classifyStop(ctx context.Context) {
	r := t.res
	if ctx.Err() == nil || t.err == nil && (r.Status.successful() || t.bind && r.Status == Pending) {
		return
	}
	if t.err != nil {
		r.Message, t.err = t.err.Error(), nil
	}
	var c *Cancel
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &c):
		r.Status, r.Reason = Cancelled, c.Reason
	case errors.Is(cause, ErrTimeout):
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	default:
		r.Status, r.Reason = Cancelled, ReasonCancelled
	}
}
