// Package serve holds the command serve, a service that runs tools for people and other programs,
// and the commands ui and user, for people who use the service with a browser.
//
// It connects an engine, the service (internal/service), the listeners with their limits and
// tokens, the schedules and the history, and shuts them down. It does not know the HTTP API,
// which is passed in.
package serve

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands(web Web) []ui.Command {
	return slices.Concat(ui.InGroup(ui.GroupRun,
		ui.Named("serve", func(env *ui.Env) *cobra.Command { return serveCommand(env, web) }),
		ui.Named("ui", func(env *ui.Env) *cobra.Command { return uiCommand(env, web) }),
		ui.Named("mcp", func(env *ui.Env) *cobra.Command { return mcpCommand(env, web) })),
		ui.InGroup(ui.GroupSelf, ui.Named("user", userCommand)))
}
