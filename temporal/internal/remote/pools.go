package remote

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// PoolWait is a pool for a slot of which steps of a run wait.
type PoolWait struct {
	Pool   string
	Step   string // the first of them, without the keys of loops
	Steps  int
	Served bool // a worker has slots of the pool
}

// String describes the wait in a sentence.
func (w PoolWait) String() string {
	text := "step " + w.Step + " waits for a slot of pool " + w.Pool
	if w.Steps > 1 {
		text = fmt.Sprintf("step %s and %d more wait for slots of pool %s", w.Step, w.Steps-1, w.Pool)
	}
	if !w.Served {
		text += ", which no worker serves; start one: flowrun-temporal worker --pool " + w.Pool + "=1"
	}
	return text
}

// PoolWaits returns the pools that steps of an open run wait for, in the order in which steps asked.
func PoolWaits(ctx context.Context, c client.Client, id string) ([]PoolWait, error) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return nil, err
	}
	return poolWaits(ctx, c, d)
}

func poolWaits(ctx context.Context, c client.Client, d *workflowservice.DescribeWorkflowExecutionResponse) (list []PoolWait, err error) {
	queue := d.GetExecutionConfig().GetTaskQueue().GetName()
	at := map[string]int{}
	for _, a := range d.GetPendingActivities() {
		pool, ok := waitsFor(queue, a)
		if !ok {
			continue
		}
		i, known := at[pool]
		if !known {
			i, at[pool] = len(list), len(list)
			list = append(list, PoolWait{Pool: pool, Step: a.GetActivityType().GetName()})
		}
		list[i].Steps++
	}
	for i := range list {
		workers, err := c.DescribeTaskQueue(ctx, interpreter.PoolQueue(queue, list[i].Pool), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		if err != nil {
			return nil, err
		}
		list[i].Served = len(workers.GetPollers()) > 0
	}
	return list, nil
}

// waitsFor returns the pool for which an activity waits.
func waitsFor(queue string, a *workflowpb.PendingActivityInfo) (pool string, ok bool) {
	if a.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
		return "", false
	}
	return interpreter.PoolOf(queue, a.GetActivityOptions().GetTaskQueue().GetName())
}
