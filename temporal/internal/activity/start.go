package activity

import (
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/temporal/internal/interpreter"
	"github.com/flowrun/flowrun/temporal/internal/queue"
	"github.com/flowrun/flowrun/temporal/internal/values"
)

// maxWaiting is how many steps a worker executes at once that only wait for something outside.
const maxWaiting = 1000

// Start executes workflows and steps of a task queue until stop is called. The Options limit
// the steps that run at once. Steps that only wait have a queue of their own, because they must
// not keep others from running, and so have the steps of each pool, of which the worker gives
// that many slots. stop waits for running steps as long as the Options say, and then ends them.
func (h *Host) Start(queue string, o worker.Options, pools map[string]int) (stop func(), err error) {
	h.queue, o.DeadlockDetectionTimeout = queue, time.Minute
	main := worker.New(h.Client, queue, o)
	h.Register(main)
	workers := []worker.Worker{main, h.stepWorker(interpreter.WaitQueue(queue), maxWaiting, o)}
	for _, pool := range slices.Sorted(maps.Keys(pools)) {
		workers = append(workers, h.stepWorker(interpreter.PoolQueue(queue, pool), pools[pool], o))
	}
	for i, w := range workers {
		if err := w.Start(); err != nil {
			stopAll(workers[:i])
			return nil, err
		}
	}
	return func() {
		stopAll(workers)
		h.Close()
	}, nil
}

// stepWorker returns a worker that only executes steps, and so many at once.
func (h *Host) stepWorker(queue string, limit int, o worker.Options) worker.Worker {
	o.MaxConcurrentActivityExecutionSize, o.DisableWorkflowWorker = limit, true
	w := worker.New(h.Client, queue, o)
	w.RegisterDynamicActivity(h.Do, activity.DynamicRegisterOptions{})
	return w
}

// stopAll stops workers, all at once: each may wait for its steps.
func stopAll(workers []worker.Worker) {
	var stopping sync.WaitGroup
	for _, w := range workers {
		stopping.Go(w.Stop)
	}
	stopping.Wait()
}

// Registry is a worker, or the test environment of the SDK.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
	RegisterDynamicActivity(a any, o activity.DynamicRegisterOptions)
}

// Register registers the workflow and the activities.
func (h *Host) Register(w Registry) {
	flow := &interpreter.Workflow{Compile: h.Compile, Observers: h.Observers, ContinueAfter: h.ContinueAfter}
	w.RegisterWorkflowWithOptions(flow.Run, workflow.RegisterOptions{Name: interpreter.WorkflowType})
	w.RegisterActivityWithOptions(h.Judge, activity.RegisterOptions{Name: interpreter.ConditionActivity})
	w.RegisterActivityWithOptions(h.Answer, activity.RegisterOptions{Name: interpreter.AnswerActivity})
	w.RegisterActivityWithOptions(h.Queue, activity.RegisterOptions{Name: queue.SendActivity})
	w.RegisterActivityWithOptions(h.ReadState, activity.RegisterOptions{Name: interpreter.ReadActivity})
	w.RegisterActivityWithOptions(h.State, activity.RegisterOptions{Name: values.RequestActivity})
	w.RegisterActivityWithOptions(h.ForgetState, activity.RegisterOptions{Name: values.EndActivity})
	w.RegisterActivityWithOptions(h.Ended, activity.RegisterOptions{Name: queue.EndedActivity})
	keeper := &queue.Workflow{HeldAfterEnd: interpreter.HeartbeatTimeout, ContinueAfter: h.ContinueAfter}
	w.RegisterWorkflowWithOptions(keeper.Run, workflow.RegisterOptions{Name: queue.WorkflowType})
	w.RegisterWorkflowWithOptions((&values.Workflow{ContinueAfter: h.ContinueAfter}).Run, workflow.RegisterOptions{Name: values.WorkflowType})
	w.RegisterDynamicActivity(h.Do, activity.DynamicRegisterOptions{})
}
