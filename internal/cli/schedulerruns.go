package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/sqlite"
)

// schedulerRuns says whether something is there that fires schedules: a service on this
// state directory, or units that schedule install has written.
func schedulerRuns() bool {
	if dir, err := stateDir(); err == nil && serviceLives(dir) {
		return true
	}
	folders := []string{"/etc/systemd/system"}
	if dir, err := os.UserConfigDir(); err == nil {
		folders = append(folders, filepath.Join(dir, "systemd", "user"))
	}
	for _, f := range folders {
		if found, _ := filepath.Glob(filepath.Join(f, "flowrun*.*")); len(found) > 0 { // .timer, .service
			return true
		}
	}
	return false
}

// startScheduler is what people are told where nothing fires schedules.
const startScheduler = "start one: flowrun serve; or have systemd or cron do it: flowrun schedule install"

// sayIdle says that nothing fires schedules, where that is so.
func (env *Env) sayIdle() {
	if !schedulerRuns() {
		env.say("no scheduler is running: none of these times will fire; %s", startScheduler)
	}
}

// checkScheduler looks whether something fires the schedules there are.
func (env *Env) checkScheduler() (list []finding) {
	err := env.reading(func(ctx context.Context, s *sqlite.Store) error {
		t, err := env.timetable(ctx, s, env.library())
		switch {
		case err != nil:
			return err
		case len(t.entries) == 0:
			list = append(list, good("scheduler", "there are no schedules"))
		case !schedulerRuns():
			list = append(list, doubt("scheduler", startScheduler, "no scheduler is running: %d schedules will not fire", len(t.entries)))
		default:
			list = append(list, good("scheduler", "running"))
		}
		return nil
	})
	if err != nil {
		return nil // checkHistory tells why
	}
	return list
}
