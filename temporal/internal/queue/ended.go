package queue

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// endOf returns when a run has ended. One that the service does not know any more has ended long ago.
func endOf(ctx context.Context, c client.Client, run string) (at time.Time, over bool, err error) {
	d, err := c.DescribeWorkflowExecution(ctx, run, "")
	if errors.As(err, new(*serviceerror.NotFound)) {
		return at, true, nil
	}
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return at, false, err
	}
	return d.GetWorkflowExecutionInfo().GetCloseTime().AsTime(), true, nil
}
