// Package tools holds the commands that check and manage definitions: validate, and those
// of flowrun tool.
//
// They find definitions in the scopes, and print, test, write or remove them. The commands of
// flowrun tool print their help as a page, which also declares their flags (package page).
// Package addition parses the arguments of tool add. Package npm holds tool deps.
package tools

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands(env *ui.Env) []*cobra.Command {
	return slices.Concat(ui.InGroup(ui.GroupAuthor, validateCommand(env), toolCommand(env)), []*cobra.Command{toolsTopic()})
}
