package sh

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/quoting"
)

// Evaluates reports whether a command reads its arguments as code, as names of variables or as
// arithmetic, in any shell of the sh family. A value must never be the name of one of them.
func Evaluates(command string) bool { return evaluatingCommands.Has(command) }

var evaluatingCommands = quoting.WordSet{Words: `. source eval trap alias bind command builtin exec coproc
	declare typeset local export readonly integer float nameref let test [ [[ ((
	printf print read unset getopts mapfile readarray wait compgen complete compopt
	enable fc jobs set shopt exit return shift break continue ulimit
	autoload emulate functions noglob nocorrect sched vared whence zcompile zmodload zle - hash history`}

func firstWord(call *syntax.CallExpr) *syntax.Word {
	if len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}

// literalWord returns the text of a word without quotes and backslashes: \eval and "eval" are
// eval. It returns "" if the word is anything but text.
func literalWord(word *syntax.Word) string {
	if word == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

// call walks a simple command: assignments, the name of the command, arguments.
func (w *walker) call(call *syntax.CallExpr, c wordContext) {
	for _, a := range call.Assigns {
		w.assign(a, c, quoting.GuardNone)
	}
	args := call.Args
	if len(args) > 0 && strings.Contains(literalPrefix(args[0]), "[") && strings.Contains(literalWord(args[0]), "=") {
		// a[{I}]=x, which a POSIX parser reads as a command
		w.word(args[0], c.refusing("it would be an array index, which the shell evaluates and which can run commands", "declare the parameter as type: number, and use bash"))
		args = args[1:]
	}
	var leads []*quoting.Placeholder
	for i := 0; i < len(args); i++ {
		markers := w.markersIn(args[i])
		if len(markers) == 0 {
			if skip := commandPrefixLen(args[i:]); skip > 0 {
				w.words(args[i:i+skip], c)
				i += skip - 1
				continue
			}
			w.word(args[i], c)
			w.arguments(literalWord(args[i]), args[i+1:], c)
			return
		}
		w.commandName(args[i], markers, c, leads)
		if !isOnlyMarker(args[i], markers) {
			w.arguments("", args[i+1:], c)
			return
		}
		leads = append(leads, markers[0].Placeholder)
		if _, bare := args[i].Parts[0].(*syntax.Lit); !bare {
			w.arguments("", args[i+1:], c) // a quoted word stays even when it is empty
			return
		}
		if i+1 < len(args) && len(w.markersIn(args[i+1])) == 0 && commandPrefixLen(args[i+1:]) == 0 {
			w.word(args[i+1], c)
			w.arguments(literalWord(args[i+1]), args[i+2:], c)
			return
		}
	}
}

func literalPrefix(word *syntax.Word) string {
	if lit, ok := word.Parts[0].(*syntax.Lit); ok {
		return lit.Value
	}
	return ""
}

// commandPrefixLen returns how many words at the start only say how the command after them is looked
// up: command, builtin and exec with their options.
func commandPrefixLen(args []*syntax.Word) int {
	switch literalWord(args[0]) {
	case "command", "builtin", "exec":
	default:
		return 0
	}
	n := 1
	for n < len(args) {
		option := literalWord(args[n])
		if !strings.HasPrefix(option, "-") || strings.ContainsAny(option, "vV") {
			break
		}
		n++
		if option == "-a" && n < len(args) { // exec -a NAME
			n++
		}
	}
	return n
}

// commandName walks the name of a command that contains a value.
func (w *walker) commandName(word *syntax.Word, markers []marker, c wordContext, leads []*quoting.Placeholder) {
	p := c
	p.guard, p.optionalWords = quoting.GuardProgram, slices.Clone(leads)
	if len(leads) > 0 {
		p.argument = true
	}
	if !isOnlyMarker(word, markers) {
		lead := w.text[word.Pos().Offset():markers[0].Off]
		tail := w.text[markers[0].Off+len(markers[0].Name) : word.End().Offset()]
		switch {
		case strings.Contains(lead, "/") || strings.HasPrefix(tail, "/"):
			p.guard = quoting.GuardNone // a path is never a builtin
		case len(markers) == 1 && isLiteralText(lead) && isLiteralText(tail):
			p.prefix, p.suffix = lead, tail
		default:
			p = p.refusing("flowrun cannot determine the name of the command", wayOut)
		}
	}
	w.word(word, p)
}

// isLiteralText reports whether s is text without quotes and expansions.
func isLiteralText(s string) bool {
	return !strings.ContainsAny(s, "$`'\"\\")
}

// words walks arguments that are only text to the command. checkDash does not apply after "--".
func (w *walker) words(args []*syntax.Word, c wordContext) {
	c.argument = true
	for _, arg := range args {
		w.word(arg, c)
		if literalWord(arg) == "--" {
			c.argument = false
		}
	}
}

// arguments walks the arguments of a command, depending on its name.
func (w *walker) arguments(name string, args []*syntax.Word, c wordContext) {
	if c.feedsArithmetic && (name == "echo" || name == "printf" || name == "print") {
		c.guard, c.single = quoting.GuardNumber, true
	}
	switch name {
	case "eval", "trap", "alias", "bind", "compgen", "complete", "sched", "emulate":
		w.words(args, c.refusing(name+" runs its arguments as code", wayOut+` (and give `+name+` the variable in single quotes)`))
	case "source", ".":
		w.sourceArguments(args, c)
	case "test", "[", "[[":
		w.testWords(name, args, c)
	case "let", "exit", "return", "shift", "break", "continue":
		c.guard, c.single = quoting.GuardNumber, true
		w.words(args, c)
	case "export", "readonly", "declare", "typeset", "local", "integer", "float", "nameref":
		w.declareWords(name, args, c)
	case "unset", "getopts", "read", "mapfile", "readarray", "wait", "vared":
		w.variableNames(name, args, c)
	case "printf", "print":
		w.printfArguments(args, c)
	default:
		w.words(args, c)
	}
}

// sourceArguments walks the arguments of source. The shell runs the file, so the output of a process
// substitution is code.
func (w *walker) sourceArguments(args []*syntax.Word, c wordContext) {
	for _, arg := range args {
		a := c
		a.argument = true
		for _, p := range arg.Parts {
			if _, ok := p.(*syntax.ProcSubst); ok {
				a = a.refusing("the shell runs the output of this command", "give it a file name")
			}
		}
		w.word(arg, a)
	}
}

// textOptions returns the options of a builtin whose argument is text. The argument of any other
// option, and every other word, is the name of a variable.
func textOptions(builtin string) string {
	switch builtin {
	case "read":
		return "dinNptu"
	case "mapfile", "readarray":
		return "dnOsuc"
	}
	return ""
}

// variableNames walks the arguments of a builtin that takes names of variables.
func (w *walker) variableNames(builtin string, args []*syntax.Word, c wordContext) {
	c.single = true
	before := ""
	for i, arg := range args {
		a := c
		a.guard = quoting.GuardName
		switch option := quoting.FlagLetters(before); {
		case option != "" && strings.IndexByte(textOptions(builtin), option[len(option)-1]) >= 0:
			a.guard = quoting.GuardNone
		case option != "" && option[len(option)-1] == 'C' && builtin != "read":
			a = a.refusing(builtin+" -C runs its argument as code", "write the callback in the script")
		case builtin == "getopts" && i != 1:
			a.guard = quoting.GuardOption
		case builtin == "wait" && quoting.FlagLetters(before) != "p":
			a.guard = quoting.GuardOption
		}
		w.attachedOption(builtin, arg, &a)
		w.word(arg, a)
		before = literalWord(arg)
	}
}

// attachedOption handles a value that is joined to an option, as in -p{X}: it is the argument of the
// option.
func (w *walker) attachedOption(builtin string, arg *syntax.Word, a *wordContext) {
	lead := strings.Trim(literalPrefix(arg), `"'`)
	if len(lead) < 2 || lead[0] != '-' || len(w.markersIn(arg)) == 0 {
		return
	}
	if strings.IndexByte(textOptions(builtin), lead[1]) >= 0 {
		a.guard = quoting.GuardNone
	}
	if lead[1] == 'C' {
		*a = a.refusing(builtin+" -C runs its argument as code", "write the callback in the script")
	}
}

// printfArguments walks the arguments of printf. -v NAME can only come first, so the first word must
// not be an option.
func (w *walker) printfArguments(args []*syntax.Word, c wordContext) {
	guarded := c.guard
	before, options := "", true
	for _, arg := range args {
		a := c
		a.argument = !options || before != "--"
		markers := w.markersIn(arg)
		switch {
		case options && before == "-v":
			a.guard, a.single = quoting.GuardName, true
		case options && len(markers) > 0 && strings.HasPrefix(literalPrefix(arg), "-v"):
			a.guard, a.single = quoting.GuardName, true
		case options && len(markers) > 0 && before != "--":
			a.guard = max(guarded, quoting.GuardOption)
			if guarded == quoting.GuardNumber {
				a.guard = guarded
			}
		}
		w.word(arg, a)
		if len(markers) == 0 && before != "-v" && literalWord(arg) != "-v" && literalWord(arg) != "--" {
			options = false
		}
		before = literalWord(arg)
	}
}

// testWords walks the arguments of test and [, and of [[ where a POSIX parser reads it as a command.
// Each placeholder is exactly one word. Otherwise an operand could move to the place of an operator.
func (w *walker) testWords(name string, args []*syntax.Word, c wordContext) {
	c.single = true
	for i, arg := range args {
		before, after := "", ""
		if i > 0 {
			before = literalWord(args[i-1])
		}
		if i+1 < len(args) {
			after = literalWord(args[i+1])
		}
		a := c
		switch {
		case numericTest.Has(before) || numericTest.Has(after) || before == "-t":
			a.guard = quoting.GuardNumber
			if name == "[[" { // bash and dash accept only digits in test and [
				w.noteArithmeticVars(arg)
			}
		case before == "-v" || before == "-R":
			a.guard = quoting.GuardName
		case binaryTest.Has(before) || binaryTest.Has(after) || isUnaryTest(before) || len(args) == 1 || i == 0 && after == "]" && len(args) == 2:
			// an operand, which may be any text
		default:
			a.guard = quoting.GuardOption
		}
		w.word(arg, a)
	}
}

var (
	numericTest = quoting.WordSet{Words: "-eq -ne -lt -le -gt -ge"}
	binaryTest  = quoting.WordSet{Words: "= == != < > =~ -nt -ot -ef"}
)

func isUnaryTest(s string) bool {
	return len(s) == 2 && s[0] == '-' && syntax.ValidName(s[1:]) && s != "-a" && s != "-o"
}
