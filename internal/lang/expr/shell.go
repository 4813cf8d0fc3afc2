package expr

import "github.com/flowrun/flowrun/internal/lang/quoting"

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
	switch quoting.Program(name) {
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
