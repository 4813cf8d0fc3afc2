package jsrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// Limits of a call by default.
const (
	defaultTimeout = 5 * time.Second
	defaultMemory  = 128 << 20 // bytes
)

// Main runs a child process; see flowrun.HelperMain. In a child it does not return. In the
// program itself it returns at once.
func Main() { jsworld.Main() }

// Config configures a Runtime. The zero Config works in a program that calls Main.
type Config struct {
	// InProcess runs scripts in this process. Their memory is not limited then, and a script
	// that is inside one long operation (a regular expression, one huge array) cannot be
	// stopped.
	InProcess bool
	Helper    string        // path of a program that calls Main, started as the child; "": this program
	Timeout   time.Duration // time limit of a call; 0: 5 seconds
	Memory    int64         // memory limit of a child, in bytes; 0: 128 MiB
}

// Call is one call of a script.
type Call struct {
	Script *Script
	// Entry is what a Module is to do, "describe", "execute" or "mocks", and "" for other forms. A
	// tool that is stopped in execute cleans up, for which Call takes at most a few seconds more.
	Entry string
	// Vars are copied into the script's scope under their names. For a Module they are the
	// arguments of its method.
	Vars map[string]any
	// Timeout limits the call in addition to the Runtime's own limit; 0 means no further limit.
	Timeout time.Duration
	// Ask answers the script's host calls (log, env, fetch ...). If it is nil, host calls fail.
	// It must be safe for concurrent use.
	Ask func(ctx context.Context, op string, args json.RawMessage) (any, error)
}

// Runtime runs scripts. It is safe for concurrent use. Close ends its child processes.
type Runtime struct {
	config Config
	pool   *pool
}

// New returns a Runtime. It starts no process before the first call.
func New(c Config) *Runtime {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Memory == 0 {
		c.Memory = defaultMemory
	}
	return &Runtime{config: c, pool: newPool(c)}
}

// Close ends the child processes. Running calls fail.
func (r *Runtime) Close() error {
	r.pool.close()
	return nil
}

// MemoryLimit returns the memory limit of a child, in bytes.
func (r *Runtime) MemoryLimit() int64 { return r.config.Memory }

// Call runs a script in a new environment and returns its result as JSON, nil for undefined. The
// error is an *Error, the cause of ctx, or the reason why the Runtime could not run the script.
func (r *Runtime) Call(ctx context.Context, c Call) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	vars, err := encode(c.Vars)
	if err != nil {
		return nil, err
	}
	limit := r.config.Timeout
	if c.Timeout > 0 {
		limit = min(limit, c.Timeout)
	}
	k := &call{Call: c, vars: vars, limit: limit}
	out, err := r.run(ctx, k)
	if c.Entry != "execute" {
		return out, err
	}
	if err != nil {
		r.cleanUp(ctx, k)
	}
	return unwrapOutcome(out, err)
}

func (r *Runtime) run(ctx context.Context, c *call) (json.RawMessage, error) {
	if r.config.InProcess {
		return c.runInProcess(ctx)
	}
	return r.pool.run(ctx, c)
}

// call is a Call with its variables encoded.
type call struct {
	Call
	vars    json.RawMessage // an object
	limit   time.Duration
	pending pendingCalls // pending host calls

	state json.RawMessage // members of a tool that was stopped before it cleaned up; else nil
	lost  bool            // the child has ended, so that nothing is known about the tool
}

// encode returns the variables as one JSON object, sorted by name.
func encode(vars map[string]any) (json.RawMessage, error) {
	b := bytes.NewBuffer(append(make([]byte, 0, 1<<10), '{'))
	text := json.NewEncoder(b)
	text.SetEscapeHTML(false)
	for i, name := range slices.Sorted(maps.Keys(vars)) {
		if i > 0 {
			b.WriteByte(',')
		}
		text.Encode(name) // cannot fail: writes to memory
		b.WriteByte(':')
		if err := text.Encode(vars[name]); err != nil {
			return nil, fmt.Errorf("cannot pass %q to a script: %w", name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
