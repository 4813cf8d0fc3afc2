// Package queue is the workflow that has the locks, the pools of the settings, and the places of concurrent runs, of all
// runs of a task queue.
//
// A run sends it a [Request]: what the run, or an attempt of a step, wants to hold, and what it gives back. The workflow
// keeps a history.Queue, decides by its rules as a local history does, and sends a [Place] back to the run that may
// start. Since there is one workflow, and one place gets all that it wants together, nothing is held twice and no two
// runs wait for each other.
//
// A run that ends gives everything back. One that was terminated, or has exceeded a timeout of the service, cannot: while
// somebody waits, the workflow asks the service from time to time which runs have ended, and takes back what they hold
// when their workers must have stopped their steps. It ends when nobody holds anything and nobody waits.
package queue

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/history"
)

// Names in the server. They never change.
const (
	WorkflowType = "flowrun-queue"

	RequestSignal = "request" // to this workflow: Request
	GrantSignal   = "grant"   // to the workflow of a run: Place
	EntriesQuery  = "entries" // history.Queue

	// The local activities.
	SendActivity  = "(queue)"   // func(context.Context, Request) error: of runs
	EndedActivity = "(holders)" // func(context.Context, []string) (map[string]time.Time, error): of this workflow
)

// ID returns the id of the workflow for the task queue with this name, for all versions of it.
func ID(queueName string) string { return "flowrun-queue:" + queueName }

// Place names what a run, or an attempt of a step, holds or waits for.
type Place struct {
	Step  string `json:"step,omitempty"` // path of the step; "" for the run itself
	Token int    `json:"token"`          // differs for all places of a run
}

// Entry is a place in the queue.
type Entry struct {
	Place
	Run      string               `json:"run"` // id of the run and of its workflow
	Demands  []history.LockDemand `json:"demands"`
	Priority int                  `json:"priority,omitempty"`
	Held     bool                 `json:"held,omitempty"`
	Since    time.Time            `json:"since,omitzero"` // when it got its demands, or began to wait
}

// Request is what a run wants. To send it again changes nothing; a place that is held is then granted again.
type Request struct {
	Run   string  `json:"run"`
	Leave []Place `json:"leave,omitempty"` // gives these back, before it joins
	Join  []Entry `json:"join,omitempty"`
}

// State is what a queue workflow knows.
type State struct {
	Entries []Entry       `json:"entries,omitempty"` // in the order in which they joined
	Rates   history.Rates `json:"rates,omitempty"`
}

// queue returns the entries as a history has them. The process of a run is not known.
func (s *State) queue() history.Queue {
	list := make(history.Queue, len(s.Entries))
	for i, e := range s.Entries {
		list[i] = history.QueueEntry{Run: e.Run, Step: e.Step, PID: history.UnknownPID, Demands: e.Demands, Priority: e.Priority, Held: e.Held, Since: e.Since}
	}
	return list
}

// Send sends a request to the workflow of a task queue, which it starts if need be.
func Send(ctx context.Context, c client.Client, name, taskQueue string, r Request) error {
	id := ID(name)
	_, err := c.SignalWithStartWorkflow(ctx, id, RequestSignal, r, client.StartWorkflowOptions{ID: id, TaskQueue: taskQueue}, WorkflowType, &State{})
	return err
}

// Times of the workflow.
const (
	checkEvery = 10 * time.Second // how often it asks which runs have ended, while somebody waits
	idleTime   = time.Minute      // how long it stays open when there is nothing left
)

// continueAfter is the number of events in the history of the workflow after which it is continued as new.
const continueAfter = 4000

// Workflow keeps the queue.
type Workflow struct {
	// HeldAfterEnd is how long after the end of a run its workers may still be stopping its steps.
	HeldAfterEnd time.Duration
	// ContinueAfter is the number of events after which the workflow is continued as new. 0 means 4000.
	ContinueAfter int
}

// keeper is one execution of the workflow.
type keeper struct {
	*Workflow
	*State
	ctx     workflow.Context
	sending int       // grants on their way
	again   time.Time // when a rate lets another one start
	check   time.Time // when to ask which runs have ended; zero: nobody waits
	empty   time.Time // since when there is nothing left; zero: there is something
	timer   time.Time // when the timer wakes the workflow; zero: there is none
	stop    workflow.CancelFunc
	wakeup  bool
}

// Run is the workflow.
func (w *Workflow) Run(ctx workflow.Context, s *State) error {
	ctx, _ = workflow.NewDisconnectedContext(ctx) // a cancel would forget who holds what
	k := &keeper{Workflow: w, State: s, ctx: ctx}
	if k.Rates == nil {
		k.Rates = history.Rates{}
	}
	entries := func() (history.Queue, error) { return k.queue(), nil }
	if err := workflow.SetQueryHandlerWithOptions(ctx, EntriesQuery, entries, workflow.QueryHandlerOptions{Description: "Who holds what, and who waits."}); err != nil {
		return err
	}
	requests := workflow.GetSignalChannel(ctx, RequestSignal)
	for {
		for r := (Request{}); requests.ReceiveAsync(&r); r = (Request{}) {
			k.take(r)
		}
		now := workflow.Now(ctx)
		k.takeBack(now)
		k.admit(now)
		k.planCheck(now)
		if k.sending == 0 && requests.Len() == 0 {
			switch {
			case k.long():
				return workflow.NewContinueAsNewError(ctx, WorkflowType, k.State)
			case k.over(now):
				return nil
			}
		}
		k.setTimer(now)
		if err := workflow.Await(ctx, func() bool { return k.wakeup || requests.Len() > 0 }); err != nil {
			return err
		}
		k.wakeup = false
	}
}

// take does what a run wants.
func (k *keeper) take(r Request) {
	k.Entries = slices.DeleteFunc(k.Entries, func(e Entry) bool { return e.Run == r.Run && slices.Contains(r.Leave, e.Place) })
	for _, e := range r.Join {
		i := slices.IndexFunc(k.Entries, func(o Entry) bool { return o.Run == r.Run && o.Place == e.Place })
		if i >= 0 {
			if k.Entries[i].Held {
				k.grant(k.Entries[i])
			}
			continue
		}
		e.Run, e.Held, e.Since = r.Run, false, workflow.Now(k.ctx)
		k.Entries = append(k.Entries, e)
	}
}

// admit grants what can be granted now.
func (k *keeper) admit(now time.Time) {
	next, again := k.queue().Next(now, k.Rates)
	k.again = again
	for _, i := range next {
		k.Entries[i].Held, k.Entries[i].Since = true, now
		k.grant(k.Entries[i])
	}
}

// grant tells a run that it has a place. A run that has ended gets nothing.
func (k *keeper) grant(e Entry) {
	k.sending++
	sent := workflow.SignalExternalWorkflow(k.ctx, e.Run, "", GrantSignal, e.Place)
	workflow.Go(k.ctx, func(ctx workflow.Context) {
		err := sent.Get(ctx, nil)
		k.sending--
		if err != nil && !k.check.IsZero() { // it has ended, perhaps with steps that are still being stopped
			k.check = workflow.Now(ctx)
		}
		k.wakeup = true
	})
}

// takeBack takes back what runs hold that have ended without giving it back.
func (k *keeper) takeBack(now time.Time) {
	if k.check.IsZero() || now.Before(k.check) {
		return
	}
	k.check = time.Time{}
	ended := k.ended()
	k.Entries = slices.DeleteFunc(k.Entries, func(e Entry) bool {
		at, over := ended[e.Run]
		free := at.Add(k.HeldAfterEnd)
		if over && e.Held && now.Before(free) { // its steps may still run
			k.check = Sooner(k.check, free)
			return false
		}
		return over
	})
}

// planCheck sets when to ask next which runs have ended: soon while somebody waits, otherwise never.
func (k *keeper) planCheck(now time.Time) {
	if slices.ContainsFunc(k.Entries, func(e Entry) bool { return !e.Held }) {
		k.check = Sooner(k.check, now.Add(checkEvery))
	} else {
		k.check = time.Time{}
	}
}

// ended asks the service which of the runs have ended, and when. If it cannot say that now, none has.
func (k *keeper) ended() (ended map[string]time.Time) {
	var runs []string
	for _, e := range k.Entries {
		if !slices.Contains(runs, e.Run) {
			runs = append(runs, e.Run)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	ctx := workflow.WithLocalActivityOptions(k.ctx, workflow.LocalActivityOptions{StartToCloseTimeout: checkEvery, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	if workflow.ExecuteLocalActivity(ctx, EndedActivity, runs).Get(ctx, &ended) != nil {
		return nil
	}
	return ended
}

// Sooner returns the earlier of two times. A zero time is never.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Ended returns when runs have ended, of those that have. It is the local activity of the workflow.
func Ended(ctx context.Context, c client.Client, runs []string) (map[string]time.Time, error) {
	ended := map[string]time.Time{}
	for _, run := range runs {
		at, over, err := endOf(ctx, c, run)
		if err != nil {
			return nil, err
		}
		if over {
			ended[run] = at
		}
	}
	return ended, nil
}

// long reports whether the history of the workflow has become long.
func (k *keeper) long() bool {
	info := workflow.GetInfo(k.ctx)
	limit := k.ContinueAfter
	if limit == 0 {
		limit = continueAfter
	}
	return info.GetCurrentHistoryLength() >= limit || info.GetContinueAsNewSuggested()
}

// over reports whether there has been nothing left for a while.
func (k *keeper) over(now time.Time) bool {
	for _, until := range k.Rates {
		if until.After(now) {
			return false
		}
	}
	switch {
	case len(k.Entries) > 0:
		k.empty = time.Time{}
	case k.empty.IsZero():
		k.empty = now
	}
	return !k.empty.IsZero() && !now.Before(k.empty.Add(idleTime))
}

// setTimer has the workflow wake up when there is something to do next. One timer at a time exists.
func (k *keeper) setTimer(now time.Time) {
	wake := Sooner(k.again, k.check)
	if len(k.Entries) == 0 {
		wake = now.Add(idleTime)
	}
	if wake.IsZero() || !k.timer.IsZero() && !wake.Before(k.timer) {
		return
	}
	if !k.timer.IsZero() {
		k.stop()
	}
	ctx, stop := workflow.WithCancel(k.ctx)
	k.timer, k.stop = wake, stop
	timer := workflow.NewTimer(ctx, max(wake.Sub(now), time.Millisecond))
	workflow.Go(k.ctx, func(ctx workflow.Context) {
		if timer.Get(ctx, nil) == nil {
			k.timer, k.wakeup = time.Time{}, true
		}
	})
}
