// Package shellword writes texts as words of command lines: for shells, and for the files of systemd and cron that
// contain command lines.
//
// A word that is read again by its shell is the text, byte for byte, and no part of it is evaluated. Whoever writes a
// command that others read asks here: hints, dry runs, crontab lines, scripts that set variables. The page of the service
// has the same functions in command.ts, which a test compares with these.
package shellword

import "strings"

// isPlain reports whether a text has no character with a meaning to a shell. = has one only where a word begins.
func isPlain(text string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+="
	return text != "" && text[0] != '=' && strings.Trim(text, plain) == ""
}

// Sh returns a text as one word for sh, bash, zsh and others of their family, in quotes only if it needs them.
func Sh(text string) string {
	if isPlain(text) {
		return text
	}
	return Single(text)
}

// Single returns a text in single quotation marks, as one word for every shell of the sh family.
func Single(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Fish returns a text as one word for fish, in quotes only if it needs them.
func Fish(text string) string {
	if isPlain(text) {
		return text
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// PowerShell returns a text as one argument for PowerShell, in quotes only if it needs them. Before version 7.3,
// PowerShell loses quotation marks that are part of an argument; nothing in the command line can help that.
func PowerShell(text string) string {
	if isPlain(text) && !strings.ContainsAny(text, ",@%") && !strings.ContainsAny(text[:1], "-:+./") {
		return text
	}
	return PowerShellSingle(text)
}

// PowerShellSingle returns a text in single quotation marks, as PowerShell reads it in arguments and in expressions.
func PowerShellSingle(text string) string {
	return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(text) + "'"
}

// Unit returns a text as one word of a systemd unit: a variable of Environment, or the program of ExecStart.
func Unit(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, "\n", `\n`).Replace(text) + `"`
}

// UnitArgument returns a text as one argument of ExecStart, where systemd replaces variables too.
func UnitArgument(text string) string { return strings.ReplaceAll(Unit(text), "$", "$$") }

// UnitPath returns a path for keys such as WorkingDirectory, where systemd reads no quotation marks.
func UnitPath(path string) string { return strings.NewReplacer(`\`, `\\`, `%`, `%%`).Replace(path) }

// Join returns texts as the words of one command line, written by word, which is one of the functions above.
func Join(word func(string) string, texts []string) string {
	words := make([]string, len(texts))
	for i, text := range texts {
		words[i] = word(text)
	}
	return strings.Join(words, " ")
}
