package interpreter

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/temporal/internal/queue"
)

// Claim is what the run, or the next attempt of one of its steps, holds or waits for in the queue of its task queue.
type Claim struct {
	queue.Place
	Held bool `json:"held,omitempty"`

	waits bool     // task does
	task  dag.Task // of a step that waits
}

// claimOf returns the claim of a step, or of the run for "", nil if it has none.
func (r *run) claimOf(step dag.ID) *Claim {
	i := slices.IndexFunc(r.claims, func(c *Claim) bool { return c.Step == string(step) })
	if i < 0 {
		return nil
	}
	return r.claims[i]
}

// join puts the run, or a step, into the queue. If it is there already, as a workflow that was continued as new may be, it
// keeps its place.
func (r *run) join(step dag.ID, e queue.Entry) *Claim {
	c := r.claimOf(step)
	if c == nil {
		r.tokens++
		c = &Claim{Place: queue.Place{Step: string(step), Token: r.tokens}}
		r.claims = append(r.claims, c)
	}
	e.Place = c.Place
	r.outbox.Join = append(r.outbox.Join, e)
	return c
}

// leave gives back what a claim is for.
func (r *run) leave(c *Claim) {
	r.claims = slices.DeleteFunc(r.claims, func(x *Claim) bool { return x == c })
	r.outbox.Leave = append(r.outbox.Leave, c.Place)
}

// send sends the queue what this turn has decided.
func (r *run) send() error {
	if len(r.outbox.Join)+len(r.outbox.Leave) == 0 {
		return nil
	}
	request := r.outbox
	request.Run, r.outbox = r.input.Record.ID, queue.Request{}
	ctx := workflow.WithLocalActivityOptions(r.ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute, Summary: "locks and pools"})
	return workflow.ExecuteLocalActivity(ctx, queue.SendActivity, request).Get(ctx, nil)
}

// claim carries out a task that asks for what its step claims.
func (r *run) claim(t dag.Task) {
	a := engine.AdmissionOf(r.plan, string(t.Path().WithoutKeys()), r.input.Options.Pools)
	c := r.claimOf(t.Path())
	if len(a.Demands) == 0 || c != nil && c.Held { // of a pool of workers; or kept from before
		r.report(dag.Report{Task: t, Granted: true})
		return
	}
	c = r.join(t.Path(), queue.Entry{Demands: a.Demands, Priority: a.Priority})
	c.task, c.waits = t, true
}

// report has the machine see a report in the next turn, which is now.
func (r *run) report(report dag.Report) {
	r.in.Reports = append(r.in.Reports, report)
	r.wakeup = true
}

// takeGrants notes what the queue has granted. What nobody waits for any more goes back.
func (r *run) takeGrants() {
	grants := r.grants
	r.grants = nil
	for _, place := range grants {
		c := r.claimOf(dag.ID(place.Step))
		if c == nil || c.Token != place.Token {
			r.outbox.Leave = append(r.outbox.Leave, place)
			continue
		}
		if c.Held = true; c.waits {
			c.waits = false
			r.report(dag.Report{Task: c.task, Granted: true})
		}
	}
}

// giveBack gives back what steps hold whose attempts have ended.
func (r *run) giveBack(events []dag.Event) {
	for _, e := range events {
		switch e.Kind {
		case dag.StepFinished, dag.StepRetrying, dag.StepFallback:
			if c := r.claimOf(e.Node); c != nil && e.Node != "" && !c.waits {
				r.leave(c)
			}
		}
	}
}

// stopClaims ends the waits that a cancel ends.
func (r *run) stopClaims(now time.Time) (next time.Time) {
	for _, c := range slices.Clone(r.claims) {
		if !c.waits {
			continue
		}
		reason, until := r.machine.Stop(c.task, now)
		if reason == "" {
			next = queue.Sooner(next, until)
			continue
		}
		r.leave(c)
		r.report(dag.Report{Task: c.task, Stopped: reason})
	}
	return next
}

// admitted reports whether the run has what it takes at its start.
func (r *run) admitted() bool {
	c := r.claimOf("")
	return len(r.demands) == 0 || c != nil && c.Held
}

// admit waits until the run has what it takes at its start. It returns false if the run is cancelled before that.
func (r *run) admit() (bool, error) {
	if r.admitted() {
		return true, nil
	}
	r.join("", queue.Entry{Demands: r.demands})
	for !r.admitted() {
		if err := r.send(); err != nil {
			return false, err
		}
		if r.in.Cancel || r.caller.Err() != nil {
			return false, nil
		}
		err := workflow.Await(r.ctx, func() bool { return len(r.grants) > 0 || r.in.Cancel || r.caller.Err() != nil })
		if err != nil {
			return false, err
		}
		r.takeGrants()
	}
	return true, nil
}

// park gives back what the run has taken at its start while everything that is left waits for answers, unless a question
// says that it is kept.
func (r *run) park() {
	c, state := r.claimOf(""), r.machine.State()
	if c == nil || !c.Held || len(r.flights)+len(r.in.Reports)+len(r.answers) > 0 || r.in.Cancel || r.caller.Err() != nil {
		return
	}
	if OnlyAnswersLeft(r.input.Record.ID, r.plan, state) && !waiting.Holds(state) {
		r.leave(c)
	}
}

// withdraw ends a run that is cancelled while it is queued. None of its steps runs, not even its cleanup, which could get
// in the way of the run that holds the locks.
func (r *run) withdraw() (*Output, error) {
	return r.endBefore(dag.Result{Status: dag.Cancelled, ExitCode: dag.ExitCancelled, Reason: dag.ReasonCancelled, Message: "cancelled while it was queued"})
}

// endBefore ends a run before any of its steps, or any more of them, has started.
func (r *run) endBefore(res dag.Result) (*Output, error) {
	now := workflow.Now(r.ctx)
	res.Started, res.Ended = r.input.Record.Created, now
	var events []dag.Event
	if len(r.events) == 0 {
		events = append(events, dag.Event{Kind: dag.RunStarted, Queued: dag.Span(r.input.Record.Created, now)})
	}
	events = append(events, dag.Event{Kind: dag.RunFinished, Reason: res.Reason, Result: &res})
	for i := range events {
		e := &events[i]
		e.V, e.Seq, e.Run, e.Time = dag.EventVersion, uint64(len(r.events)+1), r.input.Record.ID, now
		r.events = append(r.events, *e)
	}
	r.observe(events)
	return r.end(&res)
}

// giveAllBack gives back everything that the run holds or waits for.
func (r *run) giveAllBack() error {
	for _, c := range slices.Clone(r.claims) {
		r.leave(c)
	}
	return r.send()
}
