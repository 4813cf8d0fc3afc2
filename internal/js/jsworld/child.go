package jsworld

import (
	"encoding/json"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// ChildName is the first argument of a child process, by which Main recognizes it. The second
// argument is its memory limit in bytes.
const ChildName = "flowrun-js"

// Exit codes of a child that ended itself.
const (
	ExitTimeout = 90 // the script could not be interrupted
	ExitMemory  = 91 // the script exceeded its memory limit
)

// mainCalled is set when this program has called Main. If it never does, starting the program again
// gives a second program instead of a child.
var mainCalled atomic.Bool

// Restartable reports whether this program has called Main, so that it can be started again as a
// child.
func Restartable() bool { return mainCalled.Load() }

// Main runs the child and does not return in it; see flowrun.HelperMain. In the program itself
// it returns at once.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != ChildName {
		mainCalled.Store(true)
		return
	}
	memory, err := strconv.ParseInt(os.Args[1], 10, 64)
	if err != nil {
		os.Exit(1)
	}
	signal.Ignore(programSignals...)
	leaveTerminal()
	hideMemory()
	runtime.GOMAXPROCS(2) // one thread for the script, one for the guard
	c := &child{wire: NewWire(os.Stdin, os.Stdout), guard: newGuard(memory), programs: map[string]compiled{}, frames: make(chan *Frame)}
	c.wire.trusted = true
	go c.guard.watch(c.listen)
	c.serve()
}

// compiled is a program, or the reason why it could not be compiled.
type compiled struct {
	program *Program
	failure *Failure
}

// child runs one call at a time in its own process.
type child struct {
	wire       *Wire
	guard      *guard
	programs   map[string]compiled // by digest
	spareWorld *World              // a world with the host API that is ready for the next call; may be nil
	frames     chan *Frame         // the first frame that is not an answer, read by the goroutine of listen

	mu        sync.Mutex
	current   *World // the world of the running call, or nil
	listening bool
}

// serve handles frames until stdin is closed, which ends the process.
func (c *child) serve() {
	if c.wire.Send(&Frame{Kind: frameReady}) != nil {
		os.Exit(0)
	}
	for {
		c.handle(c.next())
	}
}

// next returns the next frame between two calls. While the goroutine of listen reads the wire,
// the frame comes from it.
func (c *child) next() *Frame {
	c.mu.Lock()
	listens := c.listening
	c.mu.Unlock()
	if !listens {
		return c.receive()
	}
	f := <-c.frames
	c.mu.Lock()
	c.listening = false
	c.mu.Unlock()
	return f
}

func (c *child) receive() *Frame {
	f, err := c.wire.Receive()
	if err != nil {
		os.Exit(0)
	}
	return f
}

// listen starts a goroutine that reads the wire during the running call. It delivers answers and
// the request to stop, and it ends this process, even inside a script, when the program is gone. A short call without
// host calls does without this second thread.
func (c *child) listen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil || c.listening {
		return
	}
	c.listening = true
	go func() {
		for {
			f := c.receive()
			switch f.Kind {
			case FrameAnswer:
				c.deliver(func(w *World) { w.Answer(Answer{ID: f.ID, Value: f.Body, Error: f.Error}) })
			case FrameStop:
				c.deliver(func(w *World) { w.Abort(Failed(KindLost, "the call was cancelled")) })
			default:
				c.frames <- f
				return
			}
		}
	}()
}

// deliver calls f with the world of the running call, if there is one.
func (c *child) deliver(f func(*World)) {
	c.mu.Lock()
	w := c.current
	c.mu.Unlock()
	if w != nil {
		f(w)
	}
}

// setCurrent sets the world of the running call; nil means that none is running.
func (c *child) setCurrent(w *World) {
	c.mu.Lock()
	c.current = w
	c.mu.Unlock()
}

// handle handles one frame.
func (c *child) handle(f *Frame) {
	switch {
	case f.Kind == FrameProgram && f.Source != nil:
		p, failure := NewProgram(*f.Source)
		c.programs[f.Digest] = compiled{p, failure}
		if c.wire.Send(&Frame{Kind: frameBuilt}) != nil {
			os.Exit(0) // the program is gone
		}
	case f.Kind == FrameCall:
		value, failure := c.call(f)
		if c.wire.Send(&Frame{Kind: FrameResult, Body: value, Rare: Rare{Error: failure}}) != nil {
			os.Exit(0) // the program is gone
		}
		c.guard.freeMemory()
		c.prepareWorld(f)
	}
}

// prepareWorld creates a world for another call like this one. It runs after the result was
// sent, so no caller waits for it.
func (c *child) prepareWorld(f *Frame) {
	p := c.programs[f.Digest].program
	if p == nil || !jscheck.HasHostAPI(p.source.Form) || c.spareWorld != nil {
		return
	}
	if w := NewWorld(); w.addHostAPI() == nil {
		c.spareWorld = w
	}
}

// world returns a world in which nothing has run yet: the spare one if it fits, or a new one.
func (c *child) world(p *Program) *World {
	if w := c.spareWorld; w != nil && jscheck.HasHostAPI(p.source.Form) {
		c.spareWorld = nil
		return w
	}
	return NewWorld()
}

// call runs one call and returns its result.
func (c *child) call(f *Frame) (json.RawMessage, *Failure) {
	known := c.programs[f.Digest]
	switch {
	case known.failure != nil:
		return nil, known.failure
	case known.program == nil:
		return nil, Failed(KindLost, "the JavaScript process does not have the script")
	}
	w := c.world(known.program)
	c.setCurrent(w)
	defer c.setCurrent(nil)
	c.guard.begin()
	defer c.guard.end()
	t := &Task{Program: known.program, Entry: f.Entry, Vars: f.Body, Limit: f.Limit}
	if f.Asks {
		t.Ask = func(id uint64, op string, args json.RawMessage) {
			if id != 0 {
				c.listen()
			}
			if c.wire.Send(&Frame{Kind: FrameAsk, ID: id, Op: op, Body: args}) != nil {
				os.Exit(0)
			}
		}
	}
	return w.Run(t, func() { os.Exit(ExitTimeout) })
}
