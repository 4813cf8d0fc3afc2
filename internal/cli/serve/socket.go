package serve

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
	file     socketFile
	quit     chan struct{}
	work     sync.WaitGroup
}

// socketEvery is how often it is seen to.
const socketEvery = 2 * time.Second

func newOwnSocket(path string, log *slog.Logger, serve func(net.Listener)) *ownSocket {
	s := &ownSocket{path: path, log: log, serve: serve, quit: make(chan struct{})}
	if answers(path) {
		log.Warn("another service uses the socket of this state directory; this service waits until it stops", "socket", path)
	} else {
		s.take()
	}
	s.work.Go(s.see)
	return s
}

// take makes the socket this service's, and replaces what a dead one left.
func (s *ownSocket) take() {
	l, err := listenUnix(s.path)
	if err != nil {
		s.log.Warn("cannot listen on the socket of the state directory; commands cannot reach this service", "socket", s.path, "error", err.Error())
		return
	}
	s.listener, s.file = l, socketFileOf(s.path)
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
		case s.listener != nil && !s.file.stands():
			s.listener.Close()
			s.listener = nil
		case s.listener == nil && !answers(s.path):
			if s.take(); s.listener != nil {
				s.log.Info("this service now uses the socket of the state directory", "socket", s.path)
			}
		}
	}
}

func (s *ownSocket) close() {
	close(s.quit)
	s.work.Wait()
	if s.listener == nil {
		return
	}
	s.file.remove()
	s.listener.Close()
}

// socketFile is the file of a socket, as it was when this service made it.
type socketFile struct {
	path string
	info os.FileInfo // nil where it was gone at once
}

func socketFileOf(path string) socketFile {
	info, _ := os.Lstat(path)
	return socketFile{path, info}
}

// stands says whether the file is still that socket, and not one that another service made.
func (f socketFile) stands() bool {
	now, err := os.Lstat(f.path)
	return err == nil && f.info != nil && os.SameFile(now, f.info)
}

// remove removes the socket, so that nobody takes it for one of a service that died.
func (f socketFile) remove() {
	if f.stands() {
		os.Remove(f.path)
	}
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
		return nil, fmt.Errorf("the path has %d bytes, but the path of a socket can have at most %d; choose a shorter one", len(path), longestSocket)
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
