// Package models holds the commands for programs that let language models call tools:
// call, which answers one call with one document, and repair, which only reads arguments.
//
// What a model wrote goes to package registry as it is. This package says which calls go
// ahead, asks the person at the terminal, and prints the answer.
package models

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands are the commands of this family.
func Commands(env *ui.Env) []*cobra.Command {
	return ui.InGroup(ui.GroupRun, callCommand(env), repairCommand(env))
}
