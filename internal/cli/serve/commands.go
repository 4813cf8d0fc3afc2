// Package serve holds the command serve: a service that runs tools for other programs.
//
// It joins an engine, the service (internal/service), the listeners with their limits and
// tokens, the schedules and the history, and takes all of it down again. What callers may
// ask, and how, is not known here: the entry point for programs is handed in.
package serve

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands are the commands of this family.
func Commands(env *ui.Env, web Web) []*cobra.Command {
	return ui.InGroup(ui.GroupRun, serveCommand(env, web))
}
