//go:build unix

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Client is a proc.Host that starts processes in the supervisor process. The supervisor is started
// together with the first process, so a run without processes costs nothing.
type Client struct {
	mark   string
	domain procid.Domain
	binary string

	mu            sync.Mutex
	wire          *wire
	process       *os.Process
	next          uint64
	waiting       map[uint64]*remoteProcess
	detachedSteps []string // paths of detached steps
	closed        chan message
	gone          chan struct{} // closed when the supervisor has closed its end of the socket
}

var _ proc.Host = (*Client)(nil)

// New returns the Client of one owner of a run, whose processes carry the mark (see procid.Mark).
// binary is a program that calls Main; "" means this program.
func New(mark, binary string, d procid.Domain) *Client {
	return &Client{mark: mark, domain: d, binary: binary, waiting: map[uint64]*remoteProcess{}}
}

// Domain returns the domain of the run.
func (c *Client) Domain() procid.Domain { return c.domain }

var errSupervisorGone = errors.New("the supervisor process has ended unexpectedly")

// startSupervisor starts the supervisor unless it is running. The lock is held.
func (c *Client) startSupervisor() (err error) {
	if c.wire != nil {
		return nil
	}
	binary := c.binary
	if binary == "" {
		if binary, err = os.Executable(); err != nil {
			return fmt.Errorf("cannot find this program to start its supervisor process: %w", err)
		}
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return fmt.Errorf("cannot create a socket pair: %w", err)
	}
	defer theirs.Close()
	// In a session of its own it does not get Ctrl-C from the terminal.
	c.process, err = os.StartProcess(binary, []string{processName, c.mark}, &os.ProcAttr{
		Files: []*os.File{nil, nil, os.Stderr, theirs}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		ours.Close()
		return fmt.Errorf("cannot start the supervisor process %q: %w", binary, err)
	}
	if c.wire, err = newWire(ours); err != nil {
		c.process.Kill()
		c.process.Wait()
		return fmt.Errorf("cannot connect to the supervisor process: %w", err)
	}
	c.closed, c.gone = make(chan message, 1), make(chan struct{})
	go c.receive()
	return nil
}

// socketPair makes the two ends of the connection.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // no child may inherit the ends before they are marked
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "helper"), os.NewFile(uintptr(fds[1]), "helper"), nil
}

// receive passes replies to the callers that wait for them.
func (c *Client) receive() {
	defer close(c.gone)
	for {
		m, err := c.wire.receive()
		if err != nil {
			return
		}
		if m.Kind == kindClosed {
			c.closed <- m
			continue
		}
		c.mu.Lock()
		r := c.waiting[m.ID]
		if r != nil && (m.Kind != kindStarted || m.Error != "") {
			delete(c.waiting, m.ID)
		}
		c.mu.Unlock()
		switch {
		case r == nil:
		case m.Kind == kindStarted:
			r.started <- m
		default:
			r.end = m
			close(r.ended)
		}
	}
}

// Start starts a process in the supervisor.
func (c *Client) Start(s proc.Spec) (proc.Process, error) {
	c.mu.Lock()
	if err := c.startSupervisor(); err != nil {
		c.mu.Unlock()
		return nil, err
	}
	c.next++
	r := &remoteProcess{client: c, id: c.next, started: make(chan message, 1), ended: make(chan struct{})}
	c.waiting[r.id] = r
	if s.Detach {
		c.detachedSteps = append(c.detachedSteps, s.Step)
	}
	c.mu.Unlock()
	if err := c.wire.send(message{Kind: kindStart, ID: r.id, Spec: pack(s)}, append(s.Files[:], s.Enter...)...); err != nil {
		return nil, fmt.Errorf("cannot start %q: %w: %w", s.Path, errSupervisorGone, err)
	}
	select {
	case m := <-r.started:
		if m.Error != "" {
			return nil, &startError{m.Error, syscall.Errno(m.Errno)}
		}
		r.pid = m.PID
		return r, nil
	case <-c.gone:
		return nil, fmt.Errorf("cannot start %q: %w", s.Path, errSupervisorGone)
	}
}

// startError is an error of the supervisor together with the errno of the system.
type startError struct {
	text  string
	errno syscall.Errno
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.errno }

// Close ends what is left of the run, and then the supervisor.
func (c *Client) Close(ctx context.Context, grace time.Duration) (proc.Report, error) {
	c.mu.Lock()
	started := c.wire != nil
	c.mu.Unlock() // receive needs it for processes that end now
	if !started {
		return proc.Report{}, nil
	}
	report, err := c.requestClose(ctx, grace)
	c.wire.conn.Close() // the supervisor exits when the socket closes
	<-c.gone
	c.process.Wait()
	if errors.Is(err, errSupervisorGone) {
		// The processes that the supervisor left have lost their reaper, but they still carry their
		// marks.
		report, err = proc.Reopen(c.mark, c.domain, c.detachedSteps).Close(ctx, grace)
	}
	return report, err
}

// requestClose asks the supervisor to end everything. When ctx is done, it closes its side of the
// socket, which ends the grace period.
func (c *Client) requestClose(ctx context.Context, grace time.Duration) (proc.Report, error) {
	if err := c.wire.send(message{Kind: kindClose, Grace: grace}); err != nil {
		return proc.Report{}, errSupervisorGone
	}
	select {
	case m := <-c.closed:
		return reportOf(m)
	case <-c.gone:
		return proc.Report{}, errSupervisorGone
	case <-ctx.Done():
	}
	// The supervisor now sends KILL, and exits when everything has ended.
	c.wire.conn.CloseWrite()
	select {
	case m := <-c.closed:
		return reportOf(m)
	case <-c.gone:
		return proc.Report{}, nil
	case <-time.After(5 * proc.MaxKillTime): // it hangs
		c.process.Kill()
		return proc.Report{}, errSupervisorGone
	}
}

// reportOf returns the report in a message, and its error.
func reportOf(m message) (proc.Report, error) {
	if m.Error != "" {
		return m.Report, errors.New(m.Error)
	}
	return m.Report, nil
}

// remoteProcess is a process that the supervisor started.
type remoteProcess struct {
	client  *Client
	id      uint64
	pid     int
	started chan message
	ended   chan struct{}
	end     message // valid once ended is closed
}

func (r *remoteProcess) PID() int { return r.pid }

// Wait waits until the supervisor reports the end of the process.
func (r *remoteProcess) Wait(ctx context.Context) (proc.Exit, error) {
	select {
	case <-r.ended:
		return r.end.Exit, nil
	default:
	}
	select {
	case <-r.ended:
		return r.end.Exit, nil
	case <-ctx.Done():
		return proc.Exit{}, context.Cause(ctx)
	case <-r.client.gone:
		return proc.Exit{}, errSupervisorGone
	}
}

// Stop asks the supervisor to end the step.
func (r *remoteProcess) Stop(grace time.Duration, force <-chan struct{}) (proc.Exit, []procid.Info) {
	r.client.wire.send(message{Kind: kindStop, ID: r.id, Grace: grace})
	for {
		select {
		case <-r.ended:
			return r.end.Exit, r.end.Left
		case <-r.client.gone: // Close ends what the supervisor left
			return proc.Exit{Code: 137, Signal: syscall.SIGKILL}, nil
		case <-force:
			r.client.wire.send(message{Kind: kindStop, ID: r.id})
			force = nil
		}
	}
}
