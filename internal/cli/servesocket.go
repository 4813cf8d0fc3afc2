package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// ownSocket is the socket of a state directory, by which flowrun's commands reach the
// service. One service has it; another waits until that has gone.
type ownSocket struct {
	path     string
	log      *slog.Logger
	serve    func(net.Listener)
	listener net.Listener // nil while another service has it
	file     os.FileInfo  // of the socket
	quit     chan struct{}
	work     sync.WaitGroup
}

// socketEvery is how often it is seen to.
const socketEvery = 2 * time.Second

func newOwnSocket(path string, log *slog.Logger, serve func(net.Listener)) *ownSocket {
	s := &ownSocket{path: path, log: log, serve: serve, quit: make(chan struct{})}
	if answers(path) {
		log.Warn("another service has the socket of this state directory; this one does without until that stops", "socket", path)
	} else {
		s.take()
	}
	s.work.Go(s.see)
	return s
}

// take makes the socket this service's, and replaces what a dead one left.
func (s *ownSocket) take() {
	l, err := listenUnix(s.path)
	if err == nil {
		s.file, err = os.Lstat(s.path)
	}
	if err != nil {
		s.log.Warn("cannot listen at the socket of the state directory; commands do not find this service", "socket", s.path, "error", err.Error())
		return
	}
	s.listener = l
	s.serve(l)
}

// see takes the socket over when it is free, and lets go of one that another service has
// replaced.
func (s *ownSocket) see() {
	tick := time.NewTicker(socketEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
		switch {
		case s.listener != nil && !s.stands():
			s.listener.Close()
			s.listener = nil
		case s.listener == nil && !answers(s.path):
			if s.take(); s.listener != nil {
				s.log.Info("this service has the socket of the state directory now", "socket", s.path)
			}
		}
	}
}

// stands says whether the socket in the directory is this service's.
func (s *ownSocket) stands() bool {
	now, err := os.Lstat(s.path)
	return err == nil && os.SameFile(now, s.file)
}

func (s *ownSocket) close() {
	close(s.quit)
	s.work.Wait()
	if s.listener == nil {
		return
	}
	if s.stands() {
		os.Remove(s.path)
	}
	s.listener.Close()
}

// answers says whether somebody listens at a socket.
func answers(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
	}
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// longestSocket is how many bytes the path of a socket may have on any system.
const longestSocket = 103

// listenUnix listens at a socket that this user alone may use. It is made in a folder of
// its own and then takes its place, so that at no moment it is open to others, and what a
// service that died left there is replaced.
func listenUnix(path string) (net.Listener, error) {
	if len(path) > longestSocket {
		return nil, fmt.Errorf("its path has %d bytes, a socket's may have %d; choose a shorter one", len(path), longestSocket)
	}
	if there, err := os.Lstat(path); err == nil && there.Mode().Type() != os.ModeSocket {
		return nil, &os.PathError{Op: "listen", Path: path, Err: syscall.EEXIST}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s") // 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(fresh, 0o600), os.Rename(fresh, path)); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
