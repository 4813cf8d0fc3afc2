package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
)

// account collects the notices of a run, and records each with the next event. Most are made by who meets something
// (note). Those about how a step ended follow from its event. Safe for concurrent use.
type account struct {
	noticed func(notice.Notice) // is called for each notice at once; nil for nobody

	mu         sync.Mutex
	all        []notice.Notice // those of earlier owners of the run first
	unrecorded int             // how many at the end of all no event has yet
	omitted    int             // how many were not kept
}

// maxNotices limits how many notices a run keeps: the items of a loop may have one each.
const maxNotices = 100

// note is steps.Options.Notify. It drops repeated notices.
func (a *account) note(n notice.Notice) {
	if a.add(n) && a.noticed != nil {
		a.noticed(n)
	}
}

// resume begins with the notices of the earlier owners of the run.
func (a *account) resume(list []notice.Notice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(slices.Clip(list), a.all...)
}

// add reports whether the run keeps the notice.
func (a *account) add(n notice.Notice) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(a.all, func(o notice.Notice) bool { return o.Code == n.Code && o.Step == n.Step && o.Message == n.Message }) {
		return false
	}
	if len(a.all) >= maxNotices && n.Code != notice.More {
		a.omitted++
		return false
	}
	a.all, a.unrecorded = append(a.all, n), a.unrecorded+1
	return true
}

// rest returns the notices that no event has.
func (a *account) rest() []notice.Notice {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all[len(a.all)-a.unrecorded:])
}

// record moves the notices that no event has into an event. What is said of an earlier result of a step that runs again
// no longer counts.
func (a *account) record(e *dag.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Kind == dag.RunResumed {
		rest := len(a.all) - a.unrecorded
		a.all = append(dag.WithoutSteps(a.all[:rest], e.Reset), a.all[rest:]...)
	}
	if a.unrecorded > 0 {
		e.Notices, a.unrecorded = slices.Clone(a.all[len(a.all)-a.unrecorded:]), 0
	}
	if e.Kind == dag.RunFinished && e.Result != nil {
		if count := notice.Count(notice.BesideStatus(e.Result.Status, a.all)); count != "" {
			r := *e.Result
			r.Notes = append(slices.Clip(r.Notes), count)
			e.Result = &r
		}
	}
}

// conclude makes the notices that follow from an event.
func (a *account) conclude(e *dag.Event) {
	r := e.Result
	if r == nil || e.Kind != dag.StepFinished && e.Kind != dag.RunFinished {
		return
	}
	if r.Tolerated {
		a.note(notice.Notice{Code: notice.Tolerated, Step: e.Node, Message: fmt.Sprintf("step %s failed and the run continued: %s", e.Node, failureOf(r))})
	}
	failed := r.Status == dag.Failed || r.Status == dag.TimedOut
	switch marked := r.Status == dag.Succeeded && r.Reason == plan.ReasonCleanup; {
	case failed && e.Node.Base() == plan.CleanupID:
		tool := strings.TrimSuffix(strings.TrimSuffix(string(e.Node), string(plan.CleanupID)), "/")
		a.note(notice.OfCleanup(e.Node, dag.ID(tool), failureOf(r)))
	case marked && !a.knowsCleanup(e.Node):
		a.note(notice.OfCleanup(e.Node, e.Node, r.Message))
	}
	if e.Kind == dag.RunFinished && a.omitted > 0 {
		a.note(notice.Notice{Code: notice.More, Message: fmt.Sprintf("%d more notices were not kept", a.omitted)})
	}
}

// knowsCleanup reports whether there is a notice about a failed cleanup of the step or of one inside it; "" is the run.
func (a *account) knowsCleanup(step dag.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.all, func(n notice.Notice) bool {
		return n.Code == notice.CleanupFailed && (step == "" || n.Step == step || slices.Contains(n.Step.Ancestors(), step))
	})
}

// failureOf says in one line why a step failed.
func failureOf(r *dag.Result) string {
	if r.Message == "" && r.Status == dag.TimedOut {
		return "it timed out"
	}
	return cmp.Or(r.Message, fmt.Sprintf("exit code %d", r.ExitCode))
}

// accountJournal is the journal of a run with its account. inner is nil for a run that is not recorded.
type accountJournal struct {
	inner   dag.Journal
	account *account
	end     func(*dag.Event) // ends what steps have left running, decides whether the run is retried, and makes the notices about both
}

// Append implements dag.Journal. Before it records the end of the run, it ends what steps have left running, so that the
// notices about it are recorded too.
func (j accountJournal) Append(ctx context.Context, events []dag.Event) error {
	for i := range events {
		e := &events[i]
		if e.Kind == dag.RunFinished {
			j.end(e)
		}
		j.account.conclude(e)
		j.account.record(e)
	}
	if j.inner == nil {
		return nil
	}
	return j.inner.Append(ctx, events)
}

// Sync implements dag.Journal.
func (j accountJournal) Sync(ctx context.Context) error {
	if j.inner == nil {
		return nil
	}
	return j.inner.Sync(ctx)
}
