package remote

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// Failing returns why workers cannot continue an open run, as they reported it to the service, or "". The service lets
// them try again and again, so the reason is nowhere else to be seen.
func Failing(ctx context.Context, c client.Client, id string) (reason string, err error) {
	described, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil || described.GetPendingWorkflowTask().GetAttempt() < 2 {
		return "", err
	}
	for all := c.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); all.HasNext(); {
		event, err := all.Next()
		if err != nil {
			return "", err
		}
		if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
			reason = failed.GetFailure().GetMessage()
		}
	}
	return reason, nil
}
