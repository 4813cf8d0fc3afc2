package tooltest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/library"
)

// Options configures Run.
type Options struct {
	Library       *library.Library // with which the plans were compiled
	Jobs          int              // how many cases run concurrently; less than 1 means 1
	InPlace       bool             // in the working directory instead of a new folder
	Offline       bool             // skips tests of tools with a permission for the network
	StopOnFailure bool             // starts no further test after a failure
	// Force, when closed, kills at once what is running. Cancelling the context stops it
	// gracefully, and cleanup commands still run.
	Force <-chan struct{}
	// Done, if set, is called with the outcomes in the order of the cases, one at a time,
	// each as soon as all before it are known.
	Done func(Outcome)
	// HTTP is flowrun.Config.HTTP.
	HTTP func(context.Context, steps.StatusRequest) (status int, err error)
	// Fetch is flowrun.Config.Fetch.
	Fetch func(context.Context, call.FetchRequest) (*call.FetchAnswer, error)
	// Database is flowrun.Config.Database.
	Database func(context.Context, call.DatabaseRequest) (call.Database, error)
	// MayCall is flowrun.Config.MayCall.
	MayCall func([]plan.UsedTool) error
	// JavaScript is flowrun.Config.JavaScript.
	JavaScript *hooks.Runtime
}

// Run runs cases and returns their outcomes in the same order. It returns an error if it
// cannot create a temporary folder. After ctx is cancelled, running cases are stopped and
// the others are not started; Run waits for cleanup commands, at most a minute.
func Run(ctx context.Context, cases []Case, o Options) ([]Outcome, error) {
	root, err := os.MkdirTemp("", "flowrun-test-")
	if err == nil {
		root, err = filepath.EvalSymlinks(root) // the path that pwd prints in a step
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create a temporary folder: %w; set TMPDIR to a folder you can write to", err)
	}
	defer os.RemoveAll(root)
	config := engine.Config{StateDir: filepath.Join(root, "state"), Pools: map[string]history.Pool{}, CacheDir: engine.NoCache, HTTP: o.HTTP, Fetch: o.Fetch, Database: o.Database, MayCall: o.MayCall, JavaScript: o.JavaScript}
	for _, c := range cases {
		if c.Plan != nil {
			maps.Copy(config.Pools, c.Plan.PoolsForTests()) // locks make tests wait for each other only, not for other runs
		}
	}
	r := &runner{Options: o, ctx: ctx, root: root, outcomes: make([]Outcome, len(cases)), finished: make([]bool, len(cases)),
		config: config, engine: engine.New(config)}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(max(o.Jobs, 1), max(len(cases), 1)) {
		workers.Go(func() {
			for i := range next {
				r.finish(i, r.runCase(i, cases[i]))
			}
		})
	}
	for i := range cases {
		next <- i
	}
	close(next)
	workers.Wait()
	return r.outcomes, nil
}

// runner is one call of Run.
type runner struct {
	Options
	ctx    context.Context
	root   string // contains the folders of all tests
	config engine.Config
	engine *engine.Engine

	mu        sync.Mutex
	outcomes  []Outcome
	finished  []bool
	delivered int // outcomes that were passed to Done
	failed    bool
}

// finish stores an outcome, and calls Done for those that are next in order.
func (r *runner) finish(i int, o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes[i], r.finished[i] = o, true
	r.failed = r.failed || o.Status == Failed
	for r.delivered < len(r.finished) && r.finished[r.delivered] {
		if r.Done != nil {
			r.Done(r.outcomes[r.delivered])
		}
		r.delivered++
	}
}

// stopped returns the reason why no further test is started, "" if one may be.
func (r *runner) stopped() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ctx.Err() != nil:
		return "not started: interrupted"
	case r.failed && r.StopOnFailure:
		return "not started: an earlier test failed"
	}
	return ""
}

// runCase runs one case.
func (r *runner) runCase(i int, c Case) Outcome {
	o := Outcome{Case: c, Status: Skipped}
	if o.Reason = c.skip(r.Offline); o.Reason != "" {
		return o
	}
	if o.Reason = r.stopped(); o.Reason != "" {
		o.Status = Stopped
		return o
	}
	p := &testRun{runner: r, engine: r.engine, Outcome: &o, folder: filepath.Join(r.root, strconv.Itoa(i))}
	if c.Plan.KeepsState() { // each test begins with the defaults
		own := r.config
		own.Store = history.NewMemory()
		p.engine = engine.New(own)
	}
	p.run()
	return o
}
