// Package completion holds the scripts with which shells complete the words of flowrun.
//
// A script gives the words of the line, without their quotes, to flowrun __complete as arguments and
// offers what that prints, quoted as the word was begun. It evaluates no text of the line and none of
// what is offered, because both may come from others: a project that nobody trusted, or a command that
// a model wrote.
package completion

import _ "embed"

var (
	//go:embed flowrun.bash
	bash string
	//go:embed flowrun.zsh
	zsh string
	//go:embed flowrun.fish
	fish string
	//go:embed flowrun.ps1
	powershell string
)

// Shells returns the names of the shells that Script knows.
func Shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// Script returns the completion script for a shell, or "" if it knows none for it.
func Script(shell string) string {
	switch shell {
	case "bash":
		return bash
	case "zsh":
		return zsh
	case "fish":
		return fish
	case "powershell":
		return powershell
	}
	return ""
}
