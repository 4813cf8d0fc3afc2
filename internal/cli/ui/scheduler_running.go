package ui

import "github.com/flowrun/flowrun/internal/service/timetable"

// SchedulerRunning reports whether something fires schedules: a service on this state directory, or installed units.
func SchedulerRunning() bool {
	dir, err := StateDir()
	return err == nil && ServiceRunning(dir) || timetable.Installed()
}

// StartSchedulerHint is the hint for users if nothing fires schedules.
const StartSchedulerHint = "start one with flowrun serve, or install one with flowrun schedule install"

// WarnIfNoScheduler prints a warning if nothing fires schedules.
func (env *Env) WarnIfNoScheduler() {
	if !SchedulerRunning() {
		env.Notef("no scheduler is running, so none of these schedules will run; %s", StartSchedulerHint)
	}
}
