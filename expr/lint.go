package expr

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Programs whose argument after an option is code, and the letters of the
// options.
var codeOptions = map[string]string{
	"bash": "c", "sh": "c", "dash": "c", "ash": "c", "ksh": "c", "zsh": "c", "su": "c",
	"python": "c", "python2": "c", "python3": "c", "perl": "eE", "ruby": "e", "node": "ep", "lua": "e", "php": "r",
	"psql": "c", "mysql": "e", "sqlite3": "", "pwsh": "c", "powershell": "C", "osascript": "e", "Rscript": "e",
}

// Programs whose first argument that is no option is code.
var codeFirst = setOf("awk gawk mawk nawk jq yq sed")

// lintArguments warns where a value becomes part of another program's code. The
// shell is safe from it; that program is not.
func (w *walker) lintArguments(args []*syntax.Word) {
	for i, arg := range args {
		name := path.Base(literalWord(arg))
		letters, coded := codeOptions[name]
		switch {
		case coded:
			w.lintOption(name, letters, args[i+1:])
		case codeFirst[name]:
			w.lintFirst(name, args[i+1:])
		case name == "ssh":
			w.lintRemote(args[i+1:])
		default:
			continue
		}
		return
	}
}

func (w *walker) lintOption(program, letters string, args []*syntax.Word) {
	for i, arg := range args {
		flags := flagLetters(literalWord(arg))
		if flags == "" || i+1 == len(args) || !strings.ContainsAny(flags, letters) {
			continue
		}
		w.lintWord(program+" -"+flags, args[i+1])
		return
	}
}

func (w *walker) lintFirst(program string, args []*syntax.Word) {
	for i, arg := range args {
		lit := literalWord(arg)
		if strings.HasPrefix(lit, "-") || i > 0 && takesArgument(program, literalWord(args[i-1])) {
			continue
		}
		w.lintWord(program, arg)
		return
	}
}

// takesArgument reports whether the word after an option belongs to it.
func takesArgument(program, option string) bool {
	switch program {
	case "jq", "yq":
		return option == "--arg" || option == "--argjson" || option == "--indent"
	case "sed":
		return false
	}
	return option == "-v" || option == "-F" || option == "-f"
}

// lintRemote: ssh joins what follows the host to one line for the shell there.
func (w *walker) lintRemote(args []*syntax.Word) {
	for i, arg := range args {
		if i > 0 && !strings.HasPrefix(literalWord(args[i-1]), "-") {
			w.lintWord("ssh", arg)
		}
	}
}

// lintRedirects warns of a here-document or here-string that an interpreter reads
// as its program.
func (w *walker) lintRedirects(call *syntax.CallExpr, redirs []*syntax.Redirect) {
	name := path.Base(literalWord(firstWord(call)))
	if _, coded := codeOptions[name]; !coded {
		return
	}
	for _, arg := range call.Args[1:] {
		if !strings.HasPrefix(literalWord(arg), "-") {
			return // a program file is named, the input is data
		}
	}
	for _, r := range redirs {
		if r.Hdoc != nil {
			w.lintWord(name, r.Hdoc)
		} else if r.Op == syntax.WordHdoc {
			w.lintWord(name, r.Word)
		}
	}
}

func (w *walker) lintWord(program string, word *syntax.Word) {
	for _, p := range w.inNode(word) {
		if p.hole.mayVary() {
			w.lint(p.hole, program)
		}
	}
}
