package expr

import (
	"path"
	"strings"
)

// Shell is the language of a template's text. It decides how a value may enter the text.
type Shell int

const (
	Plain      Shell = iota // text: environment, with, defaults, input
	Argv                    // a command that is split into words and started without a shell (run:)
	Bash                    // a script for bash, or for a shell that extends POSIX in the same way
	Sh                      // a script for a POSIX shell
	Cmd                     // a batch script for cmd.exe
	PowerShell              // a script for pwsh or Windows PowerShell
	Python                  // a script for Python 3
)

// ShellByName returns the Shell for the program of a step's `shell` (a name or a path, with or
// without arguments). It returns false for a program whose quoting is not known.
func ShellByName(name string) (Shell, bool) {
	switch programOf(name) {
	case "bash", "ksh", "mksh", "zsh":
		return Bash, true
	case "sh", "dash", "ash":
		return Sh, true
	case "cmd":
		return Cmd, true
	case "pwsh", "powershell":
		return PowerShell, true
	case "python", "python3":
		return Python, true
	}
	return Plain, false
}

// HasOwnSyntax reports whether the program of a step's `shell` accepts scripts that neither bash nor sh accepts, although
// it quotes like bash.
func HasOwnSyntax(name string) bool {
	switch programOf(name) {
	case "ksh", "mksh", "zsh":
		return true
	}
	return false
}

// programOf returns the name of the program of a step's `shell`.
func programOf(name string) string {
	program, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	program = path.Base(strings.ReplaceAll(program, `\`, "/"))
	return strings.TrimSuffix(program, ".exe")
}
