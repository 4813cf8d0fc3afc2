// Package settings holds the commands config, which shows settings, and trust, which decides
// whether a project is trusted. Package internal/service/config defines and reads the settings.
package settings

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupSelf, ui.Named("config", configCommand), ui.Named("trust", trustCommand))
}
