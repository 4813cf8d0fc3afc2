package cli

import "github.com/spf13/cobra"

// toolCommand holds the commands that manage tools.
func (a *app) toolCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tool",
		Short: "Manage tools",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, sub := range c.Commands() {
				names = append(names, sub.Name())
			}
			return usagef(c, "flowrun tool has no command %q%s", args[0], nearest(args[0], names))
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	commands := []*cobra.Command{a.toolListCommand(), a.toolGetCommand(), a.toolAddCommand(), a.toolRemoveCommand(),
		a.toolTestCommand(), a.toolEditCommand(), a.toolExportCommand(), a.toolImportCommand(), a.toolSchemaCommand()}
	c.AddCommand(commands...)
	return toolPage(commands).on(c)
}
