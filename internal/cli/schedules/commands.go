// Package schedules holds the commands of flowrun schedule: add, list, next, pause, resume,
// remove and install.
//
// They change and show the schedules that package timetable reads, and write them as systemd
// units or crontab lines. They do not start runs.
package schedules

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupRun, ui.Named("schedule", scheduleCommand))
}
