//go:build unix

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// processName is argv[0] of a supervisor. It is not an environment variable, because the processes
// that the supervisor starts would inherit that.
const processName = "flowrun-helper"

// socketFD is the descriptor of the supervisor's end of the socket pair.
const socketFD = 3

// Main does nothing in an ordinary process. If this process was started as a supervisor, Main is one
// and never returns. A program that embeds flowrun and wants a supervisor calls it first in main.
func Main() {
	if len(os.Args) < 2 || os.Args[0] != processName {
		called.Store(true)
		return
	}
	confine.Seal()
	w, err := newWire(os.NewFile(socketFD, "socket"))
	if err == nil {
		err = serve(w, os.Args[1])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", processName, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// server is the supervisor's side of a run.
type server struct {
	wire  *wire
	group *proc.Group
	mu    sync.Mutex
	procs map[uint64]*managedProcess
}

// managedProcess is a process that the client knows by its ID.
type managedProcess struct {
	proc.Process
	stop  context.CancelFunc // ends the wait; the stop request says how to continue
	stops chan message       // stop requests
}

// serve handles requests until the client closes the socket or ends.
func serve(w *wire, mark string) error {
	catchSignals()
	_ = proc.BecomeReaper() // if that fails, process groups can still be ended
	s := &server{wire: w, group: proc.Open(mark, 0), procs: map[uint64]*managedProcess{}}
	alive, gone := context.WithCancel(context.Background())
	var closing sync.WaitGroup
	closed := false
	for {
		m, err := w.receive()
		if err != nil { // the program has ended, or wants everything to end without a grace period
			gone()
			closing.Wait()
			if !closed {
				s.group.Close(alive, 0)
			}
			return nil
		}
		switch m.Kind {
		case kindStart:
			if err := s.start(m); err != nil {
				s.group.Close(alive, 0)
				gone()
				return err
			}
		case kindStop:
			s.stop(m)
		case kindClose:
			closed = true
			closing.Go(func() { s.close(alive, m) })
		}
	}
}

// catchSignals keeps the supervisor running when a terminal or a service manager signals it: only
// the end of the socket ends it. The signals are caught, not ignored, because every process started
// from here would inherit ignored signals, and a step that ignores TERM can only be killed.
func catchSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // ignored by nohup, and stays so
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// start starts a process, replies, and leaves the waiting to a goroutine.
func (s *server) start(m message) error {
	if m.Spec == nil {
		return errors.New("the start message has no spec")
	}
	files, err := s.wire.takeFiles(3 + m.Spec.Enter)
	if err != nil {
		return err
	}
	p, err := s.group.Start(m.Spec.unpack(files))
	for _, f := range files {
		f.Close()
	}
	reply := message{Kind: kindStarted, ID: m.ID}
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		reply.Error, reply.Errno = err.Error(), int(errno)
		s.wire.send(reply)
		return nil
	}
	reply.PID = p.PID()
	ctx, cancel := context.WithCancel(context.Background())
	v := &managedProcess{Process: p, stop: cancel, stops: make(chan message, 2)}
	s.mu.Lock()
	s.procs[m.ID] = v
	s.mu.Unlock()
	s.wire.send(reply)
	go s.watch(ctx, m.ID, v)
	return nil
}

// watch reports the end of a process, by itself or by a stop request.
func (s *server) watch(ctx context.Context, id uint64, v *managedProcess) {
	defer v.stop()
	exit, err := v.Wait(ctx)
	reply := message{Kind: kindExited, ID: id, Exit: exit}
	if err != nil {
		first := <-v.stops
		force := make(chan struct{})
		done := make(chan struct{})
		go func() { // a second request means force
			defer close(force)
			select {
			case <-v.stops:
			case <-done:
			}
		}()
		exit, left := v.Stop(first.Grace, force)
		close(done)
		reply = message{Kind: kindStopped, ID: id, Exit: exit, Left: left}
	}
	s.mu.Lock()
	delete(s.procs, id)
	s.mu.Unlock()
	s.wire.send(reply)
}

// stop passes a stop request to the goroutine that waits for the process.
func (s *server) stop(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.procs[m.ID]; v != nil {
		select {
		case v.stops <- m:
		default: // two requests are enough
		}
		v.stop()
	}
}

// close ends the run. Its grace period ends when the client ends.
func (s *server) close(alive context.Context, m message) {
	report, err := s.group.Close(alive, m.Grace)
	reply := message{Kind: kindClosed, Report: report}
	if err != nil {
		reply.Error = err.Error()
	}
	s.wire.send(reply)
}
