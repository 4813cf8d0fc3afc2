// Package schedules holds the commands of flowrun schedule: add, list, next, pause, resume,
// remove and install.
//
// They change and show the schedules that package timetable reads, and write them as units
// of systemd or lines of a crontab. They fire nothing.
package schedules

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands are the commands of this family.
func Commands(env *ui.Env) []*cobra.Command {
	return ui.InGroup(ui.GroupRun, scheduleCommand(env))
}
