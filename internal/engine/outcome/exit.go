package outcome

import "github.com/flowrun/flowrun/dag"

// The exit codes of the flowrun command. A run with -x, and a program that was ended by a signal, may have others.
const (
	ExitSucceeded   = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInvalid     = 3 // a definition is invalid
	ExitNotFound    = 4
	ExitRefused     = 5
	ExitParams      = 6 // parameters, or the environment of a run, are wrong
	ExitWaiting     = 7 // the run is waiting or interrupted
	ExitServer      = 8
	ExitBug         = 70
	ExitTimeout     = dag.ExitTimeout
	ExitInterrupted = dag.ExitCancelled // by Ctrl-C
	ExitPipe        = 141
	ExitTerminated  = 143 // by SIGTERM
)

// ExitCodes returns all exit codes. The help page, the explain pages and the docs describe each of them.
func ExitCodes() []int {
	return []int{ExitSucceeded, ExitFailed, ExitUsage, ExitInvalid, ExitNotFound, ExitRefused, ExitParams, ExitWaiting,
		ExitServer, ExitBug, ExitTimeout, ExitInterrupted, ExitPipe, ExitTerminated}
}
