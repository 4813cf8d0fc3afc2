// Package needtest checks that there is what a test needs, above all programs. If something is missing,
// the test is skipped. In CI (CI=true), which has everything, it fails instead, because a gate that
// skips tests proves nothing. The package knows nothing of what the programs are for.
package needtest

import (
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
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

// ReleaseFlags skips or fails the test unless it is itself compiled with the flags of a release. For a
// test that builds flowrun with them: otherwise everything would be compiled a second time, which takes
// longer than most other tests together.
func ReleaseFlags(t testing.TB) {
	t.Helper()
	info, _ := debug.ReadBuildInfo()
	for _, flag := range []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"}} {
		if info == nil || !slices.Contains(info.Settings, flag) {
			Missing(t, "builds flowrun as a release is built; run it with CGO_ENABLED=0 GOFLAGS=-trimpath")
		}
	}
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
