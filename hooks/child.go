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

// ready says that this program calls Main, so that starting it again gives a child and
// not a second program.
var ready atomic.Bool

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
	runtime.GOMAXPROCS(2) // the script, and who watches it
	c := &child{wire: &wire{in: os.Stdin, out: os.Stdout}, guard: newGuard(memory), programs: map[string]compiled{}}
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

	mu      sync.Mutex
	current *world // the one of the call under way, or of the last
}

// serve works until stdin ends, which ends the process, amid a script too.
func (c *child) serve() {
	if c.wire.send(&frame{Kind: frameReady}) != nil {
		os.Exit(0)
	}
	work := make(chan *frame)
	go func() {
		for f := range work {
			c.do(f)
		}
	}()
	for {
		f, err := c.wire.receive()
		if err != nil {
			os.Exit(0)
		}
		if f.Kind != frameAnswer {
			work <- f
			continue
		}
		c.mu.Lock()
		w := c.current
		c.mu.Unlock()
		if w != nil && f.Answer != nil {
			w.loop.answer(*f.Answer)
		}
	}
}

// do does what a frame asks for.
func (c *child) do(f *frame) {
	switch {
	case f.Kind == frameProgram && f.Source != nil:
		p, failure := newProgram(*f.Source)
		c.programs[f.Digest] = compiled{p, failure}
	case f.Kind == frameCall:
		value, failure := c.call(f)
		if c.wire.send(&frame{Kind: frameResult, Value: value, Error: failure}) != nil {
			os.Exit(0) // nobody listens any more
		}
		c.guard.tidy()
	}
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
	w := newWorld()
	c.mu.Lock()
	c.current = w
	c.mu.Unlock()
	defer c.guard.watch()()
	t := &task{program: known.program, entry: f.Entry, vars: f.Vars, limit: f.Limit}
	if f.Asks {
		t.ask = func(id uint64, op string, args json.RawMessage) {
			if c.wire.send(&frame{Kind: frameAsk, ID: id, Op: op, Args: args}) != nil {
				os.Exit(0)
			}
		}
	}
	return w.run(t, func() { os.Exit(exitTimeout) })
}
