// Package settings holds the commands config, which shows settings, and trust, which decides
// whether a project is trusted. Package internal/config defines and reads the settings.
package settings

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands(env *ui.Env) []*cobra.Command {
	return ui.InGroup(ui.GroupSelf, configCommand(env), trustCommand(env))
}
