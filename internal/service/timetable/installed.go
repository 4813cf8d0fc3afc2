package timetable

import (
	"os"
	"path/filepath"
)

// Installed reports whether schedule install has written units that fire schedules.
func Installed() bool {
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
