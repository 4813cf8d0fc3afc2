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

// stateSocket is the Unix socket in a state directory, through which flowrun's commands reach the
// service. Only one service uses it; a second service waits until the first has stopped.
type stateSocket struct {
	path     string
	log      *slog.Logger
	serve    func(net.Listener)
	listener net.Listener // nil while another service uses the socket
	file     socketFile
	problem  string // why it could not listen the last time; reported when it changes
	quit     chan struct{}
	work     sync.WaitGroup
}

// socketInterval is how often a service checks the socket.
const socketInterval = 2 * time.Second

func newStateSocket(path string, log *slog.Logger, serve func(net.Listener)) *stateSocket {
	s := &stateSocket{path: path, log: log, serve: serve, quit: make(chan struct{})}
	if isListening(path) {
		log.Warn("another service uses the socket of this state directory; this service waits until it stops", "socket", path)
	} else {
		s.open()
	}
	s.work.Go(s.maintain)
	return s
}

// open creates the socket. It replaces a socket that a killed service left.
func (s *stateSocket) open() {
	l, err := listenUnix(s.path)
	if err != nil {
		if s.problem != err.Error() {
			s.problem = err.Error()
			s.log.Warn("cannot listen on the socket of the state directory; commands cannot reach this service", "socket", s.path, "error", s.problem)
		}
		return
	}
	s.listener, s.file, s.problem = l, socketFileOf(s.path), ""
	s.serve(l)
}

// maintain takes the socket over when it becomes free, and closes the listener if another service has
// replaced the file.
func (s *stateSocket) maintain() {
	tick := time.NewTicker(socketInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
		switch {
		case s.listener != nil && !s.file.isCurrent():
			s.listener.Close()
			s.listener = nil
		case s.listener == nil && !isListening(s.path):
			if s.open(); s.listener != nil {
				s.log.Info("this service now uses the socket of the state directory", "socket", s.path)
			}
		}
	}
}

func (s *stateSocket) close() {
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

// isCurrent reports whether the file is still that socket, and not one that another service created.
func (f socketFile) isCurrent() bool {
	now, err := os.Lstat(f.path)
	return err == nil && f.info != nil && os.SameFile(now, f.info)
}

// remove removes the socket. Otherwise it would look like the socket of a service that crashed.
func (f socketFile) remove() {
	if f.isCurrent() {
		os.Remove(f.path)
	}
}

// isListening reports whether a process listens on a socket.
func isListening(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
	}
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// maxSocketPath is how many bytes the path of a socket may have on every supported system.
const maxSocketPath = 103

// listenUnix listens on a socket that only this user can access. It creates the socket in a private
// folder and then renames it, so that other users can never access it, and a socket that a killed
// service left is replaced.
func listenUnix(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path has %d bytes, but the path of a socket can have at most %d; choose a shorter one", len(path), maxSocketPath)
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
