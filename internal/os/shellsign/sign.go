// Package shellsign finds parts of a command that only a shell understands. It is for commands that run without a shell:
// there, a program gets | and $HOME as text.
//
// It reports only what is almost certainly meant for a shell. An argument such as a|b or page?a=1&b=2 is not.
package shellsign

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Sign is a part of a command that only a shell understands: Len bytes at Off.
type Sign struct {
	Off, Len int
	// Assigns means that the sign is a variable before the program, as in LANG=C sort.
	Assigns bool
}

// signs are the expressions that find signs in words.
type signs struct {
	assignment *regexp.Regexp // a variable before the program
	// operator matches a word that connects or redirects commands, and the start of one that names a file to read or write.
	operator *regexp.Regexp
	pattern  *regexp.Regexp // what a shell replaces by the names of files, or by several words
	// expansion matches what a shell replaces by a value. It does not match $1, which is for awk and regular expressions.
	expansion *regexp.Regexp
}

// theSigns are compiled together for the first command that may have one: before main they would cost every start.
var theSigns = sync.OnceValue(func() signs {
	return signs{
		assignment: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`),
		operator:   regexp.MustCompile(`^(\|\|?|\|&|&&?|;|[0-9]?(>>?|<<?<?)(&[0-9])?|&>>?)$|^([0-9]?>>?|&>>?|<)[A-Za-z0-9_./~$-][^<>]*$`),
		pattern:    regexp.MustCompile(`[*?]|\[[^\]]+\]|\{[^{}]*(,|\.\.)[^{}]*\}`),
		expansion:  regexp.MustCompile("\\$[A-Za-z_][A-Za-z0-9_]*|\\$\\{[^}]*\\}?|\\$\\(|`"),
	}
})

// interpreters run code in an argument, which may have variables of its own. remote programs pass all their arguments
// to a shell.
var (
	interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "pwsh", "powershell", "python", "python3", "perl", "ruby", "node", "php",
		"awk", "gawk", "mawk", "sed", "jq", "yq", "psql", "mysql", "sqlite3", "mongo", "mongosh", "tclsh", "osascript", "envsubst", "ssh", "cmd"}
	remote = []string{"ssh", "cmd"}
	// fileTools take the names of files, and have no patterns of their own.
	fileTools = []string{"bzip2", "cat", "cc", "chgrp", "chmod", "chown", "cksum", "cmp", "cp", "diff", "du", "file", "g++", "gcc", "gunzip",
		"gzip", "head", "less", "ln", "ls", "md5sum", "mkdir", "more", "mv", "rm", "rmdir", "sha1sum", "sha256sum", "sha512sum",
		"shellcheck", "sort", "stat", "tail", "tar", "touch", "wc", "xz", "zcat", "zstd"}
)

// First returns the first sign in a command. Placeholders in braces are text.
func First(command string) (Sign, bool) {
	if !strings.ContainsAny(command, "|&;<>$`=~*?[{") { // most commands have none of them
		return Sign{}, false
	}
	var before []string
	for _, w := range split(command) {
		if s, ok := w.sign(before); ok {
			return s, true
		}
		before = append(before, strings.TrimSuffix(path.Base(string(w.text)), ".exe"))
	}
	return Sign{}, false
}

// sign returns the first sign in a word that comes after other words.
func (w *word) sign(before []string) (Sign, bool) {
	unquoted := w.upTo(bare)
	switch {
	case len(before) == 0 && theSigns().assignment.MatchString(unquoted):
		return Sign{w.off, w.end(len(w.text)) - w.off, true}, true
	case anyOf(before, remote):
		return Sign{}, false
	case unquoted == ";" && endsExec(before):
		return Sign{}, false
	case len(before) > 0 && theSigns().operator.MatchString(unquoted):
		return Sign{Off: w.off, Len: w.end(len(w.text)) - w.off}, true
	case len(unquoted) > 1 && strings.HasSuffix(unquoted, ";") && !strings.Contains(unquoted, "="):
		return Sign{Off: w.offs[len(unquoted)-1], Len: 1}, true
	case unquoted == "~" || strings.HasPrefix(unquoted, "~/"):
		return Sign{Off: w.off, Len: w.end(min(2, len(unquoted))) - w.off}, true
	case takesFiles(before) && !strings.HasPrefix(unquoted, "-") && theSigns().pattern.MatchString(unquoted):
		return Sign{Off: w.off, Len: w.end(len(w.text)) - w.off}, true
	case anyOf(before, interpreters):
		return Sign{}, false
	}
	if at := theSigns().expansion.FindStringIndex(w.upTo(inDoubleQuotes)); at != nil {
		return Sign{Off: w.offs[at[0]], Len: w.end(at[1]) - w.offs[at[0]]}, true
	}
	return Sign{}, false
}

// takesFiles reports whether the next word is the name of a file: the program takes no patterns, nor does the option
// before the word, such as --exclude of tar.
func takesFiles(before []string) bool {
	if len(before) > 1 && before[0] == "sudo" {
		before = before[1:]
	}
	return len(before) > 0 && slices.Contains(fileTools, before[0]) && !strings.HasPrefix(before[len(before)-1], "--exclude")
}

// end returns where the first n bytes of the word end in the command.
func (w *word) end(n int) int { return w.offs[n-1] + 1 }

func anyOf(words, names []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(names, w) })
}

// endsExec reports whether a semicolon after these words ends an option of find.
func endsExec(before []string) bool {
	return slices.ContainsFunc(before, func(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") })
}
