package sh

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/os/codeenv"
)

// taint follows values through the variables of a script. A value is data at its own place, but a
// script can copy it to a variable and have the copy read as code. taint warns if a value reaches
// something that reads code. It ignores the order of the script: a variable that is assigned a
// value anywhere counts everywhere.
type taint struct {
	*walker
	variables  map[string]*quoting.Placeholder // variables that hold a value
	positional *quoting.Placeholder            // the value in $1, $2 ...: assigned by set --, or by the call of a function
	funcs      map[string]bool
}

// lintTaint warns of values that become code of the script, or of a program that it starts.
func (w *walker) lintTaint(file *syntax.File) {
	t := &taint{walker: w, variables: map[string]*quoting.Placeholder{}, funcs: map[string]bool{}}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			t.funcs[f.Name.Value] = true
		}
		return true
	})
	for before := -1; before != t.count(); { // repeat until no copy of a copy is found
		before = t.count()
		syntax.Walk(file, func(n syntax.Node) bool { t.propagate(n); return true })
	}
	t.warnArithmetic()
	syntax.Walk(file, func(n syntax.Node) bool { t.warnSink(n); return true })
}

func (t *taint) count() int {
	if t.positional != nil {
		return len(t.variables) + 1
	}
	return len(t.variables)
}

// markVariable records that a variable holds a value. It ignores nil.
func (t *taint) markVariable(name string, ph *quoting.Placeholder) {
	if ph != nil && syntax.ValidName(name) && t.variables[name] == nil && !t.calculates(name) {
		t.variables[name] = ph
	}
}

// propagate records the variables to which a node copies values.
func (t *taint) propagate(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name == nil {
			return
		}
		if n.Value != nil {
			t.markVariable(n.Name.Value, t.inWord(n.Value))
		}
		if n.Array != nil {
			for _, e := range n.Array.Elems {
				if e.Value != nil {
					t.markVariable(n.Name.Value, t.inWord(e.Value))
				}
			}
		}
	case *syntax.WordIter:
		for _, item := range n.Items {
			t.markVariable(n.Name.Value, t.inWord(item))
		}
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && n.Exp.Word != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			t.markVariable(n.Param.Value, t.inWord(n.Exp.Word))
		}
	case *syntax.CallExpr:
		t.propagateCall(n)
	case *syntax.Stmt:
		if call, ok := n.Cmd.(*syntax.CallExpr); ok && literalWord(firstWord(call)) == "read" {
			t.markReadVariables(call, t.inRedirects(n))
		}
	case *syntax.BinaryCmd:
		if call := callOf(n.Y); call != nil && isPipe(n.Op) && literalWord(firstWord(call)) == "read" {
			t.markReadVariables(call, t.printedBy(n.X))
		}
	}
}

func (t *taint) propagateCall(call *syntax.CallExpr) {
	name := literalWord(firstWord(call))
	if name != "set" && name != "printf" && !t.funcs[name] {
		return
	}
	ph := t.inWords(call.Args[1:])
	switch {
	case ph == nil:
	case name == "printf":
		if len(call.Args) > 2 && literalWord(call.Args[1]) == "-v" {
			t.markVariable(literalWord(call.Args[2]), ph)
		}
	case t.positional == nil:
		t.positional = ph
	}
}

// markReadVariables records that the variables of read hold the value.
func (t *taint) markReadVariables(call *syntax.CallExpr, ph *quoting.Placeholder) {
	for _, arg := range call.Args[1:] {
		t.markVariable(literalWord(arg), ph)
	}
}

// inWords returns a value that one of the words holds, nil if there is none.
func (t *taint) inWords(words []*syntax.Word) *quoting.Placeholder {
	for _, word := range words {
		if ph := t.inWord(word); ph != nil {
			return ph
		}
	}
	return nil
}

// inWord returns a value that a word holds, directly or in a variable, nil if there is none.
func (t *taint) inWord(word *syntax.Word) *quoting.Placeholder {
	if word == nil {
		return nil
	}
	return t.inParts(word.Parts)
}

func (t *taint) inParts(parts []syntax.WordPart) *quoting.Placeholder {
	for _, p := range parts {
		var ph *quoting.Placeholder
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			ph = t.inLiteral(p)
		case *syntax.DblQuoted:
			ph = t.inParts(p.Parts)
		case *syntax.ParamExp:
			ph = t.inExpansion(p)
		case *syntax.CmdSubst:
			if len(p.Stmts) == 1 {
				ph = t.printedBy(p.Stmts[0])
			}
		}
		if ph != nil {
			return ph
		}
	}
	return nil
}

// inLiteral returns a placeholder in a node, unless a guard makes its value harmless.
func (t *taint) inLiteral(n syntax.Node) *quoting.Placeholder {
	for _, p := range t.markersIn(n) {
		if p.Placeholder.MayHoldText && p.pos.Guard != quoting.GuardNumber && p.pos.Guard != quoting.GuardName {
			return p.Placeholder
		}
	}
	return nil
}

func (t *taint) inExpansion(e *syntax.ParamExp) *quoting.Placeholder {
	if e.Length || e.Param == nil {
		return nil
	}
	if ph := t.inVariable(e.Param.Value); ph != nil {
		return ph
	}
	if e.Exp != nil {
		return t.inWord(e.Exp.Word)
	}
	return nil
}

// inVariable returns the value of a variable or positional parameter, nil if there is none.
func (t *taint) inVariable(name string) *quoting.Placeholder {
	if name == "@" || name == "*" || name != "0" && strings.Trim(name, "0123456789") == "" {
		return t.positional
	}
	return t.variables[name]
}

// printedBy returns a value that a statement prints unchanged: with echo or printf, or with cat and a
// here-document.
func (t *taint) printedBy(s *syntax.Stmt) *quoting.Placeholder {
	call := callOf(s)
	if call == nil {
		return nil
	}
	switch literalWord(firstWord(call)) {
	case "echo", "printf":
		return t.inWords(call.Args[1:])
	case "cat":
		return t.inRedirects(s)
	}
	return nil
}

// inRedirects returns a value in a here-document or here-string.
func (t *taint) inRedirects(s *syntax.Stmt) *quoting.Placeholder {
	for _, r := range s.Redirs {
		switch {
		case r.Hdoc != nil:
			if ph := t.inWord(r.Hdoc); ph != nil {
				return ph
			}
		case r.Op == syntax.WordHdoc:
			if ph := t.inWord(r.Word); ph != nil {
				return ph
			}
		}
	}
	return nil
}

func callOf(s *syntax.Stmt) *syntax.CallExpr {
	if s == nil {
		return nil
	}
	call, _ := s.Cmd.(*syntax.CallExpr)
	return call
}

func isPipe(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }

// warnArithmetic warns of variables that hold a value and with which the script calculates. The
// value is a copy, which the guard of the placeholder cannot check.
func (t *taint) warnArithmetic() {
	for name := range t.arithmeticVars {
		if ph := t.inVariable(name); ph != nil {
			t.warn(quoting.Problem{Placeholder: ph, Kind: quoting.Calculated, Hint: "declare the parameter as type: number",
				Message: "the script uses $" + name + ", which gets its value from " + ph.Name + ", in arithmetic, where text can run commands"})
		}
	}
}

// warnSink warns of a value in a node that reads code.
func (t *taint) warnSink(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ParamExp:
		t.warnIndirect(n)
	case *syntax.Assign:
		switch {
		case n.Name == nil || n.Value == nil:
		case codeenv.Evaluated(n.Name.Value): // a value written here directly is refused
			t.warnCopies(n.Value, "the program that reads $"+n.Name.Value)
		case codeenv.RunsCode(n.Name.Value):
			t.warnCode(n.Value, "the program that reads $"+n.Name.Value)
		}
	case *syntax.UnaryTest:
		if word, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			t.warnCopies(word, "[[ "+n.Op.String()) // a value written here directly must be a name
		}
	case *syntax.DeclClause:
		t.warnDeclaration(n)
	case *syntax.CallExpr:
		t.warnCall(n.Args)
	case *syntax.Stmt:
		if call := callOf(n); call != nil {
			t.warnInput(call, t.inRedirects(n))
		}
	case *syntax.BinaryCmd:
		if call := callOf(n.Y); call != nil && isPipe(n.Op) {
			t.warnInput(call, t.printedBy(n.X))
		}
	}
}

// warnIndirect warns of ${!v} and ${v@P}.
func (t *taint) warnIndirect(e *syntax.ParamExp) {
	if e.Param == nil {
		return
	}
	ph := t.inVariable(e.Param.Value)
	switch {
	case ph == nil:
	case e.Excl && e.Names == 0 && !wholeArray(e.Index):
		t.warnUsedAsCode(ph, "${!"+e.Param.Value+"}")
	case e.Exp != nil && e.Exp.Op == syntax.OtherParamOps && e.Exp.Word.Lit() == "P":
		t.warnUsedAsCode(ph, "${"+e.Param.Value+"@P}")
	}
}

// wholeArray reports whether the index is @ or *: ${!a[@]} lists keys.
func wholeArray(index syntax.ArithmExpr) bool {
	word, ok := index.(*syntax.Word)
	return ok && (word.Lit() == "@" || word.Lit() == "*")
}

// warnDeclaration warns of copies in names that are declared, and in values that declare -n reads as
// names. Values written there directly are checked.
func (t *taint) warnDeclaration(d *syntax.DeclClause) {
	flags := ""
	for _, a := range d.Args {
		switch {
		case a.Name == nil && a.Value != nil:
			flags += quoting.FlagLetters(a.Value.Lit())
			t.warnCopies(a.Value, d.Variant.Value)
		case a.Value != nil && (strings.Contains(flags, "n") || d.Variant.Value == "nameref"):
			t.warnCopies(a.Value, d.Variant.Value+" -n")
		}
	}
}

// warnCopies warns of a value that a word holds in a variable. A value written in the word directly is
// refused, or checked when the script runs.
func (t *taint) warnCopies(word *syntax.Word, program string) {
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmExp:
			return false
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length {
				if ph := t.inVariable(n.Param.Value); ph != nil {
					t.warnUsedAsCode(ph, program)
				}
			}
		}
		return true
	})
}

// warnCode warns of any value in a word that a program reads as code.
func (t *taint) warnCode(word *syntax.Word, program string) {
	for _, p := range t.markersIn(word) {
		if p.Placeholder.MayHoldText {
			t.warnUsedAsCode(p.Placeholder, program)
		}
	}
	t.warnCopies(word, program)
}

// warnCall warns of values in the arguments of a command that evaluates them.
func (t *taint) warnCall(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	if n := commandPrefixLen(args); n > 0 {
		args = args[min(n, len(args)-1):]
	}
	name, rest := literalWord(args[0]), args[1:]
	switch name {
	case "eval", "alias", "bind", "compgen", "complete":
		for _, arg := range rest {
			t.warnCopies(arg, name)
		}
	case "trap":
		if len(rest) > 0 {
			t.warnCopies(rest[0], name)
		}
	case "test", "[":
		for i, arg := range rest {
			if before := literalWord(rest[max(i-1, 0)]); i > 0 && (before == "-v" || before == "-R") {
				t.warnCopies(arg, name+" "+before)
			}
		}
	case "printf":
		if len(rest) > 1 && literalWord(rest[0]) == "-v" {
			t.warnCopies(rest[1], "printf -v")
		}
	case "read", "mapfile", "readarray", "unset", "getopts":
		t.warnNames(name, rest)
	default:
		t.lintArguments(args)
	}
}

// warnNames warns of values in words that are names of variables.
func (t *taint) warnNames(builtin string, args []*syntax.Word) {
	before := ""
	for _, arg := range args {
		option := quoting.FlagLetters(before)
		if option == "" || strings.IndexByte(textOptions(builtin), option[len(option)-1]) < 0 {
			t.warnCopies(arg, builtin)
		}
		before = literalWord(arg)
	}
}

// warnInput warns of a value that a program reads as code from its standard input, or that xargs
// passes on as an argument that is code.
func (t *taint) warnInput(call *syntax.CallExpr, ph *quoting.Placeholder) {
	if ph == nil || len(call.Args) == 0 {
		return
	}
	name := path.Base(literalWord(call.Args[0]))
	if name == "xargs" {
		if xargsRunsCode(call.Args[1:]) {
			t.warnUsedAsCode(ph, name)
		}
		return
	}
	if _, coded := quoting.CodeOptions(name); !coded {
		return
	}
	for i, arg := range call.Args[1:] {
		if lit := literalWord(arg); !strings.HasPrefix(lit, "-") || lit == "-c" || lit == "-e" {
			if name == "sqlite3" && i == 0 || lit == "-" {
				continue // the database; standard input
			}
			return // the program is named, so the input is data
		}
	}
	t.warnUsedAsCode(ph, name)
}

// xargsRunsCode reports whether the command of xargs reads as code what xargs adds: after -c, or in the
// text there.
func xargsRunsCode(args []*syntax.Word) bool {
	replace := ""
	for i, arg := range args {
		lit := literalWord(arg)
		if rest, ok := strings.CutPrefix(lit, "-I"); ok {
			replace = rest
			if rest == "" && i+1 < len(args) {
				replace = literalWord(args[i+1])
			}
		}
		letters, coded := quoting.CodeOptions(path.Base(lit))
		if !coded {
			continue
		}
		for k, option := range args[i+1:] {
			if flags := quoting.FlagLetters(literalWord(option)); flags == "" || !strings.ContainsAny(flags, letters) {
				continue
			}
			code := args[i+1+k+1:]
			return len(code) == 0 || replace != "" && strings.Contains(literalWord(code[0]), replace)
		}
	}
	return false
}

// warn adds a warning, unless it was added before.
func (w *walker) warn(p quoting.Problem) {
	if !slices.Contains(w.problems, p) {
		w.problems = append(w.problems, p)
	}
}
