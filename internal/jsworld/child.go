package jsworld

import (
	"encoding/json"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun/internal/jscheck"
)

// ChildName is what a child is called: its first argument, by which Main knows it. The
// second is its memory limit in bytes.
const ChildName = "flowrun-js"

// Exit codes by which a child says why it ended itself.
const (
	ExitTimeout = 90 // the script could not be interrupted
	ExitMemory  = 91 // the script held more memory than it may
)

// ready says that this program calls Main: without that, starting it again gives a second
// program and no child.
var ready atomic.Bool

// Restartable says whether this program calls Main, so that starting it again gives a child.
func Restartable() bool { return ready.Load() }

// Main is where a child goes to work; see flowrun.HelperMain. In the program itself it
// returns at once.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != ChildName {
		ready.Store(true)
		return
	}
	memory, err := strconv.ParseInt(os.Args[1], 10, 64)
	if err != nil {
		os.Exit(1)
	}
	signal.Ignore(others...)
	leaveTerminal()
	hideMemory()
	runtime.GOMAXPROCS(2) // the script, and who watches it
	c := &child{wire: NewWire(os.Stdin, os.Stdout), guard: newGuard(memory), programs: map[string]compiled{}, heard: make(chan *Frame)}
	c.wire.trusts = true
	go c.guard.watch(c.listen)
	c.serve()
}

// compiled is a program, or why it is none.
type compiled struct {
	program *Program
	failure *Failure
}

// child runs one call at a time.
type child struct {
	wire     *Wire
	guard    *guard
	programs map[string]compiled // by digest
	spare    *World              // a wide world for the next call; nil: there is none
	heard    chan *Frame         // what came after the call in which listen began

	mu      sync.Mutex
	current *World // the one of the call under way; nil: there is none
	listens bool
}

// serve works until stdin ends, which ends the process.
func (c *child) serve() {
	if c.wire.Send(&Frame{Kind: frameReady}) != nil {
		os.Exit(0)
	}
	for {
		c.do(c.next())
	}
}

// next is the next frame between two calls.
func (c *child) next() *Frame {
	c.mu.Lock()
	listens := c.listens
	c.mu.Unlock()
	if !listens {
		return c.receive()
	}
	f := <-c.heard
	c.mu.Lock()
	c.listens = false
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

// listen has the wire read beside the call that is under way: for answers, and for the
// end of the program, which ends this process amid a script too. A call that is short and
// asks for nothing is spared a second thread.
func (c *child) listen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil || c.listens {
		return
	}
	c.listens = true
	go func() {
		for {
			f := c.receive()
			if f.Kind != FrameAnswer {
				c.heard <- f
				return
			}
			c.answer(Answer{ID: f.ID, Value: f.Body, Error: f.Error})
		}
	}()
}

func (c *child) answer(a Answer) {
	c.mu.Lock()
	w := c.current
	c.mu.Unlock()
	if w != nil {
		w.Answer(a)
	}
}

// runs says in which world a call is under way.
func (c *child) runs(w *World) {
	c.mu.Lock()
	c.current = w
	c.mu.Unlock()
}

// do does what a frame asks for.
func (c *child) do(f *Frame) {
	switch {
	case f.Kind == FrameProgram && f.Source != nil:
		p, failure := NewProgram(*f.Source)
		c.programs[f.Digest] = compiled{p, failure}
	case f.Kind == FrameCall:
		value, failure := c.call(f)
		if c.wire.Send(&Frame{Kind: FrameResult, Body: value, Rare: Rare{Error: failure}}) != nil {
			os.Exit(0) // nobody listens any more
		}
		c.guard.tidy()
		c.prepare(f)
	}
}

// prepare makes a world for a next call like this one, while nobody waits for it.
func (c *child) prepare(f *Frame) {
	p := c.programs[f.Digest].program
	if p == nil || !jscheck.Wide(p.source.Form) || c.spare != nil {
		return
	}
	if w := NewWorld(); w.widen() == nil {
		c.spare = w
	}
}

// World is a world in which nothing has run yet.
func (c *child) world(p *Program) *World {
	if w := c.spare; w != nil && jscheck.Wide(p.source.Form) {
		c.spare = nil
		return w
	}
	return NewWorld()
}

// call runs a call.
func (c *child) call(f *Frame) (json.RawMessage, *Failure) {
	known := c.programs[f.Digest]
	switch {
	case known.failure != nil:
		return nil, known.failure
	case known.program == nil:
		return nil, Failed(KindLost, "the JavaScript process does not have the script")
	}
	w := c.world(known.program)
	c.runs(w)
	defer c.runs(nil)
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
