package cli

import "github.com/spf13/cobra"

// toolCommand holds the commands that manage tools.
func (a *app) toolCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "tool", Short: "Manage tools"})
	commands := []*cobra.Command{a.toolListCommand(), a.toolGetCommand(), a.toolAddCommand(), a.toolRemoveCommand(),
		a.toolTestCommand(), a.toolValidateCommand(), a.toolEditCommand(), a.toolExportCommand(), a.toolImportCommand(), a.toolSchemaCommand(), a.toolDepsCommand()}
	c.AddCommand(commands...)
	return toolPage(commands).on(c)
}
