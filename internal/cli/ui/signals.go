package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/screen/console"
)

// Signals cancels on the first signal and kills on a second Ctrl-C (console.Forces). Steps are not in the process group of
// the terminal, so if these signals killed flowrun, the steps would keep running.
type Signals struct {
	c     chan os.Signal
	Force chan struct{}
	mu    sync.Mutex
	first os.Signal
}

// TerminationSignals returns the signals that end a command. Under nohup, a closed terminal (SIGHUP) does not.
func TerminationSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// SignalCode returns the exit code for a signal as shells do: 130 for Ctrl-C, 143 for TERM, 0 for
// none.
func SignalCode(sig os.Signal) int {
	if sig, ok := sig.(syscall.Signal); ok {
		return 128 + int(sig)
	}
	return 0
}

// HandlesSignals is for commands that handle signals themselves: what a signal interrupts does not end
// the program.
func (env *Env) HandlesSignals() { env.handlesSignals.Store(true) }

// Signals starts to handle signals: the first calls stop, a second Ctrl-C closes Force.
func (env *Env) Signals(stop context.CancelCauseFunc) *Signals {
	env.HandlesSignals()
	s := &Signals{c: make(chan os.Signal, 4), Force: make(chan struct{})}
	signal.Notify(s.c, append(TerminationSignals(), syscall.SIGPIPE)...)
	go func() {
		var began time.Time
		for sig := range s.c {
			if sig == syscall.SIGPIPE {
				continue // the write that caused it returns EPIPE
			}
			s.mu.Lock()
			again := s.first != nil
			if !again {
				s.first, began = sig, time.Now()
			}
			s.mu.Unlock()
			switch {
			case !again:
				stop(fmt.Errorf("received %v", sig))
				env.scripts.loading.stop(fmt.Errorf("received %v", sig))
			case console.Forces(sig, IsTerminal(env.Stderr), time.Since(began)):
				close(s.Force)
				return
			}
		}
	}()
	return s
}

// Stop restores the default handling of the signals, unless one of them has ended the run. Then the program is about to
// exit with the code of that signal, and another one, of somebody who presses Ctrl-C again and again, does not change it.
func (s *Signals) Stop() {
	if s.Code() != 0 {
		return
	}
	signal.Stop(s.c)
	close(s.c)
}

// Code returns the exit code of a run that a signal ended, or 0 if there was no signal.
func (s *Signals) Code() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SignalCode(s.first)
}

// ContextAfterRun returns a context for work after the end of a run. It ends with the next interrupt;
// that is the second one if the first has stopped the run.
func (s *Signals) ContextAfterRun(run context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(run))
	interrupted := func() { cancel(errors.New("interrupted")) }
	unregister := func() bool { return true }
	if run.Err() == nil {
		unregister = context.AfterFunc(run, interrupted)
	}
	go func() {
		select {
		case <-s.Force:
			interrupted()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		unregister()
		cancel(nil)
	}
}
