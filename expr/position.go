package expr

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// form is the shape a variable reference takes where a hole sits.
type form int

const (
	formUnknown form = iota
	formWord         // bare, where words stand in a list: one "${V}" for each word
	formSingle       // bare, where exactly one word belongs: "${V}"
	formInner        // inside "..." or an unquoted here-document: ${V}
	formQuoted       // inside '...': '"${V}"'
	formNumber       // inside arithmetic: the digits themselves
	formComment      // inside a comment: nothing is put in
)

// guard is what a value must prove before it may stand where it does.
type guard int

const (
	guardNone    guard = iota
	guardNumber        // a number: the shell calculates here
	guardName          // an identifier: the shell takes it for a variable's name
	guardScalar        // not "(...)": declare would read an array
	guardOption        // no leading "-", whoever the value comes from
	guardProgram       // the name of a command, but not one that evaluates its arguments
)

// position is what surrounds a hole in a script, found at load.
type position struct {
	form     form
	guard    guard
	argument bool    // the dash rule applies: an argument of a command, no -- before it
	before   []*hole // holes before it in its word, with nothing else between
	leads    []*hole // guardProgram: words before it that may vanish
	prefix   string  // guardProgram: what sticks to the hole
	suffix   string
	written  string // formComment: the hole as written

	rewritten bool // PowerShell: the author's '...' around it has become "..."
	closes    bool // cmd: a quote, or another hole, follows
	slashes   bool // cmd: a leading / is an option
	negative  bool // Python: what follows needs a number in parentheses
}

// longestScript bounds scripts with holes; the parser recurses on nesting.
const longestScript = 64 << 10

// placeHoles finds out where each hole of a script sits. A script for sh is also
// read as bash: sh is dash on one machine and bash on the next, and the value
// must be safe in both.
func placeHoles(src string, sh Shell, pieces []piece) []Problem {
	text, holes := withPlaceholders(src, pieces)
	variant := syntax.LangBash
	if sh == Sh {
		variant = syntax.LangPOSIX
	}
	w := newWalker(src, text, holes)
	if err := w.read(variant); err != nil {
		return []Problem{w.unparsable(err)}
	}
	if sh == Sh {
		asBash := newWalker(src, text, holes)
		if asBash.read(syntax.LangBash) == nil {
			w.merge(asBash)
		}
	}
	w.settle()
	return w.problems
}

// placed is a hole and where its placeholder stands in the parsed text.
type placed struct {
	hole *hole
	off  int
	name string
	pos  position
	why  string // not "": no value can stand here
	hint string
}

// withPlaceholders writes a name for every hole. The names are like none in the
// text, so that a name found in the tree is a hole.
func withPlaceholders(src string, pieces []piece) (string, []placed) {
	prefix := "_flowrun"
	for strings.Contains(src, prefix) {
		prefix += "_"
	}
	var b strings.Builder
	b.Grow(len(src) + 16)
	holes := make([]placed, 0, len(pieces)/2+1)
	for _, p := range pieces {
		if p.hole == nil {
			b.WriteString(p.text)
			continue
		}
		name := prefix + strconv.Itoa(len(holes)) + "_"
		if endsInVariable(b.String()) {
			name = "." + name // or $HOME{X} would read as one longer name
		}
		holes = append(holes, placed{hole: p.hole, off: b.Len(), name: name})
		b.WriteString(name)
	}
	return b.String(), holes
}

// endsInVariable reports whether text ends in $name.
func endsInVariable(text string) bool {
	i := len(text)
	for i > 0 && isNameByte(text[i-1]) {
		i--
	}
	return i > 0 && i < len(text) && text[i-1] == '$'
}

// Parsers are reused: one holds kilobytes of buffers, a step's script is short.
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

// walker reads one parse of a script and notes the position of every hole.
type walker struct {
	src      string // as written
	text     string // with placeholders
	holes    []placed
	integers map[string]bool // variables declared as integers: assigning calculates
	sums     map[string]bool // variables used in arithmetic
	problems []Problem
}

func newWalker(src, text string, holes []placed) *walker {
	return &walker{src: src, text: text, holes: slices.Clone(holes),
		integers: map[string]bool{}, sums: map[string]bool{}}
}

func (w *walker) read(variant syntax.LangVariant) error {
	file, err := parseShell(w.text, variant)
	if err != nil {
		return err
	}
	w.findIntegers(file)
	w.stmts(file.Stmts, place{})
	w.findComments(file)
	w.lintTaint(file)
	return nil
}

// merge keeps what either reading of the script demands.
func (w *walker) merge(other *walker) {
	for i := range w.holes {
		a, b := &w.holes[i], &other.holes[i]
		switch {
		case a.why != "":
		case b.why != "":
			a.why, a.hint = b.why, b.hint
		case a.pos.form == formWord && b.pos.form == formSingle:
			a.pos.form = formSingle
		case a.pos.form != b.pos.form && !(a.pos.form == formSingle && b.pos.form == formWord):
			a.refuse("sh and bash read this place differently", wayOut)
		}
		if a.pos.guard == guardNone {
			a.pos.guard = b.pos.guard
		} else if b.pos.guard != guardNone && a.pos.guard != b.pos.guard {
			a.refuse("sh and bash read this place differently", wayOut)
		}
		a.pos.argument = a.pos.argument || b.pos.argument
	}
	for _, p := range other.problems {
		if !slices.Contains(w.problems, p) {
			w.problems = append(w.problems, p)
		}
	}
}

// wayOut works for every place that cannot take a value.
const wayOut = `assign it to a variable first: v={X}; ... "$v"`

// settle writes the positions into the holes and reports those that have none.
func (w *walker) settle() {
	for i := range w.holes {
		p := &w.holes[i]
		if p.pos.form == formUnknown && p.why == "" {
			p.refuse("the quoting of this place is not known", wayOut)
		}
		if p.why != "" && !p.hole.ref.Raw {
			hint := strings.ReplaceAll(p.hint, "{X}", w.src[p.hole.off:p.hole.off+p.hole.len])
			w.problems = append(w.problems, problemf(CodePosition, p.hole.off, p.hole.len, hint,
				"cannot put %s here: %s", p.hole.name(), p.why))
		}
		p.pos.written = w.src[p.hole.off : p.hole.off+p.hole.len]
		p.hole.sits = p.pos
	}
}

func (p *placed) refuse(why, hint string) {
	if p.why == "" {
		p.why, p.hint = why, hint
	}
}

// in returns the holes whose placeholders start in [from, to) of the text.
func (w *walker) in(from, to uint) []placed {
	lo := sort.Search(len(w.holes), func(i int) bool { return w.holes[i].off >= int(from) })
	hi := sort.Search(len(w.holes), func(i int) bool { return w.holes[i].off >= int(to) })
	return w.holes[lo:max(lo, hi)]
}

func (w *walker) inNode(n syntax.Node) []placed {
	return w.in(n.Pos().Offset(), n.End().Offset())
}

// findComments marks holes in comments: they contribute nothing.
func (w *walker) findComments(file *syntax.File) {
	known := func(p placed) bool { return p.pos.form != formUnknown || p.why != "" }
	if !slices.ContainsFunc(w.holes, func(p placed) bool { return !known(p) }) {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			for i := range w.inNode(c) {
				p := &w.inNode(c)[i]
				if !known(*p) && strings.Contains(c.Text, p.name) {
					p.pos.form = formComment
				}
			}
		}
		return true
	})
}

// unparsable words a syntax error of the script. Holes must not go into a script
// that cannot be read: nobody knows what surrounds them.
func (w *walker) unparsable(err error) Problem {
	off := 0
	what := err.Error()
	switch e := err.(type) {
	case syntax.ParseError:
		off, what = int(e.Pos.Offset()), e.Text
	case syntax.LangError:
		off, what = int(e.Pos.Offset()), e.Feature+" are not part of a POSIX script"
	}
	off = w.written(off)
	for _, p := range w.holes {
		what = strings.ReplaceAll(what, p.name, w.src[p.hole.off:p.hole.off+p.hole.len])
	}
	return problemf(CodeShell, off, min(1, len(w.src)-off),
		"correct the script; braces meant as text are written {{X}}, and a script for bash goes under bash:",
		"cannot find the quoting around the holes: %s", what)
}

// written maps an offset in the text with placeholders to the text as written.
// A {{X}} escape before it makes the place approximate.
func (w *walker) written(off int) int {
	shift := 0
	for _, p := range w.holes {
		if p.off > off {
			break
		}
		if off < p.off+len(p.name) {
			return p.hole.off
		}
		shift = p.hole.off + p.hole.len - p.off - len(p.name)
	}
	return min(max(off+shift, 0), len(w.src))
}

// place is what is known about the words being walked.
type place struct {
	inner     bool   // inside "..." or a here-document
	heredoc   bool   // inside a here-document
	tricky    bool   // inside ${...} inside quotes: further quotes differ between shells
	sum       bool   // inside arithmetic
	single    bool   // exactly one word belongs here
	guard     guard  // what the value must prove
	argument  bool   // the dash rule applies
	printed   bool   // what echo prints here is calculated with
	code      string // not "": why no value may stand here
	hint      string
	leads     []*hole
	prefix    string
	suffix    string
	wordStart *wordStart
}

// wordStart follows a word from its start, for the dash rule.
type wordStart struct {
	holes  []*hole
	filled bool // something other than holes stands at the start
}

// refusing returns the place with a reason why no value may stand in it.
func (c place) refusing(why, hint string) place {
	if c.code == "" {
		c.code, c.hint = why, hint
	}
	return c
}

// fresh is the place of commands inside a substitution: quoting starts anew, but
// what is evaluated later stays so.
func (c place) fresh() place {
	return place{code: c.code, hint: c.hint, printed: c.printed || c.sum || c.guard == guardNumber}
}

// word walks one word.
func (w *walker) word(word *syntax.Word, c place) {
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

func (w *walker) part(part syntax.WordPart, c place) {
	switch part := part.(type) {
	case *syntax.Lit:
		w.literal(part, part.Value, c, w.bareForm(c))
	case *syntax.SglQuoted:
		switch {
		case part.Dollar:
			c = c.refusing("$'...' has escapes of its own", wayOut)
		case c.tricky || c.inner || c.sum:
			c = c.refusing("shells disagree on single quotes inside ${...} and arithmetic", wayOut)
		}
		w.literal(part, part.Value, c, formQuoted)
	case *syntax.DblQuoted:
		switch {
		case part.Dollar:
			c = c.refusing(`$"..." is translated before it is read`, wayOut)
		case (c.tricky || c.inner) && !c.sum:
			c = c.refusing("shells disagree on quotes inside quotes", wayOut)
		}
		c.inner = true
		for _, p := range part.Parts {
			w.part(p, c)
		}
	case *syntax.ParamExp:
		w.expansion(part, c)
	case *syntax.CmdSubst:
		inner := c.fresh()
		if part.Backquotes {
			inner = inner.refusing("back-ticks are read twice", "use $(...) in their place")
		}
		w.stmts(part.Stmts, inner)
	case *syntax.ProcSubst:
		w.stmts(part.Stmts, c.fresh())
	case *syntax.ArithmExp:
		w.arithmetic(part.X, c)
	}
}

// bareForm is the form of a hole that stands in literal text.
func (w *walker) bareForm(c place) form {
	switch {
	case c.sum:
		return formNumber
	case c.inner:
		return formInner
	case c.single:
		return formSingle
	}
	return formWord
}

// literal notes the holes in a stretch of literal text.
func (w *walker) literal(n syntax.Node, value string, c place, f form) {
	rest := value
	holes := w.inNode(n)
	for i := range holes {
		p := &holes[i]
		at := strings.Index(rest, p.name)
		if at < 0 {
			p.refuse("the quoting of this place is not known", wayOut)
			continue
		}
		c.wordStart.filled = c.wordStart.filled || at > 0
		rest = rest[at+len(p.name):]
		w.note(p, c, f)
		c.wordStart.holes = append(c.wordStart.holes, p.hole)
	}
	c.wordStart.filled = c.wordStart.filled || rest != ""
}

// note writes down where a hole sits.
func (w *walker) note(p *placed, c place, f form) {
	switch {
	case p.pos.form != formUnknown:
		p.refuse("the quoting of this place is not known", wayOut)
	case c.code != "":
		p.refuse(c.code, c.hint)
	case f != formQuoted && w.escaped(p.off):
		p.refuse("a backslash stands before it", "remove the backslash; for braces meant as text write {{...}}")
	}
	p.pos = position{form: f, guard: c.guard, leads: c.leads, prefix: c.prefix, suffix: c.suffix}
	if f == formNumber {
		p.pos.guard = guardNumber
	}
	if !c.wordStart.filled {
		p.pos.argument = c.argument
		p.pos.before = slices.Clone(c.wordStart.holes)
	} else if c.guard == guardOption {
		p.pos.guard = guardNone
	}
}

// escaped reports whether an odd number of backslashes stands before off.
func (w *walker) escaped(off int) bool {
	n := 0
	for n < off && w.text[off-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// expansion walks ${...}. The name itself takes no hole.
func (w *walker) expansion(e *syntax.ParamExp, c place) {
	if c.sum && e.Param != nil && !e.Length {
		w.sums[e.Param.Value] = true
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
			c.sum = true
		}
	case syntax.OtherParamOps:
		return
	default:
		w.word(e.Exp.Word, c.pattern())
		return
	}
	c.tricky = c.tricky || c.inner
	w.word(e.Exp.Word, c)
}

// pattern is the place of a pattern or replacement inside ${...}: only a quoted
// reference is taken literally there, inside outer quotes too.
func (c place) pattern() place {
	if c.heredoc {
		c = c.refusing("shells disagree on patterns inside a here-document", wayOut)
	}
	c.tricky = c.tricky || c.inner
	c.inner, c.single = false, true
	return c
}

// arithmetic walks an expression the shell calculates.
func (w *walker) arithmetic(x syntax.ArithmExpr, c place) {
	c.sum, c.argument = true, false
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
		if name := x.Lit(); isName(name) {
			w.sums[name] = true
		}
		w.word(x, c)
	}
}

func (w *walker) lint(h *hole, program string) { w.warn(usedAsCode(h, program)) }

func usedAsCode(h *hole, program string) Problem {
	p := problemf(CodeUsedAsCode, h.off, h.len, "pass it as an argument or through environment, and read it there",
		"%s is used as code by %s: quotes in the value can change the program", h.name(), program)
	p.Warning = true
	return p
}

// String names the form, for tests.
func (f form) String() string {
	names := []string{"unknown", "word", "single", "inner", "quoted", "number", "comment"}
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprint(int(f))
}
