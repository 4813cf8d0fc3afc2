// Package author holds the commands that help to write a first tool: init, explain, graph
// and schema. Commands that check and manage tools are in package tools.
package author

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands(env *ui.Env) []*cobra.Command {
	return ui.InGroup(ui.GroupAuthor, initCommand(env), explainCommand(env), graphCommand(env), schemaCommand(env))
}
