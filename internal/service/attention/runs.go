package attention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/service"
)

// maxNamed is how many steps a reason names.
const maxNamed = 5

// interrupted finds the runs of services that no service continues. A run that a person started is that person's matter.
func (f *search) interrupted(ctx context.Context) error {
	open, err := f.openRuns(ctx)
	for _, info := range open {
		if info.Status != dag.Interrupted || !service.OfServices(info) {
			continue
		}
		why := f.Left(ctx, info)
		if why == nil || errors.Is(why, history.ErrLive) || errors.Is(why, history.ErrChanged) || errors.Is(why, history.ErrNoRun) {
			continue // a service resumes it, or has just done so
		}
		i := Item{Kind: Interrupted, Tool: info.Tool, Run: info.ID, Schedule: scheduleOf(info), Reason: why.Error(),
			Since: latest(info.LastSign, info.Started), Do: "flowrun resume " + info.ID}
		if asks, ok := errors.AsType[*outcome.InterruptedError](why); ok {
			i.Step, i.Do = string(asks.Steps[0]), i.Do+" --rerun-interrupted"
			i.Reason = "it was cut off, and is not continued without you: these steps may have been running: " + plural.Names(asks.Steps, maxNamed)
		}
		f.add(i)
	}
	return err
}

// waiting finds the runs that wait for an answer.
func (f *search) waiting(ctx context.Context) error {
	asked, err := f.questions(ctx)
	for _, q := range asked {
		reason := "step " + q.Step + " waits for approval"
		if prompt := oneLine(q.Prompt); prompt != "" {
			reason += ": " + prompt
		}
		f.add(Item{Kind: Waiting, Tool: q.Tool, Run: q.Run, Schedule: q.schedule, Step: q.Step, Reason: reason, Since: q.Since, Do: "flowrun approve " + q.Run})
	}
	return err
}

// staleApprovals finds the waiting runs whose question may be about a state that is no longer so: another run of the same tool
// has ended since, or has asked since. They are stale since they asked, so that each is one item however many runs follow.
func (f *search) staleApprovals(ctx context.Context) error {
	asked, err := f.questions(ctx)
	var failed []error
	for _, q := range asked {
		i := Item{Kind: StaleApproval, Tool: q.Tool, Run: q.Run, Schedule: q.schedule, Step: q.Step, Since: q.Since, Do: "flowrun show " + q.Run}
		for _, other := range asked {
			if other.Tool == q.Tool && other.Run != q.Run && cmp.Or(other.Since.Compare(q.Since), cmp.Compare(other.Run, q.Run)) > 0 {
				i.Reason = fmt.Sprintf("run %s of the tool has asked later", other.Run)
			}
		}
		ended, e := f.endedSince(ctx, q)
		if e != nil {
			failed = append(failed, e)
		}
		if ended != nil {
			i.Reason = fmt.Sprintf("run %s of the tool %s after the question was asked", ended.ID, strings.ReplaceAll(ended.Status.String(), "-", " "))
		}
		if i.Reason != "" {
			f.add(i)
		}
	}
	return errors.Join(append(failed, err)...)
}

// endedSince returns a run of the same tool that ended after a question was asked, nil if there is none.
func (f *search) endedSince(ctx context.Context, q question) (*history.RunInfo, error) {
	const enough = 20 // runs end in about the order in which they started
	list, err := f.Store.Runs(ctx, history.Query{Tool: q.Tool, Status: []dag.Status{dag.Succeeded, dag.Failed, dag.TimedOut, dag.Cancelled}, Limit: enough})
	for _, info := range list {
		if info.ID != q.Run && info.Ended.After(q.Since) && info.Reason != dag.ReasonNotStarted {
			return &info, err
		}
	}
	return nil, err
}

// question is an open question and the schedule of its run.
type question struct {
	history.Question
	schedule string
}

// questions returns the questions that nobody has answered, of runs that do nothing but wait.
func (f *search) questions(ctx context.Context) (list []question, err error) {
	open, err := f.openRuns(ctx)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, info := range open {
		if info.Status != dag.Waiting {
			continue
		}
		past, err := f.run(ctx, info.ID)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, q := range past.Questions() {
			if !slices.Contains(info.Answered, q.Wait) && !q.Over(f.now) {
				list = append(list, question{q, scheduleOf(info)})
			}
		}
	}
	return list, errors.Join(failed...)
}

// scheduleOf returns the id of the schedule that started a run, "" if none did.
func scheduleOf(info history.RunInfo) string {
	if kind, id, ok := strings.Cut(info.Origin, ":"); ok && slices.Contains([]string{"schedule", "file", "after"}, kind) {
		return id
	}
	return ""
}

func latest(x, y time.Time) time.Time {
	if x.After(y) {
		return x
	}
	return cmp.Or(y, x)
}
