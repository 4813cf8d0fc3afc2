// Package doctor holds the command doctor. Each check looks at one thing that runs need,
// on this machine and of this user, and answers findings: healthy, doubtful or broken,
// with what to do. With --fix it repairs what can be repaired without harm.
package doctor

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands are the commands of this family.
func Commands(env *ui.Env) []*cobra.Command {
	return ui.InGroup(ui.GroupSelf, doctorCommand(env))
}
