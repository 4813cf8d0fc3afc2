package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
	"github.com/flowrun/flowrun/temporal/internal/queue"
)

// Queue returns who holds and who waits for locks and pools of a task queue. A worker answers.
func Queue(ctx context.Context, c client.Client, taskQueue string) (list history.Queue, err error) {
	if err := ask(ctx, c, queue.ID(interpreter.QueueName(taskQueue)), queue.EntriesQuery, &list); err != nil {
		return nil, fmt.Errorf("cannot read who holds the locks of task queue %s: %w", taskQueue, err)
	}
	return list, nil
}

// ask asks a workflow that runs share, if it is open.
func ask(ctx context.Context, c client.Client, workflow, query string, to any) error {
	answer, err := c.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{WorkflowID: workflow, QueryType: query,
		QueryRejectCondition: enums.QUERY_REJECT_CONDITION_NOT_OPEN})
	switch {
	case errors.As(err, new(*serviceerror.NotFound)):
		return nil // no run has needed it yet
	case err != nil:
		return err
	case answer.QueryResult == nil:
		return nil
	}
	return answer.QueryResult.Get(to)
}

// Positions returns the positions of a run and of its steps in the queue of its task queue.
func Positions(ctx context.Context, c client.Client, taskQueue, run string) (list []history.QueuePosition, err error) {
	entries, err := Queue(ctx, c, taskQueue)
	if err != nil {
		return nil, err
	}
	waiting := entries.Waiting()
	for _, i := range slices.Sorted(maps.Keys(waiting)) {
		if q := waiting[i]; q.Run == run && len(q.Obstacles) > 0 {
			list = append(list, q)
		}
	}
	return list, nil
}

// Queue implements history.Store, for the task queue.
func (s *Store) Queue(ctx context.Context) (history.Queue, error) {
	return Queue(ctx, s.client, s.queue)
}

// positionText describes what a run, or one of its steps, waits for.
func positionText(q history.QueuePosition) string {
	if q.Step == "" {
		return q.String()
	}
	return "step " + q.Step + " " + q.String()
}
