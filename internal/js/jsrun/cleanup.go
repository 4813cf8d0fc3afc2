package jsrun

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"time"
)

// Limits for the cleanup of a tool that was stopped.
const (
	cleanupRunning = 1500 * time.Millisecond // for the script, which itself waits a second for cleanup
	cleanupTotal   = 4 * time.Second         // with everything that it waits for
)

// cleanUp calls cleanup of a tool whose call has failed before the tool could do that: it was
// stopped, cancelled or killed. The cleanup is a call of its own, because the world of a script
// that was interrupted is no longer usable.
func (r *Runtime) cleanUp(ctx context.Context, stopped *call) {
	if stopped.state == nil && !(stopped.lost && strings.Contains(stopped.Script.source.Text, "cleanup")) {
		return
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), cleanupTotal)
	defer done()
	c := &call{Call: stopped.Call, limit: cleanupRunning}
	c.Entry, c.Timeout = "cleanup", 0
	vars := maps.Clone(c.Vars)
	if vars == nil {
		vars = map[string]any{}
	}
	vars["state"] = stopped.state
	var err error
	if c.vars, err = encode(vars); err == nil {
		_, err = r.run(ctx, c)
	}
	if err != nil {
		args, _ := json.Marshal(map[string]string{"message": "cleanup failed: " + err.Error()}) // cannot fail: only strings
		c.notify(ctx, "cleanupFailed", args)
	}
}
