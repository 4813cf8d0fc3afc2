package quoting

import (
	"path"
	"strings"
)

// HasOwnSyntax reports whether the program of a step's `shell` accepts scripts that neither bash nor sh accepts, although
// it quotes like bash.
func HasOwnSyntax(name string) bool {
	switch Program(name) {
	case "ksh", "mksh", "zsh":
		return true
	}
	return false
}

// Program returns the name of the program of a step's `shell`.
func Program(name string) string {
	program, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	program = path.Base(strings.ReplaceAll(program, `\`, "/"))
	return strings.TrimSuffix(program, ".exe")
}
