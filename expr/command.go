package expr

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluating holds the commands that read their arguments as code, as variable
// names or as arithmetic, in any of the sh-family shells. A value must never
// choose one of them.
var evaluating = setOf(`. source eval trap alias bind command builtin exec coproc
	declare typeset local export readonly integer float nameref let test [ [[ ((
	printf print read unset getopts mapfile readarray wait compgen complete compopt
	enable fc jobs set shopt exit return shift break continue ulimit
	autoload emulate functions noglob nocorrect sched vared whence zcompile zmodload zle - hash history`)

// codeVariables are evaluated by the shell each time it uses them.
var codeVariables = setOf("PS0 PS1 PS2 PS3 PS4 PROMPT PROMPT2 PROMPT_COMMAND BASH_ENV ENV")

// integerVariables are integers in bash, ksh or zsh without being declared:
// assigning to one calculates.
var integerVariables = setOf(`RANDOM SRANDOM SECONDS LINENO HISTCMD OPTIND EPOCHSECONDS COLUMNS LINES HISTSIZE
	SAVEHIST TMOUT MAILCHECK KEYTIMEOUT LISTMAX DIRSTACKSIZE SHLVL ERRNO UID GID EUID EGID TTYIDLE PPID`)

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for _, n := range strings.Fields(names) {
		set[n] = true
	}
	return set
}

func (w *walker) stmts(list []*syntax.Stmt, c place) {
	for _, s := range list {
		w.stmt(s, c)
	}
}

func (w *walker) stmt(s *syntax.Stmt, c place) {
	if s == nil {
		return
	}
	sourced := c
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		w.lintRedirects(call, s.Redirs)
		if name := literalWord(firstWord(call)); name == "source" || name == "." {
			sourced = c.refusing("the shell runs what it reads here", "name a file")
		}
	}
	for _, r := range s.Redirs {
		w.redirect(r, c, sourced)
	}
	w.command(s.Cmd, c)
}

// redirect walks a redirection. body is the place of what is read: code, where
// the command is source.
func (w *walker) redirect(r *syntax.Redirect, c, body place) {
	if c.printed {
		body.guard = guardNumber
	}
	if r.Hdoc == nil {
		if r.Op != syntax.WordHdoc {
			body = c
		}
		body.single = true
		w.word(r.Word, body)
		return
	}
	body.inner, body.heredoc = true, true
	if quotedDelimiter(r.Word) {
		body = body.refusing("a here-document with a quoted delimiter takes no variables", "remove the quotes around the delimiter, or "+wayOut)
	}
	w.word(r.Hdoc, body)
}

func quotedDelimiter(word *syntax.Word) bool {
	for _, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

// command walks a command. What is missing here (names of functions, of loop
// variables, of coprocesses) takes no hole: settle reports it.
func (w *walker) command(cmd syntax.Command, c place) {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		w.call(cmd, c)
	case *syntax.BinaryCmd:
		w.stmt(cmd.X, c)
		w.stmt(cmd.Y, c)
	case *syntax.Block:
		w.stmts(cmd.Stmts, c)
	case *syntax.Subshell:
		w.stmts(cmd.Stmts, c)
	case *syntax.IfClause:
		for clause := cmd; clause != nil; clause = clause.Else {
			w.stmts(clause.Cond, c)
			w.stmts(clause.Then, c)
		}
	case *syntax.WhileClause:
		w.stmts(cmd.Cond, c)
		w.stmts(cmd.Do, c)
	case *syntax.ForClause:
		w.loop(cmd.Loop, c)
		w.stmts(cmd.Do, c)
	case *syntax.CaseClause:
		w.word(cmd.Word, c.one())
		for _, item := range cmd.Items {
			for _, p := range item.Patterns {
				w.word(p, c.one())
			}
			w.stmts(item.Stmts, c)
		}
	case *syntax.FuncDecl:
		w.stmt(cmd.Body, c)
	case *syntax.ArithmCmd:
		w.arithmetic(cmd.X, c)
	case *syntax.LetClause:
		for _, x := range cmd.Exprs {
			w.letExpression(x, c)
		}
	case *syntax.TestClause:
		w.test(cmd.X, c)
	case *syntax.DeclClause:
		w.declare(cmd, c)
	case *syntax.TimeClause:
		w.stmt(cmd.Stmt, c)
	case *syntax.CoprocClause:
		w.stmt(cmd.Stmt, c)
	}
}

// one is the place of exactly one word that is no argument.
func (c place) one() place {
	c.single, c.argument = true, false
	return c
}

func (w *walker) loop(l syntax.Loop, c place) {
	switch l := l.(type) {
	case *syntax.WordIter:
		for _, item := range l.Items {
			w.word(item, c)
		}
	case *syntax.CStyleLoop:
		w.arithmetic(l.Init, c)
		w.arithmetic(l.Cond, c)
		w.arithmetic(l.Post, c)
	}
}

// letExpression: let takes words, so a number stands in quotes and not in
// parentheses, which would be shell syntax.
func (w *walker) letExpression(x syntax.ArithmExpr, c place) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok {
			if name := word.Lit(); isName(name) {
				w.sums[name] = true
			}
			c := c.one()
			c.guard = guardNumber
			w.word(word, c)
			return false
		}
		return true
	})
}

// test walks [[ ... ]].
func (w *walker) test(x syntax.TestExpr, c place) {
	c = c.one()
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			c.guard = guardNumber
			w.sumOf(x.X)
			w.sumOf(x.Y)
		}
		w.test(x.X, c)
		w.test(x.Y, c)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			c.guard = guardName
		}
		w.test(x.X, c)
	case *syntax.ParenTest:
		w.test(x.X, c)
	case *syntax.Word:
		w.word(x, c)
	}
}

// sumOf notes variables that [[ ... -eq ... ]] calculates with.
func (w *walker) sumOf(x syntax.TestExpr) {
	word, ok := x.(*syntax.Word)
	if !ok {
		return
	}
	syntax.Walk(word, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.ParamExp); ok && e.Param != nil {
			w.sums[e.Param.Value] = true
		}
		return true
	})
}

// assign walks NAME=value, NAME[i]=value and NAME=(...). scalar is the guard of a
// plain value.
func (w *walker) assign(a *syntax.Assign, c place, scalar guard) {
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	c = c.one()
	w.arithmetic(a.Index, c)
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			w.arithmetic(e.Index, c)
			element := c
			element.single = e.Index != nil
			if w.integers[name] {
				element.single, element.guard = true, guardNumber
			}
			w.word(e.Value, element)
		}
	}
	if a.Value == nil {
		return
	}
	w.assignValue(name, a.Value, c, scalar)
}

func (w *walker) assignValue(name string, value *syntax.Word, c place, scalar guard) {
	c = c.one()
	c.guard = scalar
	switch {
	case codeVariables[name]:
		c = c.refusing("the shell runs what is in $"+name, "give it a fixed text")
	case w.calculates(name):
		c.guard = guardNumber
	default:
		for _, p := range w.inNode(value) {
			if scalar != guardNumber && name != "" {
				w.copies[name] = p.hole
			}
		}
	}
	w.word(value, c)
}

func (w *walker) calculates(name string) bool {
	return w.integers[name] || integerVariables[name]
}

// declare walks export, declare, local and their like.
func (w *walker) declare(d *syntax.DeclClause, c place) {
	flags := ""
	for _, a := range d.Args {
		if a.Name == nil && a.Value != nil {
			flags += flagLetters(a.Value.Lit())
		}
	}
	scalar := declaredGuard(flags)
	for _, a := range d.Args {
		switch {
		case a.Name == nil:
			w.declareWord(a.Value, c, scalar)
		case a.Naked && a.Index == nil && len(w.inNode(a.Name)) > 0:
			w.declaredName(a.Name, c)
		default:
			w.assign(a, c, scalar)
		}
	}
}

// declaredName walks the bare {X} of export {X}.
func (w *walker) declaredName(name *syntax.Lit, c place) {
	c = c.one()
	c.guard = guardName
	w.word(&syntax.Word{Parts: []syntax.WordPart{name}}, c)
}

func flagLetters(word string) string {
	if len(word) > 1 && (word[0] == '-' || word[0] == '+') {
		return word[1:]
	}
	return ""
}

// declaredGuard is what a declared variable's value must prove.
func declaredGuard(flags string) guard {
	switch {
	case strings.ContainsAny(flags, "iEF"):
		return guardNumber
	case strings.Contains(flags, "n"):
		return guardName
	}
	return guardScalar
}

// declareWord walks an argument of declare that is no plain assignment: a name, a
// flag, or an assignment in quotes ("NAME={X}").
func (w *walker) declareWord(word *syntax.Word, c place, scalar guard) {
	if word == nil {
		return
	}
	c = c.one()
	holes := w.inNode(word)
	if len(holes) == 0 {
		w.word(word, c)
		return
	}
	name, assigns := w.assignedName(word, holes[0])
	switch {
	case assigns:
		w.assignValue(name, word, c, scalar)
	case wholeHole(word, holes):
		c.guard = guardName
		w.word(word, c)
	default:
		w.word(word, c.refusing("it would be part of a declaration", "write NAME={X}"))
	}
}

// assignedName reads the NAME of a word that begins NAME= or "NAME=, before its
// first hole.
func (w *walker) assignedName(word *syntax.Word, first placed) (string, bool) {
	lead := strings.TrimLeft(w.text[word.Pos().Offset():first.off], `"'`)
	name, _, ok := strings.Cut(lead, "=")
	name = strings.TrimSuffix(name, "+")
	return name, ok && isName(name)
}

// wholeHole reports whether a word is one hole and nothing else, quotes aside.
func wholeHole(word *syntax.Word, holes []placed) bool {
	if len(holes) != 1 || len(word.Parts) != 1 {
		return false
	}
	switch p := word.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value == holes[0].name
	case *syntax.SglQuoted:
		return p.Value == holes[0].name
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 {
			lit, ok := p.Parts[0].(*syntax.Lit)
			return ok && lit.Value == holes[0].name
		}
	}
	return false
}

// findIntegers collects the variables that are declared as integers anywhere.
func (w *walker) findIntegers(file *syntax.File) {
	if !strings.Contains(w.text, "declare") && !strings.Contains(w.text, "typeset") &&
		!strings.Contains(w.text, "local") && !strings.Contains(w.text, "readonly") &&
		!strings.Contains(w.text, "export") && !strings.Contains(w.text, "integer") {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DeclClause:
			w.integerNames(n)
		case *syntax.CallExpr:
			w.integerWords(n)
		}
		return true
	})
}

func (w *walker) integerNames(d *syntax.DeclClause) {
	flags := ""
	for _, a := range d.Args {
		if a.Name == nil {
			flags += flagLetters(a.Value.Lit())
			continue
		}
		if strings.ContainsAny(flags, "iEF") {
			w.integers[a.Name.Value] = true
		}
	}
}

// integerWords is integerNames for a declaration that the parser takes for a
// plain command: local in a POSIX script, command declare.
func (w *walker) integerWords(call *syntax.CallExpr) {
	flags := ""
	for i, arg := range call.Args {
		lit := arg.Lit()
		if lit == "integer" && i == 0 {
			flags = "i"
		}
		flags += flagLetters(lit)
		name, _, _ := strings.Cut(lit, "=")
		if strings.ContainsAny(flags, "iEF") && isName(name) {
			w.integers[name] = true
		}
	}
}

func firstWord(call *syntax.CallExpr) *syntax.Word {
	if len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}

// literalWord is the text of a word that is nothing but text, with its quotes and
// backslashes taken away: \eval and "eval" are eval.
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

// call walks a simple command: assignments, the command's name, arguments.
func (w *walker) call(call *syntax.CallExpr, c place) {
	for _, a := range call.Assigns {
		w.assign(a, c, guardNone)
	}
	args := call.Args
	if len(args) > 0 && strings.Contains(literalPrefix(args[0]), "[") && strings.Contains(literalWord(args[0]), "=") {
		// a[{I}]=x, which a POSIX parser takes for a command
		w.word(args[0], c.refusing("it would be an array subscript", wayOut))
		args = args[1:]
	}
	w.lintArguments(args)
	var leads []*hole
	for i := 0; i < len(args); i++ {
		holes := w.inNode(args[i])
		if len(holes) == 0 {
			if skip := wrapped(args[i:]); skip > 0 {
				w.words(args[i:i+skip], c)
				i += skip - 1
				continue
			}
			w.word(args[i], c)
			w.arguments(literalWord(args[i]), args[i+1:], c)
			return
		}
		w.program(args[i], holes, c, leads)
		if !wholeHole(args[i], holes) {
			w.arguments("", args[i+1:], c)
			return
		}
		leads = append(leads, holes[0].hole)
		if _, bare := args[i].Parts[0].(*syntax.Lit); !bare {
			w.arguments("", args[i+1:], c) // a quoted word does not vanish
			return
		}
		if i+1 < len(args) && len(w.inNode(args[i+1])) == 0 && wrapped(args[i+1:]) == 0 {
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

// wrapped reports how many leading words only say how the next one, the real
// command, is looked up: command, builtin and exec with their options.
func wrapped(args []*syntax.Word) int {
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

// program walks the name of a command that holds a value.
func (w *walker) program(word *syntax.Word, holes []placed, c place, leads []*hole) {
	p := c
	p.guard, p.leads = guardProgram, slices.Clone(leads)
	if len(leads) > 0 {
		p.argument = true
	}
	if !wholeHole(word, holes) {
		lead := w.text[word.Pos().Offset():holes[0].off]
		tail := w.text[holes[0].off+len(holes[0].name) : word.End().Offset()]
		switch {
		case strings.Contains(lead, "/") || strings.HasPrefix(tail, "/"):
			p.guard = guardNone // a path is never a builtin
		case len(holes) == 1 && isProgramText(lead) && isProgramText(tail):
			p.prefix, p.suffix = lead, tail
		default:
			p = p.refusing("the name of the command cannot be known", wayOut)
		}
	}
	w.word(word, p)
}

// isProgramText reports whether s is text without quotes and expansions.
func isProgramText(s string) bool {
	return !strings.ContainsAny(s, "$`'\"\\")
}

// words walks arguments nobody evaluates. The dash rule ends at "--".
func (w *walker) words(args []*syntax.Word, c place) {
	c.argument = true
	for _, arg := range args {
		w.word(arg, c)
		if literalWord(arg) == "--" {
			c.argument = false
		}
	}
}

// arguments walks the arguments of a command by name.
func (w *walker) arguments(name string, args []*syntax.Word, c place) {
	if c.printed && (name == "echo" || name == "printf" || name == "print") {
		c.guard, c.single = guardNumber, true
	}
	switch name {
	case "eval", "trap", "alias", "bind", "compgen", "complete", "sched", "emulate":
		w.words(args, c.refusing(name+" reads its arguments as code", wayOut+` (and give `+name+` the variable in single quotes)`))
	case "source", ".":
		w.sources(args, c)
	case "test", "[", "[[":
		w.testWords(args, c)
	case "let", "exit", "return", "shift", "break", "continue":
		c.guard, c.single = guardNumber, true
		w.words(args, c)
	case "export", "readonly", "declare", "typeset", "local", "integer", "float", "nameref":
		w.declareWords(name, args, c)
	case "unset", "getopts", "read", "mapfile", "readarray", "wait", "vared":
		w.names(name, args, c)
	case "printf", "print":
		w.printf(args, c)
	default:
		w.words(args, c)
	}
}

// sources: the shell runs the file; what a process substitution prints is code.
func (w *walker) sources(args []*syntax.Word, c place) {
	for _, arg := range args {
		a := c
		a.argument = true
		for _, p := range arg.Parts {
			if _, ok := p.(*syntax.ProcSubst); ok {
				a = a.refusing("the shell runs what is printed here", "name a file")
			}
		}
		w.word(arg, a)
	}
}

func (w *walker) declareWords(name string, args []*syntax.Word, c place) {
	flags := ""
	for _, arg := range args {
		flags += flagLetters(literalWord(arg))
	}
	switch name {
	case "integer", "float":
		flags += "i"
	case "nameref":
		flags += "n"
	}
	for _, arg := range args {
		w.declareWord(arg, c, declaredGuard(flags))
	}
}

// textOptions are the options of a builtin whose argument is text; the argument
// of any other option, and every other word, is the name of a variable.
var textOptions = map[string]string{
	"read": "dinNptu", "mapfile": "dnOsuc", "readarray": "dnOsuc",
}

// names walks the arguments of a builtin that takes names of variables.
func (w *walker) names(builtin string, args []*syntax.Word, c place) {
	c.single = true
	before := ""
	for i, arg := range args {
		a := c
		a.guard = guardName
		switch option := flagLetters(before); {
		case option != "" && strings.IndexByte(textOptions[builtin], option[len(option)-1]) >= 0:
			a.guard = guardNone
		case option != "" && option[len(option)-1] == 'C' && builtin != "read":
			a = a.refusing(builtin+" -C takes code", wayOut)
		case builtin == "getopts" && i != 1:
			a.guard = guardOption
		case builtin == "wait" && flagLetters(before) != "p":
			a.guard = guardOption
		}
		w.attached(builtin, arg, &a)
		w.word(arg, a)
		before = literalWord(arg)
	}
}

// attached: in -p{X} the text belongs to the option.
func (w *walker) attached(builtin string, arg *syntax.Word, a *place) {
	lead := strings.Trim(literalPrefix(arg), `"'`)
	if len(lead) < 2 || lead[0] != '-' || len(w.inNode(arg)) == 0 {
		return
	}
	if strings.IndexByte(textOptions[builtin], lead[1]) >= 0 {
		a.guard = guardNone
	}
	if lead[1] == 'C' {
		*a = a.refusing(builtin+" -C takes code", wayOut)
	}
}

// printf: -v NAME comes first, so what stands first must be no option.
func (w *walker) printf(args []*syntax.Word, c place) {
	guarded := c.guard
	before, options := "", true
	for _, arg := range args {
		a := c
		a.argument = !options || before != "--"
		holes := w.inNode(arg)
		switch {
		case options && before == "-v":
			a.guard, a.single = guardName, true
		case options && len(holes) > 0 && strings.HasPrefix(literalPrefix(arg), "-v"):
			a.guard, a.single = guardName, true
		case options && len(holes) > 0 && before != "--":
			a.guard = max(guarded, guardOption)
			if guarded == guardNumber {
				a.guard = guarded
			}
		}
		w.word(arg, a)
		if len(holes) == 0 && before != "-v" && literalWord(arg) != "-v" && literalWord(arg) != "--" {
			options = false
		}
		before = literalWord(arg)
	}
}

// testWords walks the arguments of test and [, and of [[ where a POSIX parser
// takes it for a command. Each hole is exactly one word, so that no operand
// moves into the place of an operator.
func (w *walker) testWords(args []*syntax.Word, c place) {
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
		case numericTest[before] || numericTest[after] || before == "-t":
			a.guard = guardNumber
			w.sumOf(arg)
		case before == "-v" || before == "-R":
			a.guard = guardName
		case binaryTest[before] || binaryTest[after] || isUnaryTest(before) || len(args) == 1 || i == 0 && after == "]" && len(args) == 2:
			// an operand, whatever it says
		default:
			a.guard = guardOption
		}
		w.word(arg, a)
	}
}

var (
	numericTest = setOf("-eq -ne -lt -le -gt -ge")
	binaryTest  = setOf("= == != < > =~ -nt -ot -ef")
)

func isUnaryTest(s string) bool {
	return len(s) == 2 && s[0] == '-' && isNameStart(s[1]) && s != "-a" && s != "-o"
}
