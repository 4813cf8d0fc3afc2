package importer

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Line is a command that the original tool gives to a shell of its own.
type Line struct {
	Text   string
	Ignore bool // a failure does not stop the others
}

// Script returns a script that runs each line as a shell of its own would, and stops at the first that fails. A line
// that consists of plain words changes nothing in the shell. All others run in a subshell, where cd, assignments and
// exit have no effect on the next line.
func Script(lines []Line) string {
	if len(lines) == 1 && !lines[0].Ignore && !commentOnly(lines[0].Text) {
		return lines[0].Text
	}
	var out []string
	for i, l := range lines {
		text := strings.TrimRight(l.Text, " \t\n")
		last := i == len(lines)-1
		if !simpleCommand(text) {
			text = Subshell(text)
		}
		switch {
		case commentOnly(text):
		case l.Ignore:
			text += " || true"
		case !last:
			text += " || exit"
		}
		out = append(out, text)
	}
	script := strings.Join(out, "\n")
	if commentOnly(script) {
		script += "\n:" // flowrun needs a command
	}
	return script
}

// Subshell returns a script that runs text in a subshell. A text of comments stays as it is: the shell does not allow an
// empty subshell.
func Subshell(text string) string {
	if commentOnly(text) {
		return text
	}
	return "(\n" + strings.TrimRight(text, " \t\n") + "\n)"
}

// commentOnly reports whether a text has no commands.
func commentOnly(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// StrictScript is Script for a tool whose shells also end at the first command of a line that fails, as set -e does.
func StrictScript(lines []Line) string {
	out := []string{"set -e"}
	simple := len(lines) == 1
	for _, l := range lines {
		text := strings.TrimRight(l.Text, " \t\n")
		switch plain := simpleCommand(text); {
		case plain && l.Ignore:
			text += " || true"
		case plain:
		case l.Ignore: // in a list with ||, set -e would have no effect
			text = "set +e\n(\nset -e\n" + text + "\n)\nset -e"
			simple = false
		case len(lines) > 1:
			text = Subshell(text)
		default:
			simple = false
		}
		out = append(out, text)
	}
	if simple {
		out = out[1:]
	}
	return strings.Join(out, "\n")
}

// simpleCommand reports whether a line is one command that cannot change the shell.
func simpleCommand(s string) bool {
	if strings.ContainsAny(s, "\n;&|()<>`#{}[]!") || strings.Contains(s, `\`) {
		return false
	}
	first, _, _ := strings.Cut(s, " ")
	if strings.ContainsAny(first, "='\"$\x01") {
		return false
	}
	switch first {
	case "", "cd", "export", "set", "unset", "exit", "exec", "source", ".", "eval", "trap", "umask", "alias", "shopt", "read", "return",
		"ulimit", "pushd", "popd", "declare", "local", "readonly", "shift", "if", "for", "while", "case", "until", "time", "wait", "then", "do", "function":
		return false
	}
	return true
}
