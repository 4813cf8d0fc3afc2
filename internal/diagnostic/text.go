package diagnostic

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pos is a place in a file: Line and Col count from 1, Col counts characters.
// The zero Pos means the place is not known.
type Pos struct {
	File string
	Line int
	Col  int
}

// String is file:line:col, leaving out what is not known.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// LineCol is line:col, for messages about two places in one file.
func LineCol(p Pos) string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Text is a string as written together with its place, so that an offset in
// the string (of a hole, of a shell word) leads back to a line and column.
type Text struct {
	S   string
	Pos Pos // of the first character of the content

	// src and form lead from an offset back into the file. Both are zero for
	// texts made in Go.
	src    *Source
	form   form
	indent int // blanks that every line of a block scalar begins with
}

// Plain is a text without a place, for definitions made in Go.
func Plain(s string) Text { return Text{S: s} }

// At is the place of byte offset off of S, clamped to S. It is exact for every
// way YAML can write a string, folded lines and escape sequences included, and
// reads the file up to that place again: cheap enough for messages, too slow
// for a loop over every byte.
func (t Text) At(off int) Pos {
	off = min(max(off, 0), len(t.S))
	if t.src != nil {
		return t.src.locate(t, off)
	}
	p := t.Pos
	for _, r := range t.S[:off] {
		if r == '\n' {
			p.Line, p.Col = p.Line+1, 1
		} else {
			p.Col++
		}
	}
	return p
}

// form is how a scalar stands in the file.
type form uint8

const (
	PlainForm   form = iota // bare, perhaps over several lines
	SingleForm              // '...'
	DoubleForm              // "..."
	LiteralForm             // |
	FoldedForm              // >
)

// locate walks the scalar in the file side by side with its content until off
// bytes of the content have been seen. The content is the oracle: it says what
// a line break became, so none of YAML's folding rules is repeated here.
func (s *Source) locate(t Text, off int) Pos {
	w := walker{src: s.Text, at: s.Offset(t.Pos.Line, t.Pos.Col), line: t.Pos.Line, col: t.Pos.Col, content: t.S}
	w.block, w.indent = t.form == LiteralForm || t.form == FoldedForm, t.indent
	for w.at < len(w.src) && (w.seen < off || t.form == DoubleForm && w.atJoin()) {
		before := w
		w.step(t.form)
		if w.seen > off { // off lies inside a fold or an escape: its start
			w = before
			break
		}
	}
	return Pos{File: t.Pos.File, Line: w.line, Col: w.col}
}

// Scalar is a scalar of the source: what the parser reads, where it stands and how it is
// written.
func (s *Source) Scalar(value string, at Pos, f form) Text {
	t := Text{S: value, Pos: at, src: s, form: f}
	switch f {
	case SingleForm, DoubleForm:
		t.Pos.Col++
	case LiteralForm, FoldedForm:
		t.blockStart()
	}
	return t
}

// blockStart finds the indentation and the first character of a block scalar.
// The parser tells neither: both follow from the first line with content, which
// has the same blanks in the file and in the text but for the indentation.
func (t *Text) blockStart() {
	blanks := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	header := t.Pos.Line
	leading := len(t.S) - len(strings.TrimLeft(t.S, "\n"))
	first := string(t.src.Line(header + 1 + leading))
	if strings.TrimSpace(first) != "" {
		t.indent = max(0, blanks(first)-blanks(t.S[leading:]))
	}
	if header < len(t.src.Lines) {
		t.Pos.Line, t.Pos.Col = header+1, 1+min(t.indent, blanks(string(t.src.Line(header+1))))
	}
}

// walker is a place in the file and the place in the content that belongs to it.
type walker struct {
	src       []byte
	at        int
	line, col int
	content   string
	seen      int
	block     bool // a block scalar: lines begin with indent spaces
	indent    int
}

// step goes over one character, one escape or one run of line breaks.
func (w *walker) step(f form) {
	switch {
	case f == LiteralForm:
		w.literal()
	case w.atFold():
		w.fold()
	case f == DoubleForm && w.src[w.at] == '\\':
		w.escape()
	case f == SingleForm && w.src[w.at] == '\'':
		w.skip(2)
		w.seen++
	default:
		w.character()
	}
}

func (w *walker) literal() {
	if BreakLen(w.src[w.at:]) > 0 {
		_, n := utf8.DecodeRuneInString(w.content[w.seen:])
		w.seen += n
		w.nextLine()
		return
	}
	w.character()
}

// character goes over one character that is the same on both sides.
func (w *walker) character() {
	_, n := utf8.DecodeRune(w.src[w.at:])
	w.at += n
	w.col++
	w.seen += n
}

func (w *walker) skip(chars int) {
	for ; chars > 0 && w.at < len(w.src); chars-- {
		_, n := utf8.DecodeRune(w.src[w.at:])
		w.at += n
		w.col++
	}
}

// nextLine goes past a line break and the indentation of a block scalar.
func (w *walker) nextLine() {
	w.at += BreakLen(w.src[w.at:])
	w.line, w.col = w.line+1, 1
	for w.block && w.col <= w.indent && w.at < len(w.src) && w.src[w.at] == ' ' {
		w.skip(1)
	}
}

// atFold says whether a line break stands here, in flow scalars perhaps after
// blanks, which YAML drops.
func (w *walker) atFold() bool {
	i := w.at
	for !w.block && i < len(w.src) && IsBlank(w.src[i]) {
		i++
	}
	return i < len(w.src) && BreakLen(w.src[i:]) > 0
}

// fold goes over a run of line breaks: one became a space (or, in a block, may
// have stayed), of several all or all but the first stayed.
func (w *walker) fold() {
	breaks := 0
	for w.at < len(w.src) && w.atFold() {
		w.skipBlanks()
		w.nextLine()
		breaks++
	}
	w.skipBlanks()
	switch {
	case breaks == 1 && w.next() == ' ':
		w.seen++
	case w.block:
		for ; breaks > 0 && w.next() == '\n'; breaks-- {
			w.seen++
		}
	default:
		w.seen += min(breaks-1, len(w.content)-w.seen)
	}
}

func (w *walker) skipBlanks() {
	for !w.block && w.at < len(w.src) && IsBlank(w.src[w.at]) {
		w.skip(1)
	}
}

func (w *walker) next() byte {
	if w.seen < len(w.content) {
		return w.content[w.seen]
	}
	return 0
}

// atJoin says whether a backslash joins this line to the next.
func (w *walker) atJoin() bool {
	return w.src[w.at] == '\\' && w.at+1 < len(w.src) && BreakLen(w.src[w.at+1:]) > 0
}

// escape goes over a backslash sequence of a double-quoted scalar: one
// character of content, or none where the backslash joins two lines.
func (w *walker) escape() {
	if w.atJoin() {
		w.skip(1)
		w.nextLine()
		w.skipBlanks()
		return
	}
	r, n := utf8.DecodeRuneInString(w.content[w.seen:])
	w.seen += n
	w.skip(1)
	if w.at == len(w.src) {
		return
	}
	switch w.src[w.at] {
	case 'x':
		w.skip(3)
	case 'u':
		w.skip(5)
		if r > 0xFFFF { // JSON: the second half of a pair
			w.skip(6)
		}
	case 'U':
		w.skip(9)
	default:
		w.skip(1)
	}
}

func IsBlank(c byte) bool { return c == ' ' || c == '\t' }
