package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
	"github.com/flowrun/flowrun/temporal/internal/queue"
	"github.com/flowrun/flowrun/temporal/internal/values"
)

// pageSize is how many runs are listed in one request.
const pageSize = 100

// folderReach is how many of the newest runs are searched for those of a folder, which the service cannot select.
const folderReach = 1000

// Runs implements history.Store, with the runs of the task queue, whatever the version of flowrun is that started them. The
// service lists open workflows first and then the others by their end, newest first. So it is read until those that follow
// have ended before the last of the newest runs began. The runs of a Folder are those that a program there has started, of the
// newest folderReach.
func (s *Store) Runs(ctx context.Context, q history.Query) (list []history.RunInfo, err error) {
	before, err := s.before(ctx, q.Before)
	if err != nil || before == nil {
		return nil, err
	}
	visited := 0
	err = s.each(ctx, s.filter(q), func(w *workflowpb.WorkflowExecutionInfo) (done bool, err error) {
		if w.GetTaskQueue() != "" && interpreter.QueueName(w.GetTaskQueue()) != interpreter.QueueName(s.queue) {
			return false, nil
		}
		full := len(list) == q.Limit && q.Limit > 0
		if full && w.GetCloseTime() != nil && w.GetCloseTime().AsTime().Before(list[q.Limit-1].Started) {
			return true, nil
		}
		if visited++; q.Folder != "" && visited > folderReach {
			return true, nil
		}
		info, selected, err := s.selected(ctx, w, q, before)
		if err != nil || !selected {
			return false, err
		}
		at := sort.Search(len(list), func(i int) bool { return compare(info, list[i]) < 0 })
		list = slices.Insert(list, at, info)
		if full {
			list = list[:q.Limit]
		}
		return false, nil
	})
	return list, err
}

// compare orders runs, newest first.
func compare(a, b history.RunInfo) int {
	return cmp.Or(b.Started.Compare(a.Started), strings.Compare(b.ID, a.ID))
}

// before returns the run after which a list begins, nil if there is no such run.
func (s *Store) before(ctx context.Context, id string) (*history.RunInfo, error) {
	if id == "" {
		return &history.RunInfo{}, nil
	}
	described, err := s.client.DescribeWorkflowExecution(ctx, id, "")
	if errors.As(err, new(*serviceerror.NotFound)) {
		return nil, nil
	}
	info, _ := s.listed(described.GetWorkflowExecutionInfo())
	info.ID = id
	return &info, err
}

// selected returns what the list of runs says about a workflow, if the query selects it. before is the run that q.Before names.
func (s *Store) selected(ctx context.Context, w *workflowpb.WorkflowExecutionInfo, q history.Query, before *history.RunInfo) (info history.RunInfo, ok bool, err error) {
	info, folder := s.listed(w)
	const separator = string(filepath.Separator)
	statuses := q.Status
	q.Status = nil
	if !q.Selects(info) || q.Before != "" && compare(info, *before) <= 0 ||
		q.Folder != "" && !strings.HasPrefix(folder+separator, strings.TrimSuffix(q.Folder, separator)+separator) {
		return info, false, nil
	}
	switch w.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		if err := s.addOutcome(ctx, &info); err != nil {
			return info, false, err
		}
	}
	if len(statuses) > 0 && !slices.Contains(statuses, info.Status) {
		return info, false, nil
	}
	if q.WithParams {
		record, err := s.Record(ctx, info.ID)
		if err != nil {
			return info, false, err
		}
		info.Params = record.Params
	}
	return info, true, nil
}

// each calls visit for each workflow that a query of the service selects, until it returns true.
func (s *Store) each(ctx context.Context, query string, visit func(*workflowpb.WorkflowExecutionInfo) (done bool, err error)) error {
	request := &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: pageSize}
	for {
		page, err := s.client.ListWorkflow(ctx, request)
		if err != nil {
			return fmt.Errorf("cannot list the runs: %w", err)
		}
		for _, w := range page.GetExecutions() {
			if done, err := visit(w); done || err != nil {
				return err
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// Oldest returns when the first of all runs that the service knows began, of every task queue, zero if it knows none. What
// runs share, which is in workflows of its own, counts, too.
func (s *Store) Oldest(ctx context.Context) (oldest time.Time, err error) {
	note := func(began time.Time) {
		if oldest.IsZero() || began.Before(oldest) {
			oldest = began
		}
	}
	err = s.each(ctx, allRuns, func(w *workflowpb.WorkflowExecutionInfo) (bool, error) {
		began, err := s.began(w)
		if err == nil {
			note(began)
		}
		return false, err
	})
	if err != nil {
		return oldest, err
	}
	err = s.each(ctx, sharedByRuns, func(w *workflowpb.WorkflowExecutionInfo) (bool, error) {
		note(w.GetStartTime().AsTime())
		return false, nil
	})
	return oldest, err
}

// sharedByRuns is the query for the workflows that have what runs share.
const sharedByRuns = "(WorkflowType = '" + queue.WorkflowType + "' OR WorkflowType = '" + values.WorkflowType + "') AND ExecutionStatus = 'Running'"

// began returns when a run began, whose workflow may have been continued as new since then: a run of a
// schedule has the time in its id.
func (s *Store) began(w *workflowpb.WorkflowExecutionInfo) (began time.Time, err error) {
	id := w.GetExecution().GetWorkflowId()
	if p := w.GetMemo().GetFields()[interpreter.CreatedMemo]; p != nil {
		err = s.converter.FromPayload(p, &began)
	} else {
		began, err = time.Parse(time.RFC3339, id[max(0, len(id)-len("2006-01-02T15:04:05Z")):])
	}
	if err != nil {
		return began, fmt.Errorf("cannot see when run %s began: %w", id, err)
	}
	return began, nil
}

// allRuns is the query for all runs, in the language of the service. A run that was continued as new is in the list once,
// by its last workflow.
const allRuns = "WorkflowType = '" + interpreter.WorkflowType + "' AND ExecutionStatus != 'ContinuedAsNew'"

// filter returns the query for the runs of the task queue that q may mean.
func (s *Store) filter(q history.Query) string {
	text := func(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" }
	terms := []string{allRuns, "TaskQueue STARTS_WITH " + text(interpreter.QueueName(s.queue)+"-")}
	if q.Prefix != "" {
		terms = append(terms, "WorkflowId STARTS_WITH "+text(q.Prefix))
	}
	if q.Open || len(q.Status) > 0 && !slices.ContainsFunc(q.Status, dag.Status.Settled) {
		terms = append(terms, "ExecutionStatus = 'Running'")
	}
	if !q.Since.IsZero() {
		terms = append(terms, fmt.Sprintf("StartTime >= '%s'", q.Since.UTC().Format(time.RFC3339Nano)))
	}
	if !q.Until.IsZero() {
		terms = append(terms, fmt.Sprintf("StartTime < '%s'", q.Until.UTC().Format(time.RFC3339Nano)))
	}
	return strings.Join(terms, " AND ")
}

// listed returns what the list of runs says about a workflow, and the folder in which it was started. How one that has failed or
// was cancelled ended, addOutcome adds.
func (s *Store) listed(w *workflowpb.WorkflowExecutionInfo) (info history.RunInfo, folder string) {
	info = history.RunInfo{ID: w.GetExecution().GetWorkflowId(), Engine: Engine, Status: dag.Running, Started: w.GetStartTime().AsTime()}
	waits := ""
	for key, to := range map[string]any{interpreter.ToolMemo: &info.Tool, interpreter.OriginMemo: &info.Origin, interpreter.CreatedMemo: &info.Started,
		interpreter.LabelsMemo: &info.Labels, interpreter.FolderMemo: &folder, interpreter.WaitsMemo: &waits} {
		if p := w.GetMemo().GetFields()[key]; p != nil {
			_ = s.converter.FromPayload(p, to) // without their key, they are not shown
		}
	}
	if w.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		if waits != "" {
			info.Status, info.Message = dag.Waiting, waits
		}
		return info, folder
	}
	info.Ended = w.GetCloseTime().AsTime()
	switch w.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		info.Status = dag.Succeeded
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		info.Status = dag.Failed
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		info.Status = dag.Cancelled
	default:
		info.LastSign = info.Ended
		info.Status, info.Message = dag.Interrupted, "the workflow was ended in Temporal: "+strings.ToLower(w.GetStatus().String())
	}
	return info, folder
}

// addOutcome adds how a run ended, which only its result says exactly.
func (s *Store) addOutcome(ctx context.Context, info *history.RunInfo) error {
	var result interpreter.Output
	out, err := interpreter.OutputOf(&result, s.client.GetWorkflow(ctx, info.ID, "").Get(ctx, &result))
	if err != nil {
		info.Status, info.ExitCode, info.Message = dag.Failed, 1, err.Error()
		return nil
	}
	info.Status, err = dag.ParseStatus(out.Status)
	info.ExitCode, info.Message = out.ExitCode, out.Message
	return err
}
