// Package sh reads scripts for bash and sh, and finds out what surrounds each placeholder in them.
//
// Every placeholder is replaced by a marker, a name that occurs nowhere else, and the text is parsed as
// shell. The syntax tree shows what surrounds each marker (place.go): what quotes, in which word of which
// command (command.go, builtin.go, declare.go). Then the values are followed through the variables of the
// script (taint.go), because a copy can be read as code where the value itself is not.
package sh

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/quoting"
)

// MaxSize is the maximum size in bytes of a script with placeholders. The parser is recursive, so
// deep nesting would exhaust the stack.
const MaxSize = 64 << 10

// Read finds out where each placeholder of a script is, and sets its Place. A script for sh (posix) is
// also parsed as bash, because sh is dash on one machine and bash on the next, and the value must be
// safe in both. Values cannot be put into a script that does not parse, because it is unknown what
// surrounds them: then there is only an error.
func Read(src string, posix bool, pieces []quoting.Piece) ([]quoting.Problem, *SyntaxError) {
	text, marked := quoting.Mark(src, pieces)
	markers := make([]marker, len(marked))
	for i, m := range marked {
		markers[i].Marker = m
	}
	variant := syntax.LangBash
	if posix {
		variant = syntax.LangPOSIX
	}
	w := newWalker(src, text, markers)
	if err := w.read(variant); err != nil {
		return nil, w.unmarked(w.syntaxError(posix, err))
	}
	if posix {
		asBash := newWalker(src, text, markers)
		if asBash.read(syntax.LangBash) == nil {
			w.merge(asBash)
		}
	}
	w.finish()
	return w.problems, nil
}

// marker is a marker in the text that is parsed, and what the parse found out about its place.
type marker struct {
	quoting.Marker
	pos  quoting.Place
	why  string // why no value can be used here; "" if one can
	hint string
}

// The parsers are reused: each has kilobytes of buffers, and the script of a step is short.
var (
	bashParsers  = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)) }}
	posixParsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true)) }}
)

func parseShell(text string, variant syntax.LangVariant) (*syntax.File, error) {
	pool := &bashParsers
	if variant == syntax.LangPOSIX {
		pool = &posixParsers
	}
	p := pool.Get().(*syntax.Parser)
	defer pool.Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// walker walks one parse of a script and finds the position of every placeholder.
type walker struct {
	src            string // as written
	text           string // with markers
	markers        []marker
	integers       map[string]bool // variables declared as integers: the shell calculates when it assigns to them
	arithmeticVars map[string]bool // variables used in arithmetic
	problems       []quoting.Problem
}

func newWalker(src, text string, markers []marker) *walker {
	return &walker{src: src, text: text, markers: slices.Clone(markers),
		integers: map[string]bool{}, arithmeticVars: map[string]bool{}}
}

func (w *walker) read(variant syntax.LangVariant) error {
	file, err := parseShell(w.text, variant)
	if err != nil {
		return err
	}
	w.findIntegers(file)
	w.stmts(file.Stmts, wordContext{})
	w.findComments(file)
	w.lintTaint(file)
	return nil
}

// merge adds the demands of the other reading of the script. Positions that contradict each other
// are reported.
func (w *walker) merge(other *walker) {
	for i := range w.markers {
		a, b := &w.markers[i], &other.markers[i]
		switch {
		case a.why != "":
		case b.why != "":
			a.why, a.hint = b.why, b.hint
		case a.pos.Form == quoting.Word && b.pos.Form == quoting.Single:
			a.pos.Form = quoting.Single
		case a.pos.Form != b.pos.Form && !(a.pos.Form == quoting.Single && b.pos.Form == quoting.Word):
			a.refuse("sh and bash parse this place differently", wayOut)
		}
		if a.pos.Guard == quoting.GuardNone {
			a.pos.Guard = b.pos.Guard
		} else if b.pos.Guard != quoting.GuardNone && a.pos.Guard != b.pos.Guard {
			a.refuse("sh and bash parse this place differently", wayOut)
		}
		a.pos.Argument = a.pos.Argument || b.pos.Argument
	}
	for _, p := range other.problems {
		if !slices.Contains(w.problems, p) {
			w.problems = append(w.problems, p)
		}
	}
}

// wayOut is a hint that helps at every place that cannot take a value.
const wayOut = `assign it to a variable first: v={X}; ... "$v"`

// finish stores the positions in the placeholders and reports placeholders without one.
func (w *walker) finish() {
	for i := range w.markers {
		p := &w.markers[i]
		if p.pos.Form == quoting.Unknown && p.why == "" {
			p.refuse("flowrun cannot determine how this place is quoted", wayOut)
		}
		if p.why != "" && !p.Placeholder.Raw {
			hint := strings.ReplaceAll(p.hint, "{X}", p.Placeholder.Written)
			w.problems = append(w.problems, quoting.Problem{Placeholder: p.Placeholder, Hint: hint, Message: "cannot put " + p.Placeholder.Name + " here: " + p.why})
		}
		p.Placeholder.Place = p.pos
	}
}

func (p *marker) refuse(why, hint string) {
	if p.why == "" {
		p.why, p.hint = why, hint
	}
}

// in returns the markers that start in [from, to) of the text.
func (w *walker) in(from, to uint) []marker {
	lo := sort.Search(len(w.markers), func(i int) bool { return w.markers[i].Off >= int(from) })
	hi := sort.Search(len(w.markers), func(i int) bool { return w.markers[i].Off >= int(to) })
	return w.markers[lo:max(lo, hi)]
}

func (w *walker) markersIn(n syntax.Node) []marker {
	return w.in(n.Pos().Offset(), n.End().Offset())
}

// findComments finds the placeholders in comments. They stay as they are written.
func (w *walker) findComments(file *syntax.File) {
	known := func(p marker) bool { return p.pos.Form != quoting.Unknown || p.why != "" }
	if !slices.ContainsFunc(w.markers, func(p marker) bool { return !known(p) }) {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			for i := range w.markersIn(c) {
				p := &w.markersIn(c)[i]
				if !known(*p) && strings.Contains(c.Text, p.Name) {
					p.pos.Form = quoting.Comment
				}
			}
		}
		return true
	})
}

// sourceOffset maps an offset in the text with markers to the text as written. The result is
// approximate after a {{X}} escape.
func (w *walker) sourceOffset(off int) int {
	shift := 0
	for _, p := range w.markers {
		if p.Off > off {
			break
		}
		if off < p.Off+len(p.Name) {
			return p.Placeholder.Off
		}
		shift = p.Placeholder.Off + len(p.Placeholder.Written) - p.Off - len(p.Name)
	}
	return min(max(off+shift, 0), len(w.src))
}

// wordContext is what is known about the words that are walked.
type wordContext struct {
	quoted          bool          // inside "..." or a here-document
	heredoc         bool          // inside a here-document
	nestedQuotes    bool          // inside ${...} inside quotes, where shells disagree on further quotes
	arithmetic      bool          // inside arithmetic
	single          bool          // exactly one word is allowed
	guard           quoting.Guard // what the value has to be
	argument        bool          // the words are arguments: checkDash applies
	feedsArithmetic bool          // the shell calculates with what echo prints here
	refusal         string        // why no value is allowed; "" if one is
	hint            string
	optionalWords   []*quoting.Placeholder
	prefix          string
	suffix          string
	wordStart       *wordStart
}

// wordStart follows a word from its start, for checkDash.
type wordStart struct {
	placeholders []*quoting.Placeholder
	filled       bool // something other than placeholders is at the start
}

// refusing returns the context with a reason why no value is allowed in it.
func (c wordContext) refusing(why, hint string) wordContext {
	if c.refusal == "" {
		c.refusal, c.hint = why, hint
	}
	return c
}

// substitution returns the context of the commands inside a substitution. Quoting starts anew. A
// reason to refuse values still applies, and so does arithmetic with the output.
func (c wordContext) substitution() wordContext {
	return wordContext{refusal: c.refusal, hint: c.hint, feedsArithmetic: c.feedsArithmetic || c.arithmetic || c.guard == quoting.GuardNumber}
}

// word walks one word.
func (w *walker) word(word *syntax.Word, c wordContext) {
	if word == nil {
		return
	}
	if c.wordStart == nil {
		c.wordStart = &wordStart{}
	}
	for _, part := range word.Parts {
		w.part(part, c)
	}
}

func (w *walker) part(part syntax.WordPart, c wordContext) {
	switch part := part.(type) {
	case *syntax.Lit:
		w.literal(part, part.Value, c, w.bareForm(c))
	case *syntax.SglQuoted:
		switch {
		case part.Dollar:
			c = c.refusing("$'...' has its own escapes", wayOut)
		case c.nestedQuotes || c.quoted || c.arithmetic:
			c = c.refusing("shells treat single quotes inside ${...} and arithmetic differently", wayOut)
		}
		w.literal(part, part.Value, c, quoting.Quoted)
	case *syntax.DblQuoted:
		switch {
		case part.Dollar:
			c = c.refusing(`the shell translates $"..." before reading it`, wayOut)
		case (c.nestedQuotes || c.quoted) && !c.arithmetic:
			c = c.refusing("shells treat quotes inside quotes differently", wayOut)
		}
		c.quoted = true
		for _, p := range part.Parts {
			w.part(p, c)
		}
	case *syntax.ParamExp:
		w.expansion(part, c)
	case *syntax.CmdSubst:
		inner := c.substitution()
		if part.Backquotes {
			inner = inner.refusing("the shell parses text in backquotes twice", "use $(...) instead")
		}
		w.stmts(part.Stmts, inner)
	case *syntax.ProcSubst:
		w.stmts(part.Stmts, c.substitution())
	case *syntax.ArithmExp:
		w.arithmetic(part.X, c)
	}
}

// bareForm returns the form of a placeholder in literal text.
func (w *walker) bareForm(c wordContext) quoting.Form {
	switch {
	case c.arithmetic:
		return quoting.Number
	case c.quoted:
		return quoting.Inner
	case c.single:
		return quoting.Single
	}
	return quoting.Word
}

// literal records the placeholders in literal text.
func (w *walker) literal(n syntax.Node, value string, c wordContext, f quoting.Form) {
	rest := value
	markers := w.markersIn(n)
	for i := range markers {
		p := &markers[i]
		at := strings.Index(rest, p.Name)
		if at < 0 {
			p.refuse("flowrun cannot determine how this place is quoted", wayOut)
			continue
		}
		c.wordStart.filled = c.wordStart.filled || at > 0
		rest = rest[at+len(p.Name):]
		w.setPosition(p, c, f)
		c.wordStart.placeholders = append(c.wordStart.placeholders, p.Placeholder)
	}
	c.wordStart.filled = c.wordStart.filled || rest != ""
}

// setPosition records where a placeholder is.
func (w *walker) setPosition(p *marker, c wordContext, f quoting.Form) {
	switch {
	case p.pos.Form != quoting.Unknown:
		p.refuse("flowrun cannot determine how this place is quoted", wayOut)
	case c.refusal != "":
		p.refuse(c.refusal, c.hint)
	case f != quoting.Quoted && w.afterBackslash(p.Off):
		p.refuse("there is a backslash before it", "remove the backslash; to keep the braces as text, write {{...}}")
	}
	p.pos = quoting.Place{Form: f, Guard: c.guard, Optional: c.optionalWords, Prefix: c.prefix, Suffix: c.suffix}
	if f == quoting.Number {
		p.pos.Guard = quoting.GuardNumber
	}
	if !c.wordStart.filled {
		p.pos.Argument = c.argument
		p.pos.Preceding = slices.Clone(c.wordStart.placeholders)
	} else if c.guard == quoting.GuardOption {
		p.pos.Guard = quoting.GuardNone
	}
}

// afterBackslash reports whether an odd number of backslashes comes before off.
func (w *walker) afterBackslash(off int) bool {
	n := 0
	for n < off && w.text[off-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// expansion walks ${...}. A placeholder in the name itself is not walked; finish reports it.
func (w *walker) expansion(e *syntax.ParamExp, c wordContext) {
	if c.arithmetic && e.Param != nil && !e.Length {
		w.arithmeticVars[e.Param.Value] = true
	}
	w.arithmetic(e.Index, c)
	if e.Slice != nil {
		w.arithmetic(e.Slice.Offset, c)
		w.arithmetic(e.Slice.Length, c)
	}
	if e.Repl != nil {
		w.word(e.Repl.Orig, c.pattern())
		w.word(e.Repl.With, c.pattern())
	}
	if e.Exp == nil || e.Exp.Word == nil {
		return
	}
	c.single = true
	switch e.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if e.Param != nil && w.calculates(e.Param.Value) {
			c.arithmetic = true
		}
	case syntax.OtherParamOps:
		return
	default:
		w.word(e.Exp.Word, c.pattern())
		return
	}
	c.nestedQuotes = c.nestedQuotes || c.quoted
	w.word(e.Exp.Word, c)
}

// pattern returns the context of a pattern or replacement inside ${...}. There only a quoted
// reference is read literally, even inside outer quotes.
func (c wordContext) pattern() wordContext {
	if c.heredoc {
		c = c.refusing("shells treat patterns inside a here-document differently", wayOut)
	}
	c.nestedQuotes = c.nestedQuotes || c.quoted
	c.quoted, c.single = false, true
	return c
}

// arithmetic walks an expression that the shell calculates.
func (w *walker) arithmetic(x syntax.ArithmExpr, c wordContext) {
	c.arithmetic, c.argument = true, false
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		w.arithmetic(x.X, c)
		w.arithmetic(x.Y, c)
	case *syntax.UnaryArithm:
		w.arithmetic(x.X, c)
	case *syntax.ParenArithm:
		w.arithmetic(x.X, c)
	case *syntax.Word:
		if name := x.Lit(); syntax.ValidName(name) {
			w.arithmeticVars[name] = true
		}
		w.word(x, c)
	}
}

func (w *walker) warnUsedAsCode(ph *quoting.Placeholder, program string) {
	w.warn(quoting.ReadAsCode(ph, program))
}
