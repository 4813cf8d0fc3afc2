package cli

import "github.com/spf13/cobra"

// toolCommand holds the commands that manage tools.
func (a *app) toolCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tool",
		Short: "Manage tools",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	commands := []*cobra.Command{a.toolListCommand(), a.toolGetCommand(), a.toolAddCommand(), a.toolRemoveCommand(),
		a.toolTestCommand(), a.toolEditCommand(), a.toolExportCommand(), a.toolImportCommand(), a.toolSchemaCommand()}
	c.AddCommand(commands...)
	return toolPage(commands).on(c)
}
