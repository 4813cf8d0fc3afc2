package cli

import "github.com/spf13/cobra"

// toolCommand holds the commands that manage tools.
func (a *app) toolCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "tool", Short: "Manage tools"})
	c.AddCommand(a.toolSchemaCommand(), a.toolTestCommand())
	return c
}
