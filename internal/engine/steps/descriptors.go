package steps

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/flowrun/flowrun/internal/os/proc"
)

// descriptors are what the running steps of this process may hold. A step for which too few are
// left waits, because an open that fails would fail the step. They are always enough for one step.
var descriptors = sync.OnceValue(func() *semaphore.Weighted {
	return semaphore.NewWeighted(int64(max(proc.StepDescriptors(), proc.MostDescriptors)))
})

// takeDescriptors waits until the attempt can have its descriptors.
func (t *attempt) takeDescriptors(ctx context.Context) error {
	n := int64(proc.LeastDescriptors)
	if !t.session.mask.Empty() || t.Interactive != nil || t.Stream != nil {
		n = proc.MostDescriptors
	}
	if !descriptors().TryAcquire(n) {
		defer time.AfterFunc(shortageNoticeAfter, func() {
			t.session.notifyShortage(t.call.Path, fmt.Errorf("the running steps have all files that this process may have open (ulimit -n: %d)", proc.MaxFiles()))
		}).Stop()
		if err := descriptors().Acquire(ctx, n); err != nil {
			return context.Cause(ctx)
		}
	}
	t.descriptors = n
	return nil
}

// releaseDescriptors gives back what takeDescriptors took, if it was called.
func (t *attempt) releaseDescriptors() { descriptors().Release(t.descriptors) }
