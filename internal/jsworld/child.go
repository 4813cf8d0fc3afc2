package hooks

import (
	"encoding/json"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// childName is what a child is called: its first argument, by which Main knows it. The
// second is its memory limit in bytes.
const childName = "flowrun-js"

// Exit codes by which a child says why it ended itself.
const (
	exitTimeout = 90 // the script could not be interrupted
	exitMemory  = 91 // the script held more memory than it may
)

// ready says that this program calls Main: without that, starting it again gives a second
// program and no child.
var ready atomic.Bool

// restartable says whether this program calls Main, so that starting it again gives a child.
func restartable() bool { return ready.Load() }

// Main is where a child goes to work; see flowrun.HelperMain. In the program itself it
// returns at once.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != childName {
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
	c := &child{wire: newWire(os.Stdin, os.Stdout), guard: newGuard(memory), programs: map[string]compiled{}, heard: make(chan *frame)}
	c.wire.trusts = true
	go c.guard.watch(c.listen)
	c.serve()
}

// compiled is a program, or why it is none.
type compiled struct {
	program *program
	failure *failure
}

// child runs one call at a time.
type child struct {
	wire     *wire
	guard    *guard
	programs map[string]compiled // by digest
	spare    *world              // a wide world for the next call; nil: there is none
	heard    chan *frame         // what came after the call in which listen began

	mu      sync.Mutex
	current *world // the one of the call under way; nil: there is none
	listens bool
}

// serve works until stdin ends, which ends the process.
func (c *child) serve() {
	if c.wire.send(&frame{Kind: frameReady}) != nil {
		os.Exit(0)
	}
	for {
		c.do(c.next())
	}
}

// next is the next frame between two calls.
func (c *child) next() *frame {
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

func (c *child) receive() *frame {
	f, err := c.wire.receive()
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
			if f.Kind != frameAnswer {
				c.heard <- f
				return
			}
			c.answer(answer{ID: f.ID, Value: f.Body, Error: f.Error})
		}
	}()
}

func (c *child) answer(a answer) {
	c.mu.Lock()
	w := c.current
	c.mu.Unlock()
	if w != nil {
		w.answer(a)
	}
}

// runs says in which world a call is under way.
func (c *child) runs(w *world) {
	c.mu.Lock()
	c.current = w
	c.mu.Unlock()
}

// do does what a frame asks for.
func (c *child) do(f *frame) {
	switch {
	case f.Kind == frameProgram && f.Source != nil:
		p, failure := newProgram(*f.Source)
		c.programs[f.Digest] = compiled{p, failure}
	case f.Kind == frameCall:
		value, failure := c.call(f)
		if c.wire.send(&frame{Kind: frameResult, Body: value, rare: rare{Error: failure}}) != nil {
			os.Exit(0) // nobody listens any more
		}
		c.guard.tidy()
		c.prepare(f)
	}
}

// prepare makes a world for a next call like this one, while nobody waits for it.
func (c *child) prepare(f *frame) {
	p := c.programs[f.Digest].program
	if p == nil || !p.source.Form.wide() || c.spare != nil {
		return
	}
	if w := newWorld(); w.widen() == nil {
		c.spare = w
	}
}

// world is a world in which nothing has run yet.
func (c *child) world(p *program) *world {
	if w := c.spare; w != nil && p.source.Form.wide() {
		c.spare = nil
		return w
	}
	return newWorld()
}

// call runs a call.
func (c *child) call(f *frame) (json.RawMessage, *failure) {
	known := c.programs[f.Digest]
	switch {
	case known.failure != nil:
		return nil, known.failure
	case known.program == nil:
		return nil, failed(KindLost, "the child does not know the script")
	}
	w := c.world(known.program)
	c.runs(w)
	defer c.runs(nil)
	c.guard.begin()
	defer c.guard.end()
	t := &task{program: known.program, entry: f.Entry, vars: f.Body, limit: f.Limit}
	if f.Asks {
		t.ask = func(id uint64, op string, args json.RawMessage) {
			if id != 0 {
				c.listen()
			}
			if c.wire.send(&frame{Kind: frameAsk, ID: id, Op: op, Body: args}) != nil {
				os.Exit(0)
			}
		}
	}
	return w.run(t, func() { os.Exit(exitTimeout) })
}
