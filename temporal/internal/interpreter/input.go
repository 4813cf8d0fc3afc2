// Package interpreter is the workflow that runs a tool on Temporal.
//
// It is a driver of dag.Machine, as dag.Run is one: the machine decides, and the workflow
// starts activities, sets timers and receives signals. It knows the graph and the results of
// the steps. It has no parameters and no secrets: whatever needs these is an activity. A
// condition is a local activity.
package interpreter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/store/eventcode"
	"github.com/flowrun/flowrun/library"
)

// Names in the server. They never change.
const (
	WorkflowType = "flowrun"

	// The local activities. Their names are no paths of steps.
	ConditionActivity = "(condition)" // func(context.Context, *Input, *dag.Order) (dag.Outcome, error)
	AnswerActivity    = "(answer)"    // func(context.Context, *Input, history.Question, history.Answer) (dag.Result, error)

	ReadActivity = "(read state)" // func(context.Context, *Input) error

	EventsQuery = "events" // after uint64: the events after that number, in the form of internal/store/eventcode

	InputQuery = "input" // the Input, without Carry

	AnswerSignal = "answer" // history.Answer
	ForceSignal  = "force"  // stop at once

	// Fields of the memo of a workflow, for the list of runs.
	ToolMemo    = "tool"
	OriginMemo  = "origin"
	CreatedMemo = "created" // time.Time
	LabelsMemo  = "labels"  // map[string]string
	FolderMemo  = "folder"  // the working directory of the program that started the run
	WaitsMemo   = "waits"   // what the run waits for, if it only waits for answers

	failedType = "run failed" // of the error with which a failed run ends
)

// Input is the input of the workflow.
type Input struct {
	Record  *history.Record `json:"record"`
	Sources [][]byte        `json:"sources"`          // the texts of Record.Sources
	Params  map[string]any  `json:"params,omitempty"` // that the record withholds, because they are secret
	Options Options         `json:"options"`
	Carry   *Carry          `json:"carry,omitempty"` // of a run that is continued as new
}

// MarshalJSON writes an Input so that UnmarshalJSON returns the same parameters, also those that are not UTF-8.
func (in Input) MarshalJSON() ([]byte, error) {
	type plain Input
	in.Params = rawtext.EncodeMap(in.Params)
	return json.Marshal(plain(in))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (in *Input) UnmarshalJSON(b []byte) error {
	type plain Input
	err := json.Unmarshal(b, (*plain)(in))
	in.Params = rawtext.DecodeMap(in.Params)
	return err
}

// Options set how a run is executed.
type Options struct {
	Parallel int           `json:"parallel"` // number of steps that run at the same time
	Cleanup  time.Duration `json:"cleanup"`  // limits the cleanup after a cancel
	// Pools are those of the settings that the run uses. Their slots are counted for all runs of the task queue, see
	// package queue. Other pools have the slots of their workers.
	Pools map[string]history.Pool `json:"pools,omitempty"`
}

// Carry is what a run has done before it was continued as new.
type Carry struct {
	Events    []byte `json:"events"`
	Cancelled bool   `json:"cancelled,omitempty"`

	Claims []*Claim `json:"claims,omitempty"` // what the run holds or waits for
	Tokens int      `json:"tokens,omitempty"` // the last that a claim got
}

// Output is the result of the workflow. That of a run that failed or was cancelled is in the
// details of its error, see OutputOf.
type Output struct {
	Status   string `json:"status"`
	ExitCode int    `json:"exit_code"`
	Message  string `json:"message,omitempty"`
	Events   []byte `json:"events"` // all of them
}

// NewInput returns the input for a run that has this record.
func NewInput(r *history.Record, o Options) *Input {
	in := &Input{Record: r, Options: o}
	for _, s := range r.Sources {
		in.Sources = append(in.Sources, s.Text)
	}
	return in
}

// Memo returns the memo of the workflow. folder is the working directory of the program that starts the run, "" if that says
// nothing about it.
func (in *Input) Memo(folder string) map[string]any {
	memo := map[string]any{ToolMemo: in.Record.Tool}
	for key, text := range map[string]string{OriginMemo: in.Record.Origin, FolderMemo: folder} {
		if text != "" {
			memo[key] = text
		}
	}
	if len(in.Record.Labels) > 0 {
		memo[LabelsMemo] = in.Record.Labels
	}
	if !in.Record.Created.IsZero() {
		memo[CreatedMemo] = in.Record.Created
	}
	return memo
}

// For returns the input of one run. The record of a schedule is that of all its runs, and has no id and no
// times.
func (in *Input) For(id string, started time.Time) *Input {
	if in.Record.ID != "" {
		return in
	}
	own, r := *in, *in.Record
	r.ID, r.Created, r.RunEnv.Time = id, started, started
	own.Record = &r
	return &own
}

// Load returns the run as it would be read from a local history, with these events.
func (in *Input) Load(ctx context.Context, lib *library.Library, events []dag.Event) (*engine.RecordedRun, error) {
	r := *in.Record
	r.Sources = slices.Clone(r.Sources)
	for i, text := range in.Sources {
		r.Sources[i].Text = bytes.Clone(text)
	}
	m := history.NewMemory()
	ledger, err := m.Begin(ctx, &r)
	if err != nil {
		return nil, err
	}
	defer ledger.Close()
	if len(events) > 0 {
		if err := ledger.Append(ctx, events); err != nil {
			return nil, err
		}
	}
	return engine.LoadRun(ctx, m, lib, r.ID)
}

// DecodeEvents reads events of a run in the form of EventsQuery and Output.
func DecodeEvents(run string, text []byte) ([]dag.Event, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return eventcode.Decode(nil, run, text)
}

// OutputOf returns the result of a workflow that has ended, nil if it has none because it was
// terminated or because of an error, which is then returned.
func OutputOf(out *Output, err error) (*Output, error) {
	var failed *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var found Output
	switch {
	case err == nil:
		return out, nil
	case errors.As(err, &cancelled) && cancelled.HasDetails() && cancelled.Details(&found) == nil:
		return &found, nil
	case errors.As(err, &failed) && failed.Type() == failedType && failed.Details(&found) == nil:
		return &found, nil
	}
	return nil, err
}

// version is the version of the workflow. It is raised when runs that an earlier version has
// started cannot be continued by this one. Workers of both versions then work side by side.
const version = "1"

// TaskQueue returns the task queue of the workers that can continue runs of this version.
func TaskQueue(name string) string { return name + "-" + version }

// QueueName returns the name of which a task queue is, for any version.
func QueueName(queue string) string { return queue[:max(0, strings.LastIndexByte(queue, '-'))] }

// WaitQueue returns the task queue for steps that only wait for something outside, of workers
// that serve a task queue.
func WaitQueue(queue string) string { return queue + "-wait" }

// PoolQueue returns the task queue for steps that hold a slot of a pool, of workers that serve a task queue.
func PoolQueue(queue, pool string) string { return queue + "-pool-" + pool }

// PoolOf returns the pool whose task queue this is.
func PoolOf(queue, task string) (pool string, ok bool) {
	return strings.CutPrefix(task, PoolQueue(queue, ""))
}
