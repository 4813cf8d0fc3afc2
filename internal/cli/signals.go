package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals turns the first interrupt into a cancel and the second into a kill.
type signals struct {
	c     chan os.Signal
	force chan struct{}
	mu    sync.Mutex
	first os.Signal
}

func (a *app) signals(stop context.CancelCauseFunc) *signals {
	s := &signals{c: make(chan os.Signal, 4), force: make(chan struct{})}
	signal.Notify(s.c, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	go func() {
		for sig := range s.c {
			if sig == syscall.SIGPIPE {
				continue // the write that caused it fails with EPIPE
			}
			s.mu.Lock()
			again := s.first != nil
			if !again {
				s.first = sig
			}
			s.mu.Unlock()
			if again {
				close(s.force)
				return
			}
			stop(fmt.Errorf("received %v", sig))
		}
	}()
	return s
}

func (s *signals) stop() {
	signal.Stop(s.c)
	close(s.c)
}

// code is the exit code of a run that a signal ended, 0 when none came.
func (s *signals) code() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.first {
	case nil:
		return 0
	case syscall.SIGTERM:
		return exitTerminate
	}
	return exitInterrupt
}
