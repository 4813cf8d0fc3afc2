package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/os/codeenv"
)

// runsCode reports whether the shell, or a program that it starts, runs a value that a script assigns
// to the variable. In a script IFS only splits words.
func runsCode(name string) bool { return name != "IFS" && codeenv.RunsCode(name) }

// integerVariables lists variables that are integers in bash, ksh or zsh without a declaration: the
// shell calculates when it assigns to one.
var integerVariables = quoting.WordSet{Words: `RANDOM SRANDOM SECONDS LINENO HISTCMD OPTIND EPOCHSECONDS COLUMNS LINES HISTSIZE
	SAVEHIST TMOUT MAILCHECK KEYTIMEOUT LISTMAX DIRSTACKSIZE SHLVL ERRNO UID GID EUID EGID TTYIDLE PPID`}

// assign walks NAME=value, NAME[i]=value and NAME=(...). scalar is the guard of a plain value.
func (w *walker) assign(a *syntax.Assign, c wordContext, scalar quoting.Guard) {
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	c = c.singleWord()
	w.arithmetic(a.Index, c)
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			w.arithmetic(e.Index, c)
			element := c
			element.single = e.Index != nil
			if w.integers[name] {
				element.single, element.guard = true, quoting.GuardNumber
			}
			w.word(e.Value, element)
		}
	}
	if a.Value == nil {
		return
	}
	w.assignValue(name, a.Value, c, scalar)
}

func (w *walker) assignValue(name string, value *syntax.Word, c wordContext, scalar quoting.Guard) {
	c = c.singleWord()
	c.guard = scalar
	switch {
	case codeenv.Evaluated(name):
		c = c.refusing("the shell runs the value of $"+name, setElsewhere(name))
	case runsCode(name):
		markers := w.markersIn(value)
		for i := range markers {
			if markers[i].Placeholder.Untrusted {
				markers[i].refuse(name+" makes programs run code", setElsewhere(name))
			}
		}
	case w.calculates(name):
		c.guard = quoting.GuardNumber
	}
	w.word(value, c)
}

// setElsewhere is the hint for a value in a variable that makes programs run code.
func setElsewhere(name string) string {
	return "assign a fixed text, or set " + name + " under environment: with the permission environment:" + name
}

func (w *walker) calculates(name string) bool {
	return w.integers[name] || integerVariables.Has(name)
}

// declare walks export, declare, local and similar commands.
func (w *walker) declare(d *syntax.DeclClause, c wordContext) {
	flags := ""
	for _, a := range d.Args {
		if a.Name == nil && a.Value != nil {
			flags += quoting.FlagLetters(a.Value.Lit())
		}
	}
	scalar := declaredGuard(flags)
	for _, a := range d.Args {
		switch {
		case a.Name == nil:
			w.declareWord(a.Value, c, scalar)
		case a.Naked && a.Index == nil && len(w.markersIn(a.Name)) > 0:
			w.declaredName(a.Name, c)
		default:
			w.assign(a, c, scalar)
		}
	}
}

// declaredName walks the bare {X} of export {X}.
func (w *walker) declaredName(name *syntax.Lit, c wordContext) {
	c = c.singleWord()
	c.guard = quoting.GuardName
	w.word(&syntax.Word{Parts: []syntax.WordPart{name}}, c)
}

// declaredGuard returns what the value of a variable has to be, judging by the flags of its
// declaration.
func declaredGuard(flags string) quoting.Guard {
	switch {
	case strings.ContainsAny(flags, "iEF"):
		return quoting.GuardNumber
	case strings.Contains(flags, "n"):
		return quoting.GuardName
	}
	return quoting.GuardScalar
}

// declareWord walks an argument of declare that is not a plain assignment: a name, a flag, or an
// assignment in quotes ("NAME={X}").
func (w *walker) declareWord(word *syntax.Word, c wordContext, scalar quoting.Guard) {
	if word == nil {
		return
	}
	c = c.singleWord()
	markers := w.markersIn(word)
	if len(markers) == 0 {
		w.word(word, c)
		return
	}
	name, assigns := w.assignedName(word, markers[0])
	switch {
	case assigns:
		w.assignValue(name, word, c, scalar)
	case isOnlyMarker(word, markers):
		c.guard = quoting.GuardName
		w.word(word, c)
	default:
		w.word(word, c.refusing("it would be part of a declaration", "write NAME={X}"))
	}
}

// assignedName returns the NAME of a word that begins NAME= or "NAME=, before its first placeholder.
func (w *walker) assignedName(word *syntax.Word, first marker) (string, bool) {
	lead := strings.TrimLeft(w.text[word.Pos().Offset():first.Off], `"'`)
	name, _, ok := strings.Cut(lead, "=")
	name = strings.TrimSuffix(name, "+")
	return name, ok && syntax.ValidName(name)
}

// isOnlyMarker reports whether a word is one placeholder and nothing else, apart from quotes.
func isOnlyMarker(word *syntax.Word, markers []marker) bool {
	if len(markers) != 1 || len(word.Parts) != 1 {
		return false
	}
	switch p := word.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value == markers[0].Name
	case *syntax.SglQuoted:
		return p.Value == markers[0].Name
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 {
			lit, ok := p.Parts[0].(*syntax.Lit)
			return ok && lit.Value == markers[0].Name
		}
	}
	return false
}

// findIntegers collects the variables that are declared as integers anywhere in the script.
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
			flags += quoting.FlagLetters(a.Value.Lit())
			continue
		}
		if strings.ContainsAny(flags, "iEF") {
			w.integers[a.Name.Value] = true
		}
	}
}

// integerWords is integerNames for a declaration that the parser reads as a plain command: local in a
// POSIX script, command declare.
func (w *walker) integerWords(call *syntax.CallExpr) {
	flags := ""
	for i, arg := range call.Args {
		lit := arg.Lit()
		if lit == "integer" && i == 0 {
			flags = "i"
		}
		flags += quoting.FlagLetters(lit)
		name, _, _ := strings.Cut(lit, "=")
		if strings.ContainsAny(flags, "iEF") && syntax.ValidName(name) {
			w.integers[name] = true
		}
	}
}

// declareWords walks a declaration that the parser reads as a plain command.
func (w *walker) declareWords(name string, args []*syntax.Word, c wordContext) {
	flags := ""
	for _, arg := range args {
		flags += quoting.FlagLetters(literalWord(arg))
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
