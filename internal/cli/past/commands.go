// Package past holds the commands that show recorded runs: ps, runs, show, logs, timeline,
// events, stats, and history, which also prunes.
//
// They read the history and print tables, text or JSON. They do not start runs and do not
// use an engine.
package past

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands(env *ui.Env) []*cobra.Command {
	return ui.InGroup(ui.GroupInspect, psCommand(env), runsCommand(env), showCommand(env), logsCommand(env), timelineCommand(env), eventsCommand(env), statsCommand(env), historyCommand(env))
}
