// Package runs holds the commands that start, continue and end runs: run, resume, retry, approve,
// reject, cancel, demo and explain-cache.
//
// A command line becomes a plan and parameters (package launch). After the policy has allowed the
// run, execute.go passes both to an engine, shows progress, prints the result and returns the exit
// code. Package past shows recorded runs.
package runs

import (
	"slices"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return slices.Concat(ui.InGroup(ui.GroupRun,
		ui.Named("run", runCommand), ui.Named("resume", resumeCommand), ui.Named("retry", retryCommand), ui.Named("approve", approveCommand), ui.Named("reject", rejectCommand),
		ui.Named("cancel", cancelCommand), ui.Named("demo", demoCommand)),
		ui.InGroup(ui.GroupAuthor,
			ui.Named("explain-cache", explainCacheCommand)))
}
