package plan

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Platform returns the name of this platform in definitions.
func Platform() string {
	switch runtime.GOOS {
	case "windows", "linux":
		return runtime.GOOS
	case "darwin":
		return "macos"
	}
	return "unknown"
}

// UnsupportedError reports that a tool does not run on this platform.
type UnsupportedError struct {
	Tool      string
	Platforms []string
}

// DefaultShell returns the shell of script, commands, fallback and final-command in steps that name none.
func DefaultShell() string {
	if runtime.GOOS == "windows" {
		return "cmd"
	}
	return "bash"
}

// ShellOf returns a shell by its name, or the zero Shell if flowrun does not know how to quote for it.
func ShellOf(name string) expr.Shell {
	sh, _ := expr.ShellByName(name)
	return sh
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("tool %s runs on %s only; this is %s", e.Tool, strings.Join(e.Platforms, ", "), Platform())
}

// Supported returns nil if the tool runs on this platform, else an *UnsupportedError.
func (p *Plan) Supported() error {
	list := p.Definition.Platforms
	if len(list) == 0 || slices.Contains(list, Platform()) {
		return nil
	}
	return &UnsupportedError{Tool: p.Name(), Platforms: list}
}
