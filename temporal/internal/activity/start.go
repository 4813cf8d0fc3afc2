package activity

import (
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// maxWaiting is how many steps a worker executes at once that only wait for something outside.
const maxWaiting = 1000

// Start executes workflows and steps of a task queue until stop is called. The Options limit
// the steps that run at once. Steps that only wait have a queue of their own, because they must
// not keep others from running. stop waits for running steps as long as the Options say, and
// then ends them.
func (h *Host) Start(queue string, o worker.Options) (stop func(), err error) {
	o.DeadlockDetectionTimeout = time.Minute
	main := worker.New(h.Client, queue, o)
	h.Register(main)
	o.MaxConcurrentActivityExecutionSize, o.DisableWorkflowWorker = maxWaiting, true
	waiting := worker.New(h.Client, interpreter.WaitQueue(queue), o)
	waiting.RegisterDynamicActivity(h.Do, activity.DynamicRegisterOptions{})
	if err := main.Start(); err != nil {
		return nil, err
	}
	if err := waiting.Start(); err != nil {
		main.Stop()
		return nil, err
	}
	return func() {
		stopped := make(chan struct{})
		go func() {
			waiting.Stop()
			close(stopped)
		}()
		main.Stop()
		<-stopped
		h.Close()
	}, nil
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
	w.RegisterDynamicActivity(h.Do, activity.DynamicRegisterOptions{})
}
