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
	c.AddCommand(a.toolSchemaCommand(), a.toolTestCommand(), a.toolValidateCommand())
	return c
}
