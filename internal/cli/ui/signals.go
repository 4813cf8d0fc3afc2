package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Signals turns the first interrupt into a cancel and the second into a kill. A
// terminal that goes away (SIGHUP) and Ctrl-\ (SIGQUIT) count as interrupts: steps
// are not in the terminal's process group, so dying of them would leave the steps
// behind.
type Signals struct {
	c     chan os.Signal
	Force chan struct{}
	mu    sync.Mutex
	first os.Signal
}

// TerminationSignals are the signals that end a command. A terminal that went away is none under
// nohup.
func TerminationSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// signalCode is the exit code of what a signal ended, as shells count: 130 for Ctrl-C,
// 143 for TERM; 0 for none.
func signalCode(sig os.Signal) int {
	if sig, ok := sig.(syscall.Signal); ok {
		return 128 + int(sig)
	}
	return 0
}

// Signals has the first signal call stop, and the second close Force.
func (env *Env) Signals(stop context.CancelCauseFunc) *Signals {
	env.handlesSignals.Store(true)
	s := &Signals{c: make(chan os.Signal, 4), Force: make(chan struct{})}
	signal.Notify(s.c, append(TerminationSignals(), syscall.SIGPIPE)...)
	go func() {
		for sig := range s.c {
			if sig == syscall.SIGPIPE {
				continue // the write that caused it fails with EPIPE
			}
			s.mu.Lock()
			first := s.first
			if first == nil {
				s.first = sig
			}
			s.mu.Unlock()
			if first == syscall.SIGHUP && sig == syscall.SIGHUP {
				continue // the kernel and the shell both tell of a closed terminal
			}
			if first != nil {
				close(s.Force)
				return
			}
			stop(fmt.Errorf("received %v", sig))
			env.scripts.loading.stop(fmt.Errorf("received %v", sig))
		}
	}()
	return s
}

// Stop has signals end the program again.
func (s *Signals) Stop() {
	signal.Stop(s.c)
	close(s.c)
}

// Code is the exit code of a run that a signal ended, 0 when none came.
func (s *Signals) Code() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return signalCode(s.first)
}

// UntilSecond is for what follows a run that has ended: its context ends with the next
// interrupt, which is the second where the first has stopped the run.
func (s *Signals) UntilSecond(run context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(run))
	interrupted := func() { cancel(errors.New("interrupted")) }
	takeBack := func() bool { return true }
	if run.Err() == nil {
		takeBack = context.AfterFunc(run, interrupted)
	}
	go func() {
		select {
		case <-s.Force:
			interrupted()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		takeBack()
		cancel(nil)
	}
}
