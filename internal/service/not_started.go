package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// NotStarted describes a run that could not start and was recorded as failed.
type NotStarted struct {
	Result    *runresult.Result
	Plan      *engine.Plan // of its tool; nil if it has none
	Workspace string       // the working directory that the run would have had
	Events    []dag.Event
}

// Failed records a run that could not start for a reason of its entry point.
func (s *Starter) Failed(ctx context.Context, r Request, why error) {
	plan, err := s.catalog.AnyPlan(r.Tool)
	if err != nil {
		plan = nil
	}
	end, ok := s.executor.Begin()
	if !ok {
		return
	}
	id := r.ID
	if !r.Claimed || id == "" { // a repeated request may succeed under its own id
		id = history.NewID(time.Now())
	}
	u, err := s.record(context.WithoutCancel(ctx), id, r, plan, why)
	log := s.log.With("run", id, "tool", r.Tool, "origin", r.Origin)
	if errors.Is(err, history.ErrRetried) { // another service has recorded it
		end()
		return
	}
	if err != nil {
		end()
		log.Error("cannot record a run that could not start", "reason", Loggable(why), "error", err.Error())
		return
	}
	log.Warn("run could not start", "reason", Loggable(why))
	s.feed.Add(id, r.Tool, u.Events...)
	go func() {
		defer end()
		if s.notStarted != nil {
			s.notStarted(context.Background(), *u)
		}
	}()
}

// record stores a run that could not start.
func (s *Starter) record(ctx context.Context, id string, r Request, plan *engine.Plan, why error) (*NotStarted, error) {
	now := time.Now()
	rec := &history.Record{ID: id, Tool: r.Tool, Origin: r.Origin, Labels: r.Labels, Created: now, NotStarted: true,
		Params: map[string]any{}, Given: map[string]any{}, Trace: s.traceOf(r)}
	u := &NotStarted{Plan: plan, Workspace: s.home}
	if plan != nil {
		u.Workspace = s.runEnv(plan, "").Workspace
	}
	if old := r.attemptOf; old != nil {
		rec.RetryOf, rec.Attempt, rec.Automatic = old.ID, max(old.Attempt, 1)+1, true
		u.Workspace = old.RunEnv.Workspace
	}
	rec.RunEnv = history.RecordedEnv{Workspace: u.Workspace, Home: s.home, Time: now}
	res := &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonNotStarted, Message: oneLine(why), Started: now, Ended: now}
	u.Events = []dag.Event{
		{V: dag.EventVersion, Seq: 1, Run: id, Kind: dag.RunStarted, Time: now},
		{V: dag.EventVersion, Seq: 2, Run: id, Kind: dag.RunFinished, Time: now, Reason: res.Reason, Result: res},
	}
	u.Result = &runresult.Result{ID: id, Tool: r.Tool, RetryOf: rec.RetryOf, Attempt: rec.Attempt, Status: res.Status, ExitCode: res.ExitCode, Reason: res.Reason, Message: res.Message,
		Started: now, Ended: now, Params: rec.Params, Steps: []runresult.StepResult{}, Tolerated: []string{}}
	ledger, err := s.store.Begin(ctx, rec)
	if err != nil {
		return nil, err
	}
	err = ledger.Append(ctx, u.Events)
	if err == nil {
		err = ledger.Sync(ctx)
	}
	return u, errors.Join(err, ledger.Close())
}

// maxReason is the maximum length of a stored reason, in bytes.
const maxReason = 4 << 10

// oneLine formats an error as the message of a run.
func oneLine(err error) string {
	text := strings.Join(strings.Split(strings.TrimSpace(err.Error()), "\n"), "; ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " ..."
	}
	return text
}

// Loggable formats an error for the service's log. The text contains no values of the
// caller.
func Loggable(err error) string {
	var params *value.ParamsError
	if !errors.As(err, &params) {
		return oneLine(err)
	}
	words := make([]string, len(params.Problems))
	for i, p := range params.Problems {
		words[i] = fmt.Sprintf("%s: %s", p.Parameter(), p.Code)
		if p.Code == "unknown" { // the name was chosen by the caller
			words[i] = "an unknown parameter"
		}
	}
	return "invalid parameters: " + strings.Join(words, ", ")
}
