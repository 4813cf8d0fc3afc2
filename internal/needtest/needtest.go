// Package needtest says which programs a test needs. Where one is missing the test is
// skipped; in the gate (CI=true), which has all of them, it fails instead, because a gate
// that skips proves nothing. The package knows nothing of what the programs are for.
package needtest

import (
	"os"
	"os/exec"
	"testing"
)

// Programs goes on only where all programs are there.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Program(t, name)
	}
}

// Program is the path of a program.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%v; install %s", err, name)
	}
	return path
}

// Missing is for needs that are no program, such as rights: the test ends here.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
