package steps

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// shortage reports whether err means that the system is out of something that other processes may
// release: descriptors, processes, memory.
func shortage(err error) bool {
	return shortOfFiles(err) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}

func shortOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// maxShortage is how long a step waits for a shortage to end. A shortage that lasts longer will not
// end soon.
const maxShortage = 10 * time.Second

// Pauses during a shortage, and when to send a notice.
const (
	minShortagePause    = 5 * time.Millisecond
	maxShortagePause    = 250 * time.Millisecond
	shortageNoticeAfter = time.Second
)

// retryShortage calls do again while it fails because of a shortage, for up to maxShortage or until
// ctx ends. Then it returns the shortage, or the cause of ctx. do must leave nothing behind when it
// fails.
func (s *Session) retryShortage(ctx context.Context, step dag.ID, do func() error) error {
	err := do()
	if err == nil || !shortage(err) {
		return err
	}
	start := time.Now()
	for pause := minShortagePause; ; pause = min(2*pause, maxShortagePause) {
		if errors.Is(err, syscall.EMFILE) {
			proc.WithReserve(func() { err = do() })
		}
		waited := time.Since(start)
		switch {
		case err == nil, !shortage(err):
			return err
		case waited >= maxShortage:
			return err
		case waited >= shortageNoticeAfter:
			s.notifyShortage(step, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		err = do()
	}
}

// NotifyLimit sends the notice that fewer items of a loop can run at once than its max-parallel says, once in a Session.
// items is the number of its items.
func (s *Session) NotifyLimit(loop dag.ID, maxParallel, items int) {
	if n, limited := notice.OfLimit(loop, maxParallel, items, s.options.Parallel); limited && s.limitReported.CompareAndSwap(false, true) {
		s.Notify(n)
	}
}

// notifyShortage sends the notice about a shortage, once in a Session.
func (s *Session) notifyShortage(step dag.ID, err error) {
	if s.shortageReported.CompareAndSwap(false, true) {
		s.Notify(notice.Notice{Code: notice.Shortage, Step: step, Message: fmt.Sprintf("waiting to start step %s: %v", step, err)})
	}
}
