// Package doctor holds the command doctor. Each check examines one thing that runs need on this
// machine and returns findings: ok, warn or fail, with a hint. With --fix the command fixes what it
// can fix without risk.
package doctor

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupSelf, ui.Named("doctor", doctorCommand))
}
