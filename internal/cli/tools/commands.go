// Package tools holds the commands that check and manage definitions: validate, and those
// of flowrun tool.
//
// They find definitions in the scopes, and print, test, write or remove them. The commands of
// flowrun tool print their help as a page, which also declares their flags (package page).
// Package addition parses the arguments of tool add. Package npm holds tool deps.
package tools

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupAuthor, ui.Named("validate", validateCommand), ui.Named("tool", toolCommand))
}
