package jsrun

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// Errors of a Runtime that cannot run scripts.
var (
	errClosed = errors.New("the JavaScript runtime is closed")
	// ErrNoHelper is returned by a program that cannot start itself as a child.
	ErrNoHelper = errors.New("this program cannot run JavaScript in a separate process: call flowrun.HelperMain at the start of main, " +
		"set hooks.Config.Helper to a program that does, or run JavaScript in this process with hooks.Config.InProcess")
)

// pool manages the children of a Runtime. As many calls run at once as there are processors, at
// least two; others wait for a slot. A call that waits for a host call gives up its slot,
// because the host call may itself run a script and would otherwise wait forever. As many idle
// children as there are slots are kept for later calls; further ones are ended. Safe for
// concurrent use.
type pool struct {
	config Config
	// restartable reports whether this program can be started as a child. Tests replace it.
	restartable func() bool
	slots       chan struct{} // one element for each running call
	closing     chan struct{} // closed by close

	mu      sync.Mutex
	closed  bool
	idle    []*child
	all     map[*child]struct{}
	started int // number of children started so far
}

func newPool(c Config) *pool {
	n := max(2, runtime.GOMAXPROCS(0))
	return &pool{config: c, restartable: jsworld.Restartable, slots: make(chan struct{}, n), closing: make(chan struct{}), all: map[*child]struct{}{}}
}

// acquireSlot waits for a slot.
func (p *pool) acquireSlot(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.closing:
		return errClosed
	}
}

func (p *pool) releaseSlot() { <-p.slots }

// run runs a call in a child.
func (p *pool) run(ctx context.Context, c *call) (json.RawMessage, error) {
	if p.config.Helper == "" && !p.restartable() {
		return nil, ErrNoHelper
	}
	if err := p.acquireSlot(ctx); err != nil {
		return nil, err
	}
	t := &childCall{pool: p, call: c, hasSlot: true}
	defer t.release()
	for {
		ch, used, err := p.takeWithRetry(ctx)
		if err != nil {
			return nil, err
		}
		result, err := t.run(ctx, ch)
		p.giveBack(ch)
		if errors.Is(err, errStale) && used {
			continue // it has ended since its last call
		}
		return result, err
	}
}

// How long a call waits for a child when the system is short of file descriptors, processes or
// memory, and the interval between two attempts.
const (
	shortageTimeout  = 10 * time.Second
	shortageInterval = 100 * time.Millisecond
)

// takeWithRetry calls take, and repeats it while the system is short of resources that others may
// release.
func (p *pool) takeWithRetry(ctx context.Context) (ch *child, used bool, err error) {
	for end := time.Now().Add(shortageTimeout); ; {
		ch, used, err = p.take()
		short := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
		if !short || time.Now().After(end) {
			return ch, used, err
		}
		select {
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		case <-p.closing:
			return nil, false, errClosed
		case <-time.After(shortageInterval):
		}
	}
}

// take returns a child for a call. used reports that it has already run calls.
func (p *pool) take() (ch *child, used bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, errClosed
	}
	if n := len(p.idle); n > 0 {
		ch, p.idle = p.idle[n-1], p.idle[:n-1]
		return ch, true, nil
	}
	if ch, err = startChild(p.config); err != nil {
		return nil, false, err
	}
	p.started++
	p.all[ch] = struct{}{}
	return ch, false, nil
}

// giveBack returns a child to the pool, which keeps it for a later call or ends it.
func (p *pool) giveBack(ch *child) {
	p.mu.Lock()
	if ch.reusable() && !p.closed && len(p.idle) < cap(p.slots) {
		p.idle = append(p.idle, ch)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	ch.close()
	p.mu.Lock()
	delete(p.all, ch)
	p.mu.Unlock()
}

// close ends all children. Running calls fail.
func (p *pool) close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.closing)
	}
	all := make([]*child, 0, len(p.all))
	for ch := range p.all {
		all = append(all, ch)
	}
	p.idle = nil
	p.mu.Unlock()
	for _, ch := range all {
		ch.close()
	}
}

func (p *pool) isClosed() bool {
	select {
	case <-p.closing:
		return true
	default:
		return false
	}
}
