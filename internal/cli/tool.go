package cli

import "github.com/spf13/cobra"

// toolCommand holds the commands that manage tools.
func (env *Env) toolCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "tool", Short: "Manage tools"})
	commands := []*cobra.Command{env.toolListCommand(), env.toolGetCommand(), env.toolAddCommand(), env.toolRemoveCommand(),
		env.toolTestCommand(), env.toolValidateCommand(), env.toolEditCommand(), env.toolExportCommand(), env.toolImportCommand(), env.toolSchemaCommand(), env.toolDepsCommand()}
	c.AddCommand(commands...)
	return toolPage(commands).on(c)
}
