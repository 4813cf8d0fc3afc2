// Package schedules holds the commands of flowrun schedule: add, list, next, pause, resume,
// remove, backfill and install.
//
// They change and show the schedules that package timetable reads, and write them as systemd
// units or crontab lines. Only backfill starts runs, for past times.
package schedules

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupRun, ui.Named("schedule", scheduleCommand))
}
