package outcome

import "github.com/flowrun/flowrun/dag"

// The exit codes of the flowrun command. A run with -x, and a program that a signal ends,
// may have others.
const (
	ExitSucceeded   = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInvalid     = 3 // a definition
	ExitNotFound    = 4
	ExitRefused     = 5
	ExitParams      = 6 // or the environment of a run
	ExitWaiting     = 7 // or interrupted
	ExitServer      = 8
	ExitBug         = 70
	ExitTimeout     = dag.ExitTimeout
	ExitInterrupted = dag.ExitCancelled // by Ctrl-C
	ExitPipe        = 141
	ExitTerminated  = 143 // by SIGTERM
)

// ExitCodes are all of them. The help page, the explain pages and docs have a line for each.
func ExitCodes() []int {
	return []int{ExitSucceeded, ExitFailed, ExitUsage, ExitInvalid, ExitNotFound, ExitRefused, ExitParams, ExitWaiting,
		ExitServer, ExitBug, ExitTimeout, ExitInterrupted, ExitPipe, ExitTerminated}
}
