package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/jsworld"
)

// Limits of a call that says nothing else.
const (
	DefaultTimeout = 5 * time.Second
	DefaultMemory  = 128 << 20 // bytes
)

// Main is where a child goes to work; see flowrun.HelperMain. In the program itself it
// returns at once.
func Main() { jsworld.Main() }

// Config is how a Runtime runs scripts. The zero Config works where this program calls
// Main.
type Config struct {
	// InProcess runs scripts in this process: there is no bound on memory then, and a
	// script that is deep in one operation (a regular expression, one huge array) cannot
	// be stopped.
	InProcess bool
	Helper    string        // program that becomes the child and calls Main; "": this one
	Timeout   time.Duration // of a call; 0: DefaultTimeout
	Memory    int64         // of a child, in bytes; 0: DefaultMemory
}

// Call is one call of a script.
type Call struct {
	Script *Script
	// Entry is what of a Module is called: "describe" or "execute"; "" for the others.
	Entry string
	// Vars stand in the script's scope under their names, as copies. Those of a Module are
	// its entry's arguments.
	Vars map[string]any
	// Timeout bounds the call beside the Runtime's own limit; 0 is none.
	Timeout time.Duration
	// Ask answers what the script asks of the world outside (log, env, fetch ...); nil:
	// the script has nobody to ask. It is called from several goroutines at once.
	Ask func(ctx context.Context, op string, args json.RawMessage) (any, error)
}

// Runtime runs scripts. It is safe for concurrent use; Close ends its children.
type Runtime struct {
	config Config
	pool   *pool
}

// New makes a Runtime. Nothing is started before the first call.
func New(c Config) *Runtime {
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	return &Runtime{config: c, pool: newPool(c)}
}

// Close ends the children. Calls under way fail.
func (r *Runtime) Close() error {
	r.pool.close()
	return nil
}

// Call runs a script in a world of its own and answers what it returned as JSON, nil for
// undefined. The error is an *Error, ctx's cause, or what kept the Runtime from working.
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
	out, err := r.run(ctx, &call{Call: c, vars: vars, limit: limit})
	if c.Entry == "execute" {
		return opened(out, err)
	}
	return out, err
}

func (r *Runtime) run(ctx context.Context, c *call) (json.RawMessage, error) {
	if r.config.InProcess {
		return c.here(ctx)
	}
	return r.pool.run(ctx, c)
}

// call is a Call with its values as they travel.
type call struct {
	Call
	vars  json.RawMessage // an object
	limit time.Duration
	open  open // questions of the script
}

// encode makes one object of the variables, in the order of their names.
func encode(vars map[string]any) (json.RawMessage, error) {
	b := bytes.NewBuffer(append(make([]byte, 0, 1<<10), '{'))
	text := json.NewEncoder(b)
	text.SetEscapeHTML(false)
	for i, name := range slices.Sorted(maps.Keys(vars)) {
		if i > 0 {
			b.WriteByte(',')
		}
		text.Encode(name) // into memory
		b.WriteByte(':')
		if err := text.Encode(vars[name]); err != nil {
			return nil, fmt.Errorf("cannot pass %q to a script: %w", name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
