package timetable

import (
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// SchedulerRunning reports whether something fires schedules: a service on this state directory, or
// units that schedule install has written.
func SchedulerRunning() bool {
	if dir, err := ui.StateDir(); err == nil && ui.ServiceRunning(dir) {
		return true
	}
	folders := []string{"/etc/systemd/system"}
	if dir, err := os.UserConfigDir(); err == nil {
		folders = append(folders, filepath.Join(dir, "systemd", "user"))
	}
	for _, f := range folders {
		if found, _ := filepath.Glob(filepath.Join(f, "flowrun*.*")); len(found) > 0 { // .timer and .service
			return true
		}
	}
	return false
}

// StartHint is the hint for users if nothing fires schedules.
const StartHint = "start one with flowrun serve, or install one with flowrun schedule install"

// WarnIfIdle prints a warning if nothing fires schedules.
func WarnIfIdle(env *ui.Env) {
	if !SchedulerRunning() {
		env.Notef("no scheduler is running, so none of these schedules will run; %s", StartHint)
	}
}
