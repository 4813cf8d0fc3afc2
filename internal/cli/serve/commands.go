// Package serve holds the command serve: a service that runs tools for other programs.
//
// It connects an engine, the service (internal/service), the listeners with their limits and
// tokens, the schedules and the history, and shuts them down. It does not know the HTTP API,
// which is passed in.
package serve

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands(env *ui.Env, web Web) []*cobra.Command {
	return ui.InGroup(ui.GroupRun, serveCommand(env, web), mcpCommand(env, web))
}
