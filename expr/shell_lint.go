package expr

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/internal/codeenv"
	"mvdan.cc/sh/v3/syntax"
)

// codeOptions maps programs to the letters of the options after which an argument is code.
var codeOptions = map[string]string{
	"bash": "c", "sh": "c", "dash": "c", "ash": "c", "ksh": "c", "zsh": "c", "su": "c",
	"python": "c", "python2": "c", "python3": "c", "perl": "eE", "ruby": "e", "node": "ep", "lua": "e", "php": "r",
	"psql": "c", "mysql": "e", "sqlite3": "", "pwsh": "c", "powershell": "C", "osascript": "e", "Rscript": "e",
}

// codeInFirstArgument lists programs whose first argument that is not an option is code.
var codeInFirstArgument = setOf("awk gawk mawk nawk jq yq sed")

// lintArguments warns if a value becomes part of another program's code. The value is safe in the
// shell, but not in that program.
func (t *taint) lintArguments(args []*syntax.Word) {
	wrapped := launchers[path.Base(literalWord(args[0]))]
	for i, arg := range args {
		name := path.Base(literalWord(arg))
		letters, coded := codeOptions[name]
		switch {
		case coded && name != "sqlite3":
			t.lintOption(name, letters, args[i+1:])
		case codeInFirstArgument[name]:
			t.lintFirst(name, args[i+1:])
		case name == "ssh":
			t.lintRemote(args[i+1:])
		case (name == "make" || name == "gmake") && (i == 0 || wrapped):
			t.lintMake(name, args[i+1:])
		case name == "sqlite3" && (i == 0 || wrapped):
			t.lintSQL(args[i+1:])
		case name == "env" && i == 0:
			t.lintEnv(args[1:])
			continue
		default:
			continue
		}
		return
	}
}

// launchers lists programs that start the program named in their arguments.
var launchers = setOf("env sudo doas time nice ionice nohup timeout xargs setsid stdbuf chroot")

func (t *taint) lintOption(program, letters string, args []*syntax.Word) {
	for i, arg := range args {
		flags := flagLetters(literalWord(arg))
		if flags == "" || i+1 == len(args) || !strings.ContainsAny(flags, letters) {
			continue
		}
		t.warnCode(args[i+1], program+" -"+flags)
		return
	}
}

func (t *taint) lintFirst(program string, args []*syntax.Word) {
	for i, arg := range args {
		lit := literalWord(arg)
		if i > 1 && jqPairOptions[literalWord(args[i-2])] || i > 0 && jqPairOptions[literalWord(args[i-1])] {
			continue
		}
		if strings.HasPrefix(lit, "-") || i > 0 && takesArgument(program, literalWord(args[i-1])) {
			continue
		}
		t.warnCode(arg, program)
		return
	}
}

// jqPairOptions lists options of jq that take a name and a value.
var jqPairOptions = setOf("--arg --argjson --slurpfile --rawfile")

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

// lintRemote warns of values in the arguments of ssh, which joins everything after the host to one
// line for the remote shell.
func (t *taint) lintRemote(args []*syntax.Word) {
	host := false
	for i, arg := range args {
		before := ""
		if i > 0 {
			before = literalWord(args[i-1])
		}
		lead := strings.TrimLeft(t.text[arg.Pos().Offset():arg.End().Offset()], `"'`)
		switch {
		case host:
			t.warnCode(arg, "ssh")
		case before == "-o" || strings.HasPrefix(lead, "-o"): // ProxyCommand=, LocalCommand=
			t.warnCode(arg, "ssh -o")
		default:
			host = !strings.HasPrefix(lead, "-") && (len(before) != 2 || before[0] != '-' || !strings.Contains(sshArgumentOptions, before[1:]))
		}
	}
}

// sshArgumentOptions are the options of ssh that take an argument.
const sshArgumentOptions = "BbcDEeFIiJLlmOoPpQRSWw"

// lintMake warns of values in the arguments of make. make expands them, and $(shell ...) in them runs
// commands. It also expands targets that contain a =.
func (t *taint) lintMake(program string, args []*syntax.Word) {
	for i, arg := range args {
		if i > 0 && makeFileOptions[literalWord(args[i-1])] {
			continue
		}
		t.warnCode(arg, program)
	}
}

// makeFileOptions lists options of make whose argument is a file or a folder.
var makeFileOptions = setOf("-C -f -I -o -W --directory --file --makefile --include-dir")

// lintSQL warns of values after the database of sqlite3. They are SQL, or commands such as .shell.
func (t *taint) lintSQL(args []*syntax.Word) {
	words := 0
	for _, arg := range args {
		if strings.HasPrefix(literalWord(arg), "-") {
			continue
		}
		if words++; words > 1 {
			t.warnCode(arg, "sqlite3")
		}
	}
}

// lintEnv warns of values in env NAME=value COMMAND if the variable makes programs run code.
func (t *taint) lintEnv(args []*syntax.Word) {
	for _, arg := range args {
		lead := strings.TrimLeft(t.text[arg.Pos().Offset():arg.End().Offset()], `"'`)
		name, _, assigns := strings.Cut(lead, "=")
		if assigns && codeenv.RunsCode(name) {
			t.warnCode(arg, "the program that reads $"+name)
		}
	}
}
