package plan

import (
	"runtime"

	"github.com/flowrun/flowrun/expr"
)

// Platform is this machine's name in definitions (S1-126, S1-410).
func Platform() string {
	switch runtime.GOOS {
	case "windows", "linux":
		return runtime.GOOS
	case "darwin":
		return "macos"
	}
	return "unknown"
}

// UnsupportedError says that a tool does not run on this platform (S1-225).
type UnsupportedError struct {
	Tool      string
	Platforms []string
}

// DefaultShell is the shell of script, commands, fallback and final-command where
// a step names none.
func DefaultShell() string {
	if runtime.GOOS == "windows" {
		return "cmd"
	}
	return "bash"
}

func ShellOf(name string) expr.Shell {
	sh, _ := expr.ShellByName(name)
	return sh
}
