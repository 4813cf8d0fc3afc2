// Package tools holds the commands that check and manage definitions: validate, and those
// of flowrun tool.
//
// They find definitions in the scopes, print, test, write or remove them. The commands of
// flowrun tool print their help as a page, which also declares their flags (package page).
// What the words of tool add mean is in package addition; tool deps is in package npm.
package tools

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands are the commands of this family.
func Commands(env *ui.Env) []*cobra.Command {
	return slices.Concat(ui.InGroup(ui.GroupAuthor, validateCommand(env), toolCommand(env)), []*cobra.Command{toolsTopic()})
}
