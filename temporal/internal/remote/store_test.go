package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/store/eventcode"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

const definition = `name: gated
description: A step that asks
steps:
  - {name: first, bash: echo one}
  - {name: gate, approve: {prompt: "Go  on?"}}
`

// noTexts has no stored outputs.
type noTexts struct{}

func (noTexts) Fetch(context.Context, *dag.Output) error { return nil }

// encoded is an answer that the service returns for a query or as a result.
type encoded struct{ value []byte }

func (e encoded) HasValue() bool { return true }
func (e encoded) Get(to any) error {
	*to.(*[]byte) = e.value
	return nil
}

// newStore returns a Store of a service with one run, which a schedule has started, and the run.
func newStore(t *testing.T, status enumspb.WorkflowExecutionStatus) (*Store, *mocks.Client, func(...dag.Event) []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gated.yaml")
	if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := engine.Compile(library.New(library.Config{}), file)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := plan.Bind(engine.RunEnv{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	record, err := bound.Record("", "schedule:gated", "")
	if err != nil {
		t.Fatal(err)
	}
	input, err := converter.GetDefaultDataConverter().ToPayloads(interpreter.NewInput(record, interpreter.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	client, first := &mocks.Client{}, &mocks.HistoryEventIterator{}
	first.On("Next").Return(&historypb.HistoryEvent{EventTime: timestamppb.New(start), Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{WorkflowType: &commonpb.WorkflowType{Name: interpreter.WorkflowType}, Input: input}}}, nil)
	client.On("GetWorkflowHistory", mock.Anything, run, "", false, mock.Anything).Return(first)
	client.On("DescribeWorkflowExecution", mock.Anything, run, "").Return(&workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: status}}, nil)
	return New(client, converter.GetDefaultDataConverter(), noTexts{}, func() *library.Library { return library.New(library.Config{}) }, "q", nil), client,
		func(list ...dag.Event) []byte { return eventcode.Append(nil, run, list) }
}

const run = "gated-2026-11-23T07:00:00Z"

var start = time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)

// waiting are the events of a run whose second step waits.
func waiting() []dag.Event {
	return []dag.Event{
		{Seq: 1, Kind: dag.RunStarted, Time: start},
		{Seq: 2, Kind: dag.StepStarted, Node: "first", Attempt: 1, Time: start},
		{Seq: 3, Kind: dag.StepFinished, Node: "first", Time: start, Result: &dag.Result{Status: dag.Succeeded, Attempts: 1, Started: start, Ended: start}},
		{Seq: 4, Kind: dag.StepStarted, Node: "gate", Attempt: 1, Time: start},
		{Seq: 5, Kind: dag.StepWaiting, Node: "gate", Attempt: 1, Time: start, Result: &dag.Result{Status: dag.Waiting, Attempts: 1, Started: start, Wait: &dag.Wait{Kind: "approval", Asks: true, Prompt: "Go  on?"}}},
	}
}

func TestOpenRun(t *testing.T) {
	s, client, code := newStore(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING)
	client.On("QueryWorkflow", mock.Anything, run, "", interpreter.EventsQuery, uint64(0)).Return(encoded{code(waiting()...)}, nil)
	client.On("QueryWorkflow", mock.Anything, run, "", interpreter.EventsQuery, uint64(5)).Return(encoded{nil}, nil)
	info, err := s.Info(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	want := history.RunInfo{ID: run, Engine: "temporal", Tool: "gated", Origin: "schedule:gated", Status: dag.Waiting, Message: "step gate waits for approval: Go on?", Started: start, Epoch: 1}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	p, err := engine.LoadRun(t.Context(), s, library.New(library.Config{}), run)
	if err != nil {
		t.Fatal(err)
	}
	if q := p.Questions(); len(q) != 1 || q[0].Step != "gate" || len(p.Events) != 5 {
		t.Errorf("%+v, %d events", q, len(p.Events))
	}
	client.On("SignalWorkflow", mock.Anything, run, "", interpreter.AnswerSignal, history.Answer{Step: "gate", Approve: true}).Return(nil)
	client.On("CancelWorkflow", mock.Anything, run, "").Return(nil)
	if err := errors.Join(s.Answer(t.Context(), run, history.Answer{Step: "gate", Approve: true}), s.Cancel(t.Context(), run, "why")); err != nil {
		t.Error(err)
	}
	client.AssertCalled(t, "CancelWorkflow", mock.Anything, run, "")
	if _, err := s.Begin(t.Context(), &history.Record{}); err == nil {
		t.Error("a run was started")
	}
}

func TestEndedRun(t *testing.T) {
	s, client, code := newStore(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
	ended := append(waiting(), dag.Event{Seq: 6, Kind: dag.RunFinished, Time: start.Add(time.Minute), Result: &dag.Result{Status: dag.Succeeded, Ended: start.Add(time.Minute)}})
	result := &mocks.WorkflowRun{}
	result.On("Get", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
		args.Get(1).(*interpreter.Output).Events = code(ended...)
	}).Return(nil)
	client.On("GetWorkflow", mock.Anything, run, "").Return(result)
	info, err := s.Info(t.Context(), run)
	if err != nil || info.Status != dag.Succeeded || !info.Ended.Equal(start.Add(time.Minute)) {
		t.Errorf("%+v, %v", info, err)
	}
	if list, err := s.Events(t.Context(), run, 4); err != nil || len(list) != 2 {
		t.Errorf("%d events, %v", len(list), err)
	}
}

func TestNoRun(t *testing.T) {
	client, first := &mocks.Client{}, &mocks.HistoryEventIterator{}
	first.On("Next").Return(nil, serviceerror.NewNotFound("no such workflow"))
	client.On("GetWorkflowHistory", mock.Anything, "nope", "", false, mock.Anything).Return(first)
	s := New(client, converter.GetDefaultDataConverter(), noTexts{}, nil, "q", nil)
	if _, err := s.Info(t.Context(), "nope"); !errors.Is(err, history.ErrNoRun) {
		t.Error(err)
	}
}

func TestRuns(t *testing.T) {
	client := &mocks.Client{}
	name := func(value any) *commonpb.Payload {
		p, _ := converter.GetDefaultDataConverter().ToPayload(value)
		return p
	}
	execution := func(id string, status enumspb.WorkflowExecutionStatus, tool *commonpb.Payload) *workflowpb.WorkflowExecutionInfo {
		return &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: status, StartTime: timestamppb.New(start),
			Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{interpreter.ToolMemo: tool}}}
	}
	asking := func(w *workflowpb.WorkflowExecutionInfo) *workflowpb.WorkflowExecutionInfo {
		w.Memo.Fields[interpreter.WaitsMemo] = name("step gate waits for approval")
		return w
	}
	described := func(w *workflowpb.WorkflowExecutionInfo) *workflowpb.WorkflowExecutionInfo {
		w.Memo.Fields[interpreter.LabelsMemo] = name(map[string]string{"team": "ops"})
		w.Memo.Fields[interpreter.OriginMemo] = name("schedule:nightly")
		w.Memo.Fields[interpreter.FolderMemo] = name("/home/ada/shop")
		return w
	}
	client.On("DescribeWorkflowExecution", mock.Anything, "d", "").Return(&workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: execution("d", enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, name("build"))}, nil)
	client.On("DescribeWorkflowExecution", mock.Anything, "none", "").Return(nil, serviceerror.NewNotFound("no such workflow"))
	client.On("ListWorkflow", mock.Anything, mock.Anything).Return(&workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
		execution("a", enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, name("build")),
		described(execution("b", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, name("test"))),
		execution("c", enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/encrypted")}}),
		execution("d", enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, name("build")),
		asking(execution("e", enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, name("ship"))),
	}}, nil)
	failed := &mocks.WorkflowRun{}
	failed.On("Get", mock.Anything, mock.Anything).Return(errors.New("cannot compile"))
	client.On("GetWorkflow", mock.Anything, "d", "").Return(failed)
	s := New(client, converter.GetDefaultDataConverter(), noTexts{}, nil, "q", nil)
	for _, c := range []struct {
		query history.Query
		want  []string
	}{
		{history.Query{}, []string{"e waiting ship", "d failed build", "c interrupted ", "b succeeded test", "a running build"}},
		{history.Query{Status: []dag.Status{dag.Waiting}}, []string{"e waiting ship"}},
		{history.Query{Tool: "build"}, []string{"d failed build", "a running build"}},
		{history.Query{Status: []dag.Status{dag.Failed, dag.Interrupted}}, []string{"d failed build", "c interrupted "}},
		{history.Query{Limit: 1}, []string{"e waiting ship"}},
		{history.Query{Before: "d", Limit: 2}, []string{"c interrupted ", "b succeeded test"}},
		{history.Query{Before: "none"}, nil},
		{history.Query{Labels: []history.Label{{Name: "team", Value: "ops"}}}, []string{"b succeeded test"}},
		{history.Query{Origin: "schedule:nightly"}, []string{"b succeeded test"}},
		{history.Query{Direct: true, Tool: "build"}, []string{"d failed build", "a running build"}},
		{history.Query{Status: []dag.Status{dag.Waiting, dag.Running}}, []string{"e waiting ship", "a running build"}},
		{history.Query{Folder: "/home/ada"}, []string{"b succeeded test"}},
		{history.Query{Folder: "/wo"}, nil},
	} {
		list, err := s.Runs(t.Context(), c.query)
		var got []string
		for _, r := range list {
			got = append(got, r.ID+" "+r.Status.String()+" "+r.Tool)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%+v: -want +got:\n%s%v", c.query, diff, err)
		}
	}
}

// TestNewest: the newest runs are those that began last, although the service lists open ones first, and the others by their
// end. It is not read further than necessary.
func TestNewest(t *testing.T) {
	var all []*workflowpb.WorkflowExecutionInfo
	add := func(id string, began, ended int) {
		w := &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
			StartTime: timestamppb.New(start.Add(time.Duration(began) * time.Minute))}
		if ended > 0 {
			w.Status, w.CloseTime = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, timestamppb.New(start.Add(time.Duration(ended)*time.Minute))
		}
		all = append(all, w)
	}
	add("waits for days", 1, 0)
	add("works", 30, 0)
	add("long", 2, 50)
	add("short", 40, 41)
	add("shorter", 39, 40)
	add("before", 3, 38)
	for limit, want := range map[int]string{1: "short", 2: "short, shorter", 3: "short, shorter, works", 0: "short, shorter, works, before, long, waits for days"} {
		client := &mocks.Client{}
		client.On("ListWorkflow", mock.Anything, mock.Anything).Return(&workflowservice.ListWorkflowExecutionsResponse{Executions: all, NextPageToken: []byte("more")}, nil).Once()
		client.On("ListWorkflow", mock.Anything, mock.Anything).Return(&workflowservice.ListWorkflowExecutionsResponse{}, nil)
		list, err := New(client, converter.GetDefaultDataConverter(), noTexts{}, nil, "q", nil).Runs(t.Context(), history.Query{Limit: limit})
		var ids []string
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, ", "); got != want || err != nil {
			t.Errorf("limit %d: %s, %v; want %s", limit, got, err, want)
		}
		if calls := len(client.Calls); limit == 1 && calls != 1 {
			t.Errorf("limit %d: the service was asked %d times", limit, calls)
		}
	}
}

// TestOldest: what counts is when a run began, not the workflow with which it was continued last, and of what runs share
// the workflow that is open.
func TestOldest(t *testing.T) {
	listed := func(id string, created any) *workflowpb.WorkflowExecutionInfo {
		w := &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id}, StartTime: timestamppb.New(start)}
		if created != nil {
			p, err := converter.GetDefaultDataConverter().ToPayload(created)
			if err != nil {
				t.Fatal(err)
			}
			w.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{interpreter.CreatedMemo: p}}
		}
		return w
	}
	for _, c := range []struct {
		runs   []*workflowpb.WorkflowExecutionInfo
		want   time.Time
		error  string
		shared []*workflowpb.WorkflowExecutionInfo
	}{
		{},
		{shared: []*workflowpb.WorkflowExecutionInfo{listed("flowrun-state:q", nil)}, want: start},
		{runs: []*workflowpb.WorkflowExecutionInfo{listed("a", start.Add(time.Hour))}, shared: []*workflowpb.WorkflowExecutionInfo{listed("flowrun-state:q", nil)}, want: start},
		{runs: []*workflowpb.WorkflowExecutionInfo{listed("a", start), listed("b", start.Add(-time.Hour))}, want: start.Add(-time.Hour)},
		{runs: []*workflowpb.WorkflowExecutionInfo{listed("a", start), listed("flowrun:s:n-2026-11-20T07:00:00Z", nil)}, want: start.AddDate(0, 0, -3)},
		{runs: []*workflowpb.WorkflowExecutionInfo{listed("a", nil)}, error: "cannot see when run a began"},
		{runs: []*workflowpb.WorkflowExecutionInfo{listed("a", "not a time")}, error: "cannot see when run a began"},
	} {
		client := &mocks.Client{}
		for query, list := range map[string][]*workflowpb.WorkflowExecutionInfo{allRuns: c.runs, sharedByRuns: c.shared} {
			client.On("ListWorkflow", mock.Anything, mock.MatchedBy(func(r *workflowservice.ListWorkflowExecutionsRequest) bool { return r.Query == query })).
				Return(&workflowservice.ListWorkflowExecutionsResponse{Executions: list}, nil)
		}
		got, err := New(client, converter.GetDefaultDataConverter(), noTexts{}, nil, "q", nil).Oldest(t.Context())
		if (err == nil) != (c.error == "") || err != nil && !strings.Contains(err.Error(), c.error) || err == nil && !got.Equal(c.want) {
			t.Errorf("%v, %v; want %v, %q", got, err, c.want, c.error)
		}
	}
}

func TestFilter(t *testing.T) {
	const all = "WorkflowType = 'flowrun' AND ExecutionStatus != 'ContinuedAsNew' AND TaskQueue STARTS_WITH 'team''s-'"
	for want, q := range map[string]history.Query{
		all: {Tool: "x", Limit: 3},
		all + " AND WorkflowId STARTS_WITH 'it''s'":                             {Prefix: "it's"},
		all + " AND ExecutionStatus = 'Running'":                                {Open: true, Status: []dag.Status{dag.Failed}},
		all + " AND WorkflowId STARTS_WITH 'x' AND ExecutionStatus = 'Running'": {Prefix: "x", Status: []dag.Status{dag.Waiting, dag.Running}},
		all + " AND StartTime >= '2026-11-23T07:00:00Z'":                        {Since: start},
		all + " AND StartTime < '2026-11-23T07:00:00Z'":                         {Until: start},
	} {
		if got := (&Store{queue: "team's-1"}).filter(q); got != want {
			t.Errorf("%+v: %s, want %s", q, got, want)
		}
	}
}

// lostTexts is a store without any output.
type lostTexts struct{}

func (lostTexts) Fetch(context.Context, *dag.Output) error { return errors.New("it is lost") }

// TestLostOutput: a run whose outputs cannot be fetched can be read, and answered. What is missing is said with its step.
func TestLostOutput(t *testing.T) {
	s, client, code := newStore(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING)
	events := waiting()
	events[2].Result.Stdout = &dag.Output{Inline: "the beg", Size: 300_000, File: "store:sha256:1"}
	client.On("QueryWorkflow", mock.Anything, run, "", interpreter.EventsQuery, uint64(0)).Return(encoded{code(events...)}, nil)
	var reported []string
	s.texts, s.report = lostTexts{}, func(err error) { reported = append(reported, err.Error()) }
	p, err := engine.LoadRun(t.Context(), s, library.New(library.Config{}), run)
	if err != nil {
		t.Fatal(err)
	}
	if q := p.Questions(); len(q) != 1 {
		t.Errorf("the run asks %+v", q)
	}
	if r := p.Result().Step("first"); r.Output != "the beg" || r.StdoutFile != "" || !r.Truncated {
		t.Errorf("%q, file %q, truncated %t", r.Output, r.StdoutFile, r.Truncated)
	}
	want := []string{"only the beginning of the output of step first is known: it is lost"}
	if diff := cmp.Diff(want, reported); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
