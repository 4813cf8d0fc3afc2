// Package models holds the commands for programs that let language models call tools:
// call, which answers one call with one document, and repair, which only reads arguments.
//
// Package registry gets the text of a model unchanged. This package decides which calls are
// allowed, asks the user at the terminal, and prints the answer.
package models

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupRun, ui.Named("call", callCommand), ui.Named("repair", repairCommand))
}
