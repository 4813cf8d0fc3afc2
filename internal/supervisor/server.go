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

	"github.com/flowrun/flowrun/internal/confine"
	"github.com/flowrun/flowrun/internal/proc"
)

// processName is argv[0] of a helper. An environment variable would be inherited by what
// the helper starts, a name is not.
const processName = "flowrun-helper"

// socketFD is the descriptor a helper finds its end of the socket pair at.
const socketFD = 3

// Main takes over, and never returns, if this process was started as a helper, or to
// become a confined program (confine.Main); otherwise it returns at once. A program that embeds flowrun and wants a helper
// calls it first thing in main.
func Main() {
	confine.Main()
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

// server is the helper's side of a run.
type server struct {
	wire  *wire
	group *proc.Group
	mu    sync.Mutex
	procs map[uint64]*managedProcess
}

// managedProcess is a process a client knows by its number.
type managedProcess struct {
	proc.Process
	stop  context.CancelFunc // ends waiting; the stop request says what then
	stops chan message       // stop requests
}

// serve answers requests until the other side closes or dies.
func serve(w *wire, mark string) error {
	catchSignals()
	_ = proc.BecomeReaper() // where there is no such thing, process groups still end
	s := &server{wire: w, group: proc.Open(mark), procs: map[uint64]*managedProcess{}}
	alive, gone := context.WithCancel(context.Background())
	var closing sync.WaitGroup
	closed := false
	for {
		m, err := w.receive()
		if err != nil { // the program is gone, or in a hurry
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

// catchSignals keeps the helper alive when others are told to stop: the socket's end is
// what ends it. The signals are caught and not ignored, because what is ignored
// stays so in every process started from here, and a step that ignores TERM can
// only be killed.
func catchSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup has it
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// start starts a process and goes on; a goroutine waits for its end.
func (s *server) start(m message) error {
	files, err := s.wire.takeFiles()
	if err != nil || m.Spec == nil {
		return errors.Join(err, errors.New("a start without a spec"))
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

// watch reports the end of a process: by itself, or because it was stopped.
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

func (s *server) stop(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.procs[m.ID]; v != nil {
		select {
		case v.stops <- m:
		default: // it was told twice already
		}
		v.stop()
	}
}

// close ends the run; its grace period ends with the program.
func (s *server) close(alive context.Context, m message) {
	report, err := s.group.Close(alive, m.Grace)
	reply := message{Kind: kindClosed, Report: report}
	if err != nil {
		reply.Error = err.Error()
	}
	s.wire.send(reply)
}
