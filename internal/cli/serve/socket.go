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

// ownSocket is the Unix socket in a state directory, through which flowrun's commands reach the
// service. Only one service uses it; a second service waits until the first has stopped.
type ownSocket struct {
	path     string
	log      *slog.Logger
	serve    func(net.Listener)
	listener net.Listener // nil while another service uses the socket
	file     socketFile
	quit     chan struct{}
	work     sync.WaitGroup
}

// socketEvery is how often a service checks the socket.
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

// take creates the socket. It replaces a socket that a killed service left.
func (s *ownSocket) take() {
	l, err := listenUnix(s.path)
	if err != nil {
		s.log.Warn("cannot listen on the socket of the state directory; commands cannot reach this service", "socket", s.path, "error", err.Error())
		return
	}
	s.listener, s.file = l, socketFileOf(s.path)
	s.serve(l)
}

// see takes the socket over when it becomes free, and closes the listener if another service has
// replaced the file.
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

// socketFile identifies the file of a socket that this service created.
type socketFile struct {
	path string
	info os.FileInfo // nil if the file was removed immediately
}

func socketFileOf(path string) socketFile {
	info, _ := os.Lstat(path)
	return socketFile{path, info}
}

// stands reports whether the file is still that socket, and not one that another service created.
func (f socketFile) stands() bool {
	now, err := os.Lstat(f.path)
	return err == nil && f.info != nil && os.SameFile(now, f.info)
}

// remove removes the socket. Otherwise it would look like the socket of a service that crashed.
func (f socketFile) remove() {
	if f.stands() {
		os.Remove(f.path)
	}
}

// answers reports whether a process listens on a socket.
func answers(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
	}
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// longestSocket is how many bytes the path of a socket may have on every supported system.
const longestSocket = 103

// listenUnix listens on a socket that only this user can access. It creates the socket in a private
// folder and then renames it, so that other users can never access it, and a socket that a killed
// service left is replaced.
func listenUnix(path string) (net.Listener, error) {
	if len(path) > longestSocket {
		return nil, fmt.Errorf("the path has %d bytes, but the path of a socket can have at most %d; choose a shorter one", len(path), longestSocket)
	}
	if there, err := os.Lstat(path); err == nil && there.Mode().Type() != os.ModeSocket {
		return nil, &os.PathError{Op: "listen", Path: path, Err: syscall.EEXIST}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s") // MkdirTemp creates it with mode 0700
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
