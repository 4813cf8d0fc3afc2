package supervisor

import "sync/atomic"

// called says that this program calls Main, so that executing it again gives a
// helper and not a second program.
var called atomic.Bool

// Enabled says whether this program can be its own helper.
func Enabled() bool { return called.Load() }
