package expr

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/internal/codeenv"
	"mvdan.cc/sh/v3/syntax"
)

// A value is data where it stands, but a script can copy it into a variable and have the
// copy read as code. taint follows values through the assignments of a script, and warns
// where one arrives at something that reads code. It does not follow the order of the
// script: a variable that takes a value anywhere counts everywhere.
type taint struct {
	*walker
	vars  map[string]*hole // variables that hold a value
	args  *hole            // $1, $2 ...: set by set --, or by a call of a function
	funcs map[string]bool
}

// lintTaint warns of values that become code of the script, or of a program in it.
func (w *walker) lintTaint(file *syntax.File) {
	t := &taint{walker: w, vars: map[string]*hole{}, funcs: map[string]bool{}}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			t.funcs[f.Name.Value] = true
		}
		return true
	})
	for before := -1; before != t.count(); { // a copy of a copy
		before = t.count()
		syntax.Walk(file, func(n syntax.Node) bool { t.spread(n); return true })
	}
	t.sumsOf()
	syntax.Walk(file, func(n syntax.Node) bool { t.sink(n); return true })
}

func (t *taint) count() int {
	if t.args != nil {
		return len(t.vars) + 1
	}
	return len(t.vars)
}

// taints gives a variable a value; nil is none.
func (t *taint) taints(name string, h *hole) {
	if h != nil && isName(name) && t.vars[name] == nil && !t.calculates(name) {
		t.vars[name] = h
	}
}

// spread notes what a node copies.
func (t *taint) spread(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name == nil {
			return
		}
		if n.Value != nil {
			t.taints(n.Name.Value, t.of(n.Value))
		}
		if n.Array != nil {
			for _, e := range n.Array.Elems {
				if e.Value != nil {
					t.taints(n.Name.Value, t.of(e.Value))
				}
			}
		}
	case *syntax.WordIter:
		for _, item := range n.Items {
			t.taints(n.Name.Value, t.of(item))
		}
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && n.Exp.Word != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			t.taints(n.Param.Value, t.of(n.Exp.Word))
		}
	case *syntax.CallExpr:
		t.spreadCall(n)
	case *syntax.Stmt:
		if call, ok := n.Cmd.(*syntax.CallExpr); ok && literalWord(firstWord(call)) == "read" {
			t.read(call, t.redirected(n))
		}
	case *syntax.BinaryCmd:
		if call := callOf(n.Y); call != nil && isPipe(n.Op) && literalWord(firstWord(call)) == "read" {
			t.read(call, t.printed(n.X))
		}
	}
}

func (t *taint) spreadCall(call *syntax.CallExpr) {
	name := literalWord(firstWord(call))
	if name != "set" && name != "printf" && !t.funcs[name] {
		return
	}
	h := t.any(call.Args[1:])
	switch {
	case h == nil:
	case name == "printf":
		if len(call.Args) > 2 && literalWord(call.Args[1]) == "-v" {
			t.taints(literalWord(call.Args[2]), h)
		}
	case t.args == nil:
		t.args = h
	}
}

// read gives the variables of read what it reads.
func (t *taint) read(call *syntax.CallExpr, h *hole) {
	for _, arg := range call.Args[1:] {
		t.taints(literalWord(arg), h)
	}
}

// any is a value in one of the words, nil for none.
func (t *taint) any(words []*syntax.Word) *hole {
	for _, word := range words {
		if h := t.of(word); h != nil {
			return h
		}
	}
	return nil
}

// of is a value that a word holds, itself or through a variable, nil for none.
func (t *taint) of(word *syntax.Word) *hole {
	if word == nil {
		return nil
	}
	return t.parts(word.Parts)
}

func (t *taint) parts(parts []syntax.WordPart) *hole {
	for _, p := range parts {
		var h *hole
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			h = t.direct(p)
		case *syntax.DblQuoted:
			h = t.parts(p.Parts)
		case *syntax.ParamExp:
			h = t.expanded(p)
		case *syntax.CmdSubst:
			if len(p.Stmts) == 1 {
				h = t.printed(p.Stmts[0])
			}
		}
		if h != nil {
			return h
		}
	}
	return nil
}

// direct is the reference that stands in a node, unless a guard leaves nothing to fear.
func (t *taint) direct(n syntax.Node) *hole {
	for _, p := range t.inNode(n) {
		if p.hole.mayVary() && p.pos.guard != guardNumber && p.pos.guard != guardName {
			return p.hole
		}
	}
	return nil
}

func (t *taint) expanded(e *syntax.ParamExp) *hole {
	if e.Length || e.Param == nil {
		return nil
	}
	if h := t.named(e.Param.Value); h != nil {
		return h
	}
	if e.Exp != nil {
		return t.of(e.Exp.Word)
	}
	return nil
}

// named is the value of a variable, or of a positional parameter.
func (t *taint) named(name string) *hole {
	if name == "@" || name == "*" || name != "0" && strings.Trim(name, "0123456789") == "" {
		return t.args
	}
	return t.vars[name]
}

// printed is a value that a statement prints as it is: with echo or printf, or cat and a
// here-document.
func (t *taint) printed(s *syntax.Stmt) *hole {
	call := callOf(s)
	if call == nil {
		return nil
	}
	switch literalWord(firstWord(call)) {
	case "echo", "printf":
		return t.any(call.Args[1:])
	case "cat":
		return t.redirected(s)
	}
	return nil
}

// redirected is a value in a here-document or here-string.
func (t *taint) redirected(s *syntax.Stmt) *hole {
	for _, r := range s.Redirs {
		switch {
		case r.Hdoc != nil:
			if h := t.of(r.Hdoc); h != nil {
				return h
			}
		case r.Op == syntax.WordHdoc:
			if h := t.of(r.Word); h != nil {
				return h
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

// sumsOf warns of a variable that the script calculates with, and that holds a value: the
// copy is the script's own and beyond what a placeholder can check.
func (t *taint) sumsOf() {
	for name := range t.sums {
		if h := t.named(name); h != nil {
			p := problemf(CodeArithmetic, h.off, h.len, "declare the parameter with type: number",
				"the script calculates with $%s, which takes its value from %s: text there can run commands", name, h.name())
			t.warn(p)
		}
	}
}

// sink warns of a value in a node that reads code.
func (t *taint) sink(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ParamExp:
		t.indirect(n)
	case *syntax.Assign:
		switch {
		case n.Name == nil || n.Value == nil:
		case codeenv.Evaluated(n.Name.Value): // a value that stands there itself is refused
			t.copied(n.Value, "what reads $"+n.Name.Value)
		case codeenv.Runs(n.Name.Value):
			t.code(n.Value, "what reads $"+n.Name.Value)
		}
	case *syntax.UnaryTest:
		if word, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			t.copied(word, "[[ "+n.Op.String()) // what stands there itself must be a name
		}
	case *syntax.DeclClause:
		t.declares(n)
	case *syntax.CallExpr:
		t.call(n.Args)
	case *syntax.Stmt:
		if call := callOf(n); call != nil {
			t.input(call, t.redirected(n))
		}
	case *syntax.BinaryCmd:
		if call := callOf(n.Y); call != nil && isPipe(n.Op) {
			t.input(call, t.printed(n.X))
		}
	}
}

// indirect: ${!v} and ${v@P}.
func (t *taint) indirect(e *syntax.ParamExp) {
	if e.Param == nil {
		return
	}
	h := t.named(e.Param.Value)
	switch {
	case h == nil:
	case e.Excl && e.Names == 0 && !wholeArray(e.Index):
		t.lint(h, "${!"+e.Param.Value+"}")
	case e.Exp != nil && e.Exp.Op == syntax.OtherParamOps && e.Exp.Word.Lit() == "P":
		t.lint(h, "${"+e.Param.Value+"@P}")
	}
}

// wholeArray: ${!a[@]} lists keys.
func wholeArray(index syntax.ArithmExpr) bool {
	word, ok := index.(*syntax.Word)
	return ok && (word.Lit() == "@" || word.Lit() == "*")
}

// declares: a name, or what -n takes for one. What stands there itself is checked.
func (t *taint) declares(d *syntax.DeclClause) {
	flags := ""
	for _, a := range d.Args {
		switch {
		case a.Name == nil && a.Value != nil:
			flags += flagLetters(a.Value.Lit())
			t.copied(a.Value, d.Variant.Value)
		case a.Value != nil && (strings.Contains(flags, "n") || d.Variant.Value == "nameref"):
			t.copied(a.Value, d.Variant.Value+" -n")
		}
	}
}

// copied warns of a value that arrives in a word through a variable. One that stands there
// itself is refused, or checked when it runs.
func (t *taint) copied(word *syntax.Word, program string) {
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmExp:
			return false
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length {
				if h := t.named(n.Param.Value); h != nil {
					t.lint(h, program)
				}
			}
		}
		return true
	})
}

// code warns of any value in a word that a program reads as code.
func (t *taint) code(word *syntax.Word, program string) {
	for _, p := range t.inNode(word) {
		if p.hole.mayVary() {
			t.lint(p.hole, program)
		}
	}
	t.copied(word, program)
}

// call warns of values in the arguments of what evaluates them.
func (t *taint) call(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	if n := wrapped(args); n > 0 {
		args = args[min(n, len(args)-1):]
	}
	name, rest := literalWord(args[0]), args[1:]
	switch name {
	case "eval", "alias", "bind", "compgen", "complete":
		for _, arg := range rest {
			t.copied(arg, name)
		}
	case "trap":
		if len(rest) > 0 {
			t.copied(rest[0], name)
		}
	case "test", "[":
		for i, arg := range rest {
			if before := literalWord(rest[max(i-1, 0)]); i > 0 && (before == "-v" || before == "-R") {
				t.copied(arg, name+" "+before)
			}
		}
	case "printf":
		if len(rest) > 1 && literalWord(rest[0]) == "-v" {
			t.copied(rest[1], "printf -v")
		}
	case "read", "mapfile", "readarray", "unset", "getopts":
		t.names(name, rest)
	default:
		t.lintArguments(args)
	}
}

// names warns of values in words that are names of variables.
func (t *taint) names(builtin string, args []*syntax.Word) {
	before := ""
	for _, arg := range args {
		option := flagLetters(before)
		if option == "" || strings.IndexByte(textOptions[builtin], option[len(option)-1]) < 0 {
			t.copied(arg, builtin)
		}
		before = literalWord(arg)
	}
}

// input warns of a value that a program reads as code from its standard input, or that
// xargs makes an argument of.
func (t *taint) input(call *syntax.CallExpr, h *hole) {
	if h == nil || len(call.Args) == 0 {
		return
	}
	name := path.Base(literalWord(call.Args[0]))
	if name == "xargs" {
		if makesCode(call.Args[1:]) {
			t.lint(h, name)
		}
		return
	}
	if _, coded := codeOptions[name]; !coded {
		return
	}
	for i, arg := range call.Args[1:] {
		if lit := literalWord(arg); !strings.HasPrefix(lit, "-") || lit == "-c" || lit == "-e" {
			if name == "sqlite3" && i == 0 || lit == "-" {
				continue // the database; standard input
			}
			return // the program is named, the input is data
		}
	}
	t.lint(h, name)
}

// makesCode reports whether a command of xargs reads what xargs adds as code: where it
// stands behind -c, or in the text there.
func makesCode(args []*syntax.Word) bool {
	replace := ""
	for i, arg := range args {
		lit := literalWord(arg)
		if rest, ok := strings.CutPrefix(lit, "-I"); ok {
			replace = rest
			if rest == "" && i+1 < len(args) {
				replace = literalWord(args[i+1])
			}
		}
		letters, coded := codeOptions[path.Base(lit)]
		if !coded {
			continue
		}
		for k, option := range args[i+1:] {
			if flags := flagLetters(literalWord(option)); flags == "" || !strings.ContainsAny(flags, letters) {
				continue
			}
			code := args[i+1+k+1:]
			return len(code) == 0 || replace != "" && strings.Contains(literalWord(code[0]), replace)
		}
	}
	return false
}

// warn adds a warning once.
func (w *walker) warn(p Problem) {
	p.Warning = true
	for _, q := range w.problems {
		if q == p {
			return
		}
	}
	w.problems = append(w.problems, p)
}
