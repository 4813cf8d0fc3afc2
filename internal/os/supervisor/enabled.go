package supervisor

import "sync/atomic"

// called is set once this program has called Main: then executing it again starts a supervisor, not
// a second copy of the program.
var called atomic.Bool

// Enabled reports whether this program can be its own supervisor.
func Enabled() bool { return called.Load() }
