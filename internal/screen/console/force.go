package console

import (
	"os"
	"time"
)

// forceDelay is the time after the first signal in which another one is the same request: timeout(1) signals its child
// and then the group of both, a closed session gets TERM and HUP, and nobody can have read yet how to force.
const forceDelay = 300 * time.Millisecond

// Forces reports whether a signal after the first one, which stops a run, forces the stop: only Ctrl-C does, of a person
// at a terminal who can have read the message that offers it. Whatever else arrives, once or ten times, is the same
// request, and the cleanup continues within its limits.
func Forces(sig os.Signal, terminal bool, sinceFirst time.Duration) bool {
	return sig == os.Interrupt && terminal && sinceFirst >= forceDelay
}
