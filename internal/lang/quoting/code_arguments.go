package quoting

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/internal/os/codeenv"
)

// FlagLetters returns the letters of a word that is an option of one character or several, -x or +xy.
func FlagLetters(word string) string {
	if len(word) > 1 && (word[0] == '-' || word[0] == '+') {
		return word[1:]
	}
	return ""
}

// CodeOptions returns the letters of the options of a program after which an argument is code, and whether the
// program reads code.
func CodeOptions(program string) (letters string, ok bool) {
	switch program {
	case "bash", "sh", "dash", "ash", "ksh", "zsh", "su", "python", "python2", "python3", "psql", "pwsh":
		return "c", true
	case "ruby", "lua", "mysql", "osascript", "Rscript":
		return "e", true
	case "perl":
		return "eE", true
	case "node":
		return "ep", true
	case "php":
		return "r", true
	case "powershell":
		return "C", true
	case "sqlite3":
		return "", true
	}
	return "", false
}

// codeInFirstArgument lists programs whose first argument that is not an option is code.
var codeInFirstArgument = WordSet{Words: "awk gawk mawk nawk jq yq sed"}

// Argument is a word of a command as far as the author wrote it.
type Argument struct {
	Literal string // the word without quotes; anything that is not a name or an option if a value is in it
	Lead    string // its beginning without quotes
}

// CodeArguments finds the arguments that become part of another program's code. found gets the index
// of an argument, and the program.
func CodeArguments(args []Argument, found func(i int, program string)) {
	c := codeFinder{args: args, found: found}
	wrapped := launchers.Has(path.Base(args[0].Literal))
	for i, arg := range args {
		name := path.Base(arg.Literal)
		letters, coded := CodeOptions(name)
		switch {
		case coded && name != "sqlite3":
			c.afterOption(name, letters, i+1)
		case codeInFirstArgument.Has(name):
			c.first(name, i+1)
		case name == "ssh":
			c.remote(i + 1)
		case (name == "make" || name == "gmake") && (i == 0 || wrapped):
			c.make(name, i+1)
		case name == "sqlite3" && (i == 0 || wrapped):
			c.sql(i + 1)
		case name == "env" && i == 0:
			c.env(1)
			continue
		default:
			continue
		}
		return
	}
}

// launchers lists programs that start the program named in their arguments.
var launchers = WordSet{Words: "env sudo doas time nice ionice nohup timeout xargs setsid stdbuf chroot"}

type codeFinder struct {
	args  []Argument
	found func(i int, program string)
}

// before returns the argument before the argument i, if it is not before the argument from.
func (c codeFinder) before(from, i int) string {
	if i <= from {
		return ""
	}
	return c.args[i-1].Literal
}

// afterOption finds the code that follows an option with one of these letters.
func (c codeFinder) afterOption(program, letters string, from int) {
	for i := from; i+1 < len(c.args); i++ {
		if flags := FlagLetters(c.args[i].Literal); flags != "" && strings.ContainsAny(flags, letters) {
			c.found(i+1, program+" -"+flags)
			return
		}
	}
}

// first finds the first argument that is not an option.
func (c codeFinder) first(program string, from int) {
	for i := from; i < len(c.args); i++ {
		before := c.before(from, i)
		if jqPairOptions.Has(before) || i > from && jqPairOptions.Has(c.before(from, i-1)) {
			continue
		}
		if strings.HasPrefix(c.args[i].Literal, "-") || i > from && takesArgument(program, before) {
			continue
		}
		c.found(i, program)
		return
	}
}

// jqPairOptions lists options of jq that take a name and a value.
var jqPairOptions = WordSet{Words: "--arg --argjson --slurpfile --rawfile"}

// takesArgument reports whether the word after an option belongs to it.
func takesArgument(program, option string) bool {
	switch program {
	case "jq", "yq":
		return option == "--indent"
	case "sed":
		return false
	}
	return option == "-v" || option == "-F" || option == "-f"
}

// remote finds the arguments of ssh that a remote shell reads: ssh joins everything after the host to
// one line.
func (c codeFinder) remote(from int) {
	host := false
	for i := from; i < len(c.args); i++ {
		before, lead := c.before(from, i), c.args[i].Lead
		switch {
		case host:
			c.found(i, "ssh")
		case before == "-o" || strings.HasPrefix(lead, "-o"): // ProxyCommand=, LocalCommand=
			c.found(i, "ssh -o")
		default:
			host = !strings.HasPrefix(lead, "-") && (len(before) != 2 || before[0] != '-' || !strings.Contains(sshArgumentOptions, before[1:]))
		}
	}
}

// sshArgumentOptions are the options of ssh that take an argument.
const sshArgumentOptions = "BbcDEeFIiJLlmOoPpQRSWw"

// make finds the arguments of make that it expands, where $(shell ...) runs commands. It also expands
// targets that contain a =.
func (c codeFinder) make(program string, from int) {
	for i := from; i < len(c.args); i++ {
		if !makeFileOptions.Has(c.before(from, i)) {
			c.found(i, program)
		}
	}
}

// makeFileOptions lists options of make whose argument is a file or a folder.
var makeFileOptions = WordSet{Words: "-C -f -I -o -W --directory --file --makefile --include-dir"}

// sql finds what follows the database of sqlite3. It is SQL, or commands such as .shell.
func (c codeFinder) sql(from int) {
	words := 0
	for i := from; i < len(c.args); i++ {
		if strings.HasPrefix(c.args[i].Literal, "-") {
			continue
		}
		if words++; words > 1 {
			c.found(i, "sqlite3")
		}
	}
}

// env finds NAME=value before the command of env if the variable makes programs run code.
func (c codeFinder) env(from int) {
	for i := from; i < len(c.args); i++ {
		name, _, assigns := strings.Cut(c.args[i].Lead, "=")
		if assigns && codeenv.RunsCode(name) {
			c.found(i, "the program that reads $"+name)
		}
	}
}
