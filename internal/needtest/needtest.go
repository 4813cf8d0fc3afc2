// Package needtest checks that the programs that a test needs are installed. If one is missing, the
// test is skipped. In CI (CI=true), which has all of them, it fails instead, because a gate that
// skips tests proves nothing. The package knows nothing of what the programs are for.
package needtest

import (
	"os"
	"os/exec"
	"testing"
)

// Programs skips or fails the test unless all programs are installed.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Program(t, name)
	}
}

// Program returns the path of a program. It skips or fails the test if there is none.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%v; install %s", err, name)
	}
	return path
}

// Missing skips or fails the test because something other than a program is missing, such as
// rights.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
