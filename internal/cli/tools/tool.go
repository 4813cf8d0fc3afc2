package tools

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/npm"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// toolCommand returns the command that contains the commands for managing tools.
func toolCommand(env *ui.Env) *cobra.Command {
	c := ui.Group(&cobra.Command{Use: "tool", Short: "Manage tools"})
	commands := []*cobra.Command{toolListCommand(env), toolGetCommand(env), toolAddCommand(env), toolRemoveCommand(env),
		toolTestCommand(env), toolValidateCommand(env), toolEditCommand(env), toolExportCommand(env), toolImportCommand(env), toolSchemaCommand(env), npm.Command(env)}
	c.AddCommand(commands...)
	return toolPage(commands).Apply(c)
}
