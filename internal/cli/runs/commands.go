// Package runs holds the commands that start, continue and end runs: run, resume, retry,
// approve, reject, cancel, demo and explain-cache.
//
// A command line becomes a plan and parameters (package launch), the policy lets it go
// ahead, and run.go hands both to an engine, narrates, prints the result and answers the
// exit code. Runs that have ended are the matter of package past.
package runs

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands are the commands of this family.
func Commands(env *ui.Env) []*cobra.Command {
	return slices.Concat(ui.InGroup(ui.GroupRun, runCommand(env), resumeCommand(env), retryCommand(env), approveCommand(env), rejectCommand(env), cancelCommand(env), demoCommand(env)),
		ui.InGroup(ui.GroupAuthor, explainCacheCommand(env)))
}
