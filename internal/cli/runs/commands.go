// Package runs holds the commands that start, continue and end runs: run, resume, retry, approve,
// reject, cancel, demo and explain-cache.
//
// A command line becomes a plan and parameters (package launch). After the policy has allowed the
// run, execute.go passes both to an engine, shows progress, prints the result and returns the exit
// code. Package past shows recorded runs.
package runs

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands(env *ui.Env) []*cobra.Command {
	return slices.Concat(ui.InGroup(ui.GroupRun, runCommand(env), resumeCommand(env), retryCommand(env), approveCommand(env), rejectCommand(env), cancelCommand(env), demoCommand(env)),
		ui.InGroup(ui.GroupAuthor, explainCacheCommand(env)))
}
