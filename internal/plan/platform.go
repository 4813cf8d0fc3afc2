package plan

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/expr"
)

// Platform is this machine's name in definitions.
func Platform() string {
	switch runtime.GOOS {
	case "windows", "linux":
		return runtime.GOOS
	case "darwin":
		return "macos"
	}
	return "unknown"
}

// UnsupportedError says that a tool does not run on this platform.
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

// ShellOf is a shell by its name, with the zero Shell for one whose quoting is not known.
func ShellOf(name string) expr.Shell {
	sh, _ := expr.ShellByName(name)
	return sh
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("tool %s runs on %s only; this is %s", e.Tool, strings.Join(e.Platforms, ", "), Platform())
}

// Supported says whether the tool runs on this platform; the error is an
// *UnsupportedError.
func (p *Plan) Supported() error {
	list := p.Definition.Platforms
	if len(list) == 0 || slices.Contains(list, Platform()) {
		return nil
	}
	return &UnsupportedError{Tool: p.Name(), Platforms: list}
}
