package steps

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/proc"
)

// shortage says that the system is out of something that others give back: descriptors,
// processes, memory.
func shortage(err error) bool {
	return shortOfFiles(err) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}

func shortOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// maxShortage is how long a shortage is waited out: what holds descriptors and processes
// for longer does not give them back for the sake of a step.
const maxShortage = 10 * time.Second

// Pauses while a shortage lasts, and when people hear of it.
const (
	minShortagePause    = 5 * time.Millisecond
	maxShortagePause    = 250 * time.Millisecond
	shortageNoticeAfter = time.Second
)

// retryShortage does something again until the system is not short of what it takes, or for
// so long that it will not come: then the shortage is the error. do must leave nothing
// behind when it fails. It also ends with ctx.
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
		case waited >= shortageNoticeAfter && s.shortageReported.CompareAndSwap(false, true):
			s.Notify(Notice{Code: NoticeShortage, Step: step, Message: fmt.Sprintf("waiting to start step %s: %v", step, err)})
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		err = do()
	}
}
