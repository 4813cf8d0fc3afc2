package steps

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// limits hold the limits of one start of an attempt.
type limits struct {
	*confinement.Limits
	session    *Session
	detached   bool
	printed    *output.Counter // nil: no limit
	group      *cgroup.Limit   // nil: none
	perProcess bool            // max-memory limits each process
}

// apply sets the limits: a cgroup for what all its processes share, and
// limits of each process.
func (l *limits) apply(c *confine.Confinement) error {
	c.FileSize, c.OpenFiles, c.NoRealTime = l.MaxFileSize, int64(l.MaxOpenFiles), l.CPU > 0
	if l.MaxCPU > 0 { // also with a cgroup: this limit holds if flowrun is killed
		c.CPUTime = int64((l.MaxCPU + time.Second - 1) / time.Second)
	}
	if l.group == nil && !l.perProcess { // otherwise it is the second start of the same attempt
		if err := l.makeGroup(); err != nil {
			return err
		}
	}
	if l.group != nil {
		c.Join = l.group.JoinFiles()
	}
	if l.perProcess {
		c.AddressSpace = l.MaxMemory
	}
	return nil
}

// makeGroup makes the cgroup of the attempt. Where there can be none for memory or CPU time, these
// are limited for each process, and a notice says so.
func (l *limits) makeGroup() (err error) {
	mark := procid.Mark(l.session.options.Run, l.session.options.Epoch)
	if l.detached {
		mark = "" // its processes may outlive the run
	}
	shared := cgroup.Limits{Memory: l.MaxMemory, Processes: l.MaxProcesses, CPU: l.CPU, CountCPU: l.MaxCPU > 0}
	if why := cgroup.CanLimit(cgroup.Limits{CountCPU: true}); shared.CountCPU && why != nil {
		shared.CountCPU = false
		l.session.Notify(notice.Notice{Code: notice.CPU, Message: fmt.Sprintf("max-cpu limits only the CPU time of each process, not the total of a step: %v", why)})
	}
	if l.group, err = l.newLimit(mark, shared); err != nil && l.MaxMemory > 0 {
		l.session.Notify(notice.Notice{Code: notice.Memory, Message: fmt.Sprintf(
			"max-memory limits only the address space of each process, not the total memory of a step: %v", err)})
		shared.Memory, l.perProcess = 0, true
		l.group, err = l.newLimit(mark, shared)
	}
	if err != nil {
		return place.CannotStart(126, "cannot start the step: cannot enforce its limits: %v", err)
	}
	return nil
}

// newLimit returns nil if there is nothing to limit.
func (l *limits) newLimit(mark string, shared cgroup.Limits) (*cgroup.Limit, error) {
	if shared == (cgroup.Limits{}) {
		return nil, nil
	}
	return cgroup.NewLimit(mark, l.session.host.Domain(), shared)
}

var errLimit = errors.New("the step exceeded a limit")

// watch returns a context that ends when the attempt exceeds a limit that flowrun itself
// holds. Call stop when the attempt has ended.
func (l *limits) watch(ctx context.Context) (_ context.Context, stop func()) {
	countsCPU := l.group != nil && l.MaxCPU > 0
	if l.printed == nil && !countsCPU {
		return ctx, func() {}
	}
	ctx, exceed := context.WithCancelCause(ctx)
	l.printed.WhenOver(func() { exceed(errLimit) })
	var working sync.WaitGroup
	if countsCPU {
		working.Go(func() { watchCPU(ctx, l.group, l.MaxCPU, exceed) })
	}
	return ctx, func() {
		exceed(nil)
		working.Wait() // the cgroup that it reads is removed next
	}
}

// minCPUPoll is the shortest time between two looks at the CPU time of a step.
const minCPUPoll = 10 * time.Millisecond

// watchCPU looks at the CPU time when it can be used up at the earliest: if all processors work for
// the step alone.
func watchCPU(ctx context.Context, limit *cgroup.Limit, most time.Duration, exceed context.CancelCauseFunc) {
	for {
		user, system, _ := limit.CPUTime()
		left := most - user - system
		if left <= 0 {
			exceed(errLimit)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(left/time.Duration(runtime.NumCPU()), minCPUPoll)):
		}
	}
}

// release removes the cgroup of the attempt. If processes that the step left in the background
// are still in it, the Session keeps it.
func (l *limits) release() {
	if l.group == nil || l.group.Remove() {
		return
	}
	l.session.mu.Lock()
	defer l.session.mu.Unlock()
	l.session.limits = append(l.session.limits, stepLimit{l.group, l.detached})
}

type stepLimit struct {
	*cgroup.Limit
	detached bool
}

// removeLimits removes the cgroups of steps after the processes of the run have ended. A process
// that has lost every other sign of the run is still in one of them, and is killed with it unless
// its step is detached.
func (s *Session) removeLimits() {
	for _, l := range s.limits {
		l.End(!l.detached)
	}
}
