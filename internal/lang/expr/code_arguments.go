package expr

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/internal/os/codeenv"
)

// codeOptions maps programs to the letters of the options after which an argument is code.
var codeOptions = map[string]string{
	"bash": "c", "sh": "c", "dash": "c", "ash": "c", "ksh": "c", "zsh": "c", "su": "c",
	"python": "c", "python2": "c", "python3": "c", "perl": "eE", "ruby": "e", "node": "ep", "lua": "e", "php": "r",
	"psql": "c", "mysql": "e", "sqlite3": "", "pwsh": "c", "powershell": "C", "osascript": "e", "Rscript": "e",
}

// codeInFirstArgument lists programs whose first argument that is not an option is code.
var codeInFirstArgument = wordSet{words: "awk gawk mawk nawk jq yq sed"}

// argument is a word of a command as far as the author wrote it.
type argument struct {
	literal string // the word without quotes; anything that is not a name or an option if a value is in it
	lead    string // its beginning without quotes
}

// codeArguments finds the arguments that become part of another program's code. found gets the index
// of an argument, and the program.
func codeArguments(args []argument, found func(i int, program string)) {
	c := codeFinder{args: args, found: found}
	wrapped := launchers.has(path.Base(args[0].literal))
	for i, arg := range args {
		name := path.Base(arg.literal)
		letters, coded := codeOptions[name]
		switch {
		case coded && name != "sqlite3":
			c.afterOption(name, letters, i+1)
		case codeInFirstArgument.has(name):
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
var launchers = wordSet{words: "env sudo doas time nice ionice nohup timeout xargs setsid stdbuf chroot"}

type codeFinder struct {
	args  []argument
	found func(i int, program string)
}

// before returns the argument before the argument i, if it is not before the argument from.
func (c codeFinder) before(from, i int) string {
	if i <= from {
		return ""
	}
	return c.args[i-1].literal
}

// afterOption finds the code that follows an option with one of these letters.
func (c codeFinder) afterOption(program, letters string, from int) {
	for i := from; i+1 < len(c.args); i++ {
		if flags := flagLetters(c.args[i].literal); flags != "" && strings.ContainsAny(flags, letters) {
			c.found(i+1, program+" -"+flags)
			return
		}
	}
}

// first finds the first argument that is not an option.
func (c codeFinder) first(program string, from int) {
	for i := from; i < len(c.args); i++ {
		before := c.before(from, i)
		if jqPairOptions.has(before) || i > from && jqPairOptions.has(c.before(from, i-1)) {
			continue
		}
		if strings.HasPrefix(c.args[i].literal, "-") || i > from && takesArgument(program, before) {
			continue
		}
		c.found(i, program)
		return
	}
}

// jqPairOptions lists options of jq that take a name and a value.
var jqPairOptions = wordSet{words: "--arg --argjson --slurpfile --rawfile"}

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
		before, lead := c.before(from, i), c.args[i].lead
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
		if !makeFileOptions.has(c.before(from, i)) {
			c.found(i, program)
		}
	}
}

// makeFileOptions lists options of make whose argument is a file or a folder.
var makeFileOptions = wordSet{words: "-C -f -I -o -W --directory --file --makefile --include-dir"}

// sql finds what follows the database of sqlite3. It is SQL, or commands such as .shell.
func (c codeFinder) sql(from int) {
	words := 0
	for i := from; i < len(c.args); i++ {
		if strings.HasPrefix(c.args[i].literal, "-") {
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
		name, _, assigns := strings.Cut(c.args[i].lead, "=")
		if assigns && codeenv.RunsCode(name) {
			c.found(i, "the program that reads $"+name)
		}
	}
}
