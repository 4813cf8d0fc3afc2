// Package values is the workflow that has what tools keep between their runs, of all runs of a task queue.
//
// A run reads the values of its tool when it starts, and commits those that its steps have set with its end, or with that of
// a step. The workflow decides by history.NextState, as a local history does. A commit has the number of its event, so one
// that arrives twice counts once. What a run has read is kept until it ends.
//
// The workflow stays open while there are values. It is continued as new at least once in renewEvery, so that a store in
// which they are does not count them as unused.
package values

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/temporal/internal/queue"
)

// Names in the server. They never change.
const (
	WorkflowType = "flowrun-state"

	RequestUpdate = "request" // func(Request) Reply
	EndSignal     = "end"     // id of a run that has ended
	ValuesQuery   = "values"  // []history.StateValue

	// The local activities of runs.
	RequestActivity = "(state)"     // func(context.Context, Request) (Reply, error)
	EndActivity     = "(state end)" // func(context.Context, string) error: the id of the run
)

// ID returns the id of the workflow for the task queue with this name, for all versions of it.
func ID(queueName string) string { return "flowrun-state:" + queueName }

// Request is what a run wants: to read the values of a tool, or to commit changes. One of a person, who changes values
// outside of a run, has By and no Run.
type Request struct {
	Run     string            `json:"run"`
	By      string            `json:"by,omitempty"`
	Read    history.StateID   `json:"read,omitzero"`
	Changes []dag.StateChange `json:"changes,omitempty"`
	Event   uint64            `json:"event,omitempty"` // number of the event with the changes
}

// Reply has what was read, or why the changes are not kept.
type Reply struct {
	Values  []history.StateValue `json:"values,omitempty"`
	Refused *history.StateError  `json:"refused,omitempty"`
	Set     int                  `json:"set,omitempty"` // how many values a person has set; 0 from workers that cannot do it
}

// State is what the workflow knows.
type State struct {
	Values  []history.StateValue `json:"values,omitempty"`
	Version int64                `json:"version,omitempty"` // the last that a value got
	Readers []*Reader            `json:"readers,omitempty"`
}

// Reader is an open run.
type Reader struct {
	Run  string               `json:"run"`
	Read []history.StateID    `json:"read,omitempty"` // the tools whose values it has read
	Seen []history.StateValue `json:"seen,omitempty"` // what it has read, and then set itself
	Done []Done               `json:"done,omitempty"`
}

// Done is a commit.
type Done struct {
	Event   uint64              `json:"event"`
	Refused *history.StateError `json:"refused,omitempty"`
}

func (s *State) reader(run string) *Reader {
	i := slices.IndexFunc(s.Readers, func(r *Reader) bool { return r.Run == run })
	if i < 0 {
		i, s.Readers = len(s.Readers), append(s.Readers, &Reader{Run: run})
	}
	return s.Readers[i]
}

// forget forgets what a run has read.
func (s *State) forget(run string) {
	s.Readers = slices.DeleteFunc(s.Readers, func(r *Reader) bool { return r.Run == run })
}

// do carries out a request.
func (s *State) do(q Request, now time.Time) Reply {
	switch {
	case q.By != "":
		return s.set(q, now)
	case q.Event > 0:
		return Reply{Refused: s.commit(q, now)}
	}
	return Reply{Values: s.read(q.Run, q.Read)}
}

// read returns the values of a tool as the run has read them first.
func (s *State) read(run string, id history.StateID) (list []history.StateValue) {
	r := s.reader(run)
	if !slices.Contains(r.Read, id) {
		r.Read = append(r.Read, id)
		for _, v := range s.Values {
			if v.StateID == id {
				r.Seen = append(r.Seen, v)
			}
		}
	}
	for _, v := range r.Seen {
		if v.StateID == id && v.Run != run {
			list = append(list, v)
		}
	}
	return list
}

// commit keeps changes, all or none, and returns why they are not kept.
func (s *State) commit(q Request, now time.Time) *history.StateError {
	r := s.reader(q.Run)
	if i := slices.IndexFunc(r.Done, func(d Done) bool { return d.Event == q.Event }); i >= 0 {
		return r.Done[i].Refused
	}
	next, err := history.NextState(q.Changes, s.Values, r.Seen)
	refused, _ := errors.AsType[*history.StateError](err)
	r.Done = append(r.Done, Done{q.Event, refused})
	if err != nil {
		return refused
	}
	r.Seen = append(r.Seen, s.keep(next, q, now)...)
	return nil
}

// set keeps the changes of a person, all or none.
func (s *State) set(q Request, now time.Time) Reply {
	next, err := history.NextState(q.Changes, s.Values, s.Values)
	if err != nil {
		refused, _ := errors.AsType[*history.StateError](err)
		return Reply{Refused: refused}
	}
	return Reply{Set: len(s.keep(next, q, now))}
}

// keep keeps values of a request, and returns them as they are then.
func (s *State) keep(next []history.StateValue, q Request, now time.Time) []history.StateValue {
	for i := range next {
		v := &next[i]
		s.Version++
		v.Version, v.Run, v.By, v.At = s.Version, q.Run, q.By, now
		s.Values = slices.DeleteFunc(s.Values, func(o history.StateValue) bool { return o.StateID == v.StateID && o.Key == v.Key })
		s.Values = append(s.Values, *v)
	}
	slices.SortFunc(s.Values, func(a, b history.StateValue) int {
		return strings.Compare(a.Tool+"\x00"+a.File+"\x00"+a.Key, b.Tool+"\x00"+b.File+"\x00"+b.Key)
	})
	return next
}

const (
	renewEvery    = 7 * 24 * time.Hour
	continueAfter = 4000 // events in the history of the workflow
)

// Workflow keeps the values.
type Workflow struct {
	ContinueAfter int // number of events after which the workflow is continued as new; 0 means 4000
}

// Run is the workflow.
func (w *Workflow) Run(ctx workflow.Context, s *State) error {
	ctx, _ = workflow.NewDisconnectedContext(ctx) // a cancel would forget the values
	request := func(ctx workflow.Context, q Request) (Reply, error) { return s.do(q, workflow.Now(ctx)), nil }
	if err := workflow.SetUpdateHandler(ctx, RequestUpdate, request); err != nil {
		return err
	}
	values := func() ([]history.StateValue, error) { return s.Values, nil }
	if err := workflow.SetQueryHandlerWithOptions(ctx, ValuesQuery, values, workflow.QueryHandlerOptions{Description: "The values of all tools."}); err != nil {
		return err
	}
	ends := workflow.GetSignalChannel(ctx, EndSignal)
	renew := workflow.NewTimer(ctx, renewEvery)
	for {
		err := workflow.Await(ctx, func() bool { return ends.Len() > 0 || renew.IsReady() || w.long(ctx) })
		if err != nil {
			return err
		}
		for run := ""; ends.ReceiveAsync(&run); {
			s.forget(run)
		}
		if !renew.IsReady() && !w.long(ctx) {
			continue
		}
		s.forgetEnded(ctx)
		if ends.Len() == 0 && workflow.AllHandlersFinished(ctx) {
			return workflow.NewContinueAsNewError(ctx, WorkflowType, s)
		}
	}
}

// forgetEnded forgets runs that have ended without saying so.
func (s *State) forgetEnded(ctx workflow.Context) {
	var runs []string
	for _, r := range s.Readers {
		runs = append(runs, r.Run)
	}
	if len(runs) == 0 {
		return
	}
	var ended map[string]time.Time
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	if workflow.ExecuteLocalActivity(ctx, queue.EndedActivity, runs).Get(ctx, &ended) != nil {
		return // next time
	}
	for _, run := range runs {
		if _, over := ended[run]; over {
			s.forget(run)
		}
	}
}

// long reports whether the history of the workflow has become long.
func (w *Workflow) long(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	limit := w.ContinueAfter
	if limit == 0 {
		limit = continueAfter
	}
	return info.GetCurrentHistoryLength() >= limit || info.GetContinueAsNewSuggested()
}

// Send sends a request to the workflow of a task queue, which it starts if need be, and returns the reply. A request that is
// sent again gets the same reply.
func Send(ctx context.Context, c client.Client, name, taskQueue string, q Request) (reply Reply, err error) {
	id := ID(name)
	start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{ID: id, TaskQueue: taskQueue,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING}, WorkflowType, &State{})
	update, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{WorkflowID: id, UpdateName: RequestUpdate, Args: []any{q}, WaitForStage: client.WorkflowUpdateStageCompleted}})
	if err != nil {
		return reply, err
	}
	return reply, update.Get(ctx, &reply)
}

// End says that a run has ended.
func End(ctx context.Context, c client.Client, name, taskQueue, run string) error {
	id := ID(name)
	_, err := c.SignalWithStartWorkflow(ctx, id, EndSignal, run, client.StartWorkflowOptions{ID: id, TaskQueue: taskQueue}, WorkflowType, &State{})
	return err
}
