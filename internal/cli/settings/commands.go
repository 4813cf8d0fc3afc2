// Package settings holds the commands that show settings and decide about projects: config
// and trust. What settings there are is in package internal/config.
package settings

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands are the commands of this family.
func Commands(env *ui.Env) []*cobra.Command {
	return ui.InGroup(ui.GroupSelf, configCommand(env), trustCommand(env))
}
