// Package remote reads the runs on a Temporal service as a flowrun.Store, so that the commands which
// show runs are the same code for both engines.
//
// The record of a run is in the input of its workflow. Its events are the result of the workflow, or,
// while that is open, the answer to a query. They are kept in a history.Memory.
package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// Store implements history.Store for the workflows of a Temporal service. Runs cannot be started or
// taken over through it. Safe for concurrent use.
type Store struct {
	*history.Memory
	client    client.Client
	converter converter.DataConverter
	texts     Texts
	library   func() *library.Library
	queue     string
	report    func(error)

	mu      sync.Mutex
	mirrors map[string]*mirror
}

// New returns the runs at a service. Lists have those of the task queue. The library provides loaders, and tools written in
// Go. report gets what is missing of a run that can be read otherwise.
func New(c client.Client, dc converter.DataConverter, texts Texts, library func() *library.Library, queue string, report func(error)) *Store {
	return &Store{Memory: history.NewMemory(), client: c, converter: dc, texts: texts, library: library, queue: queue, report: report, mirrors: map[string]*mirror{}}
}

// mirror is a run in the Memory.
type mirror struct {
	sync.Mutex
	ledger history.Ledger // nil if the run is not in the Memory yet
	events uint64
	ended  bool
	read   time.Time
	waits  []PoolWait
}

// Engine is the RunInfo.Engine of these runs.
const Engine = "temporal"

// freshFor is how long the events of an open run are not read again.
const freshFor = 300 * time.Millisecond

var errReadOnly = errors.New("the runs of a Temporal service are started and continued by its workers")

// Begin implements history.Store.
func (s *Store) Begin(context.Context, *history.Record) (history.Ledger, error) {
	return nil, errReadOnly
}

// Claim implements history.Store.
func (s *Store) Claim(context.Context, string, uint64) (history.Ledger, error) {
	return nil, errReadOnly
}

// Record implements history.Store.
func (s *Store) Record(ctx context.Context, id string) (*history.Record, error) {
	m, err := s.mirror(ctx, id)
	if err != nil {
		return nil, err
	}
	m.Unlock()
	return s.Memory.Record(ctx, id)
}

// Info implements history.Store.
func (s *Store) Info(ctx context.Context, id string) (history.RunInfo, error) {
	waits, err := s.sync(ctx, id)
	if err != nil {
		return history.RunInfo{}, err
	}
	info, err := s.Memory.Info(ctx, id)
	info.Engine, info.PID = Engine, 0 // the process is this one
	if err == nil && info.Live() {
		err = s.addWaiting(ctx, &info)
		if len(waits) > 0 && info.Message == "" {
			info.Message = waits[0].String()
		}
	}
	return info, err
}

// Events implements history.Store.
func (s *Store) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	if _, err := s.sync(ctx, id); err != nil {
		return nil, err
	}
	return s.Memory.Events(ctx, id, after)
}

// Answer implements history.Store.
func (s *Store) Answer(ctx context.Context, id string, a history.Answer) error {
	return runError(id, s.client.SignalWorkflow(ctx, id, "", interpreter.AnswerSignal, a))
}

// Cancel implements history.Store. The reason is lost: Temporal has no place for it.
func (s *Store) Cancel(ctx context.Context, id, _ string) error {
	return runError(id, s.client.CancelWorkflow(ctx, id, ""))
}

// mirror returns the run in the Memory, with its record. It is locked.
func (s *Store) mirror(ctx context.Context, id string) (*mirror, error) {
	s.mu.Lock()
	m := s.mirrors[id]
	if m == nil {
		m = &mirror{}
		s.mirrors[id] = m
	}
	s.mu.Unlock()
	m.Lock()
	if m.ledger == nil {
		if err := s.begin(ctx, id, m); err != nil {
			m.Unlock()
			return nil, err
		}
	}
	return m, nil
}

// begin reads the record of a run into the Memory.
func (s *Store) begin(ctx context.Context, id string, m *mirror) error {
	in, err := s.input(ctx, id)
	if err != nil {
		return runError(id, err)
	}
	record := *in.Record
	record.Sources = slices.Clone(record.Sources)
	for i, text := range in.Sources {
		record.Sources[i].Text = text
	}
	m.ledger, err = s.Memory.Begin(ctx, &record)
	return err
}

// input reads the input of a workflow from its history.
func (s *Store) input(ctx context.Context, id string) (*interpreter.Input, error) {
	events := s.client.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		return nil, err
	}
	start := first.GetWorkflowExecutionStartedEventAttributes()
	if start.GetWorkflowType().GetName() != interpreter.WorkflowType {
		return nil, serviceerror.NewNotFound("it is not a run of flowrun")
	}
	in := &interpreter.Input{}
	if err := s.converter.FromPayloads(start.GetInput(), in); err != nil {
		return nil, err
	}
	return in.For(id, first.GetEventTime().AsTime()), nil
}

// sync reads the new events of a run, and returns what it waits for.
func (s *Store) sync(ctx context.Context, id string) ([]PoolWait, error) {
	m, err := s.mirror(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.Unlock()
	if m.ended || time.Since(m.read) < freshFor {
		return m.waits, nil
	}
	err = s.refresh(ctx, id, m)
	return m.waits, err
}

// refresh reads the new events of a run that may have some.
func (s *Store) refresh(ctx context.Context, id string, m *mirror) error {
	described, err := s.client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return runError(id, err)
	}
	var text []byte
	ended := described.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	if ended {
		text, err = s.result(ctx, id)
	} else {
		if m.waits, err = poolWaits(ctx, s.client, described); err != nil {
			return fmt.Errorf("cannot read what run %s waits for: %w", id, err)
		}
		text, err = s.query(ctx, id, m.events)
	}
	if err != nil {
		return err
	}
	m.ended, m.read = ended, time.Now()
	return s.add(ctx, id, m, text)
}

// query asks an open workflow for its events. A worker answers.
func (s *Store) query(ctx context.Context, id string, after uint64) (text []byte, err error) {
	answer, err := s.client.QueryWorkflow(ctx, id, "", interpreter.EventsQuery, after)
	if err != nil {
		if reason, _ := Failing(ctx, s.client, id); reason != "" {
			return nil, fmt.Errorf("the workers cannot continue run %s: %s", id, reason)
		}
		return nil, fmt.Errorf("no worker answers for run %s: %w; start one: flowrun-temporal worker", id, err)
	}
	return text, answer.Get(&text)
}

// result returns the events of a workflow that has ended. One that was terminated, or failed by an
// error, has no result, but a worker may still know its events.
func (s *Store) result(ctx context.Context, id string) ([]byte, error) {
	var out interpreter.Output
	ended, err := interpreter.OutputOf(&out, s.client.GetWorkflow(ctx, id, "").Get(ctx, &out))
	if err == nil {
		return ended.Events, nil
	}
	return s.query(ctx, id, 0)
}

// add adds events to the Memory. If the run has ended, so has its owner.
func (s *Store) add(ctx context.Context, id string, m *mirror, text []byte) error {
	events, err := interpreter.DecodeEvents(id, text)
	if err != nil {
		return err
	}
	events = slices.DeleteFunc(events, func(e dag.Event) bool { return e.Seq <= m.events })
	for i := range events {
		FetchStreams(ctx, s.texts, &events[i], s.report)
	}
	if len(events) > 0 {
		if err := m.ledger.Append(ctx, events); err != nil {
			return err
		}
		m.events = events[len(events)-1].Seq
	}
	if m.ended {
		return m.ledger.Close()
	}
	return nil
}

// runError returns ErrNoRun if the service has no such workflow.
func runError(id string, err error) error {
	if missing := new(serviceerror.NotFound); errors.As(err, &missing) {
		return fmt.Errorf("cannot read run %s: %w", id, history.ErrNoRun)
	}
	return err
}
