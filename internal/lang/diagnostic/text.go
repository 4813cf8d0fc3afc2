package diagnostic

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pos is a position in a file. Line and Col count from 1; Col counts characters. The zero Pos is an unknown position.
type Pos struct {
	File string
	Line int
	Col  int
}

// String returns file:line:col without the parts that are unknown.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// LineCol returns line:col, for messages about two positions in one file.
func LineCol(p Pos) string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Text is a string from a file together with its position. An offset in the string, such as that of a placeholder or a
// shell word, can be converted to a line and column.
type Text struct {
	S   string
	Pos Pos // of the first character of the content

	// src and form are needed to convert an offset to a position in the file. Both are zero for texts made in Go.
	src    *Source
	form   form
	indent int32 // spaces at the start of every line of a block scalar
}

// Plain returns a text without a position, for definitions made in Go.
func Plain(s string) Text { return Text{S: s} }

// At returns the position of byte offset off of S. An offset outside S becomes the nearest valid one. The position is
// exact for all ways of writing a string in YAML, including folded lines and escape sequences. At reads the file again
// up to that position: fast enough for messages, but too slow to call for every byte.
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

// form is the notation of a scalar in the file.
type form uint8

const (
	PlainForm   form = iota // without quotes, possibly over several lines
	SingleForm              // '...'
	DoubleForm              // "..."
	LiteralForm             // |
	FoldedForm              // >
)

// locate walks through the scalar in the file and its content in parallel, until it has seen off bytes of the content.
// The content shows how each line break was folded, so YAML's folding rules are not repeated here.
func (s *Source) locate(t Text, off int) Pos {
	w := walker{src: s.Text, at: s.Offset(t.Pos.Line, t.Pos.Col), line: t.Pos.Line, col: t.Pos.Col, content: t.S}
	w.block, w.indent = t.form == LiteralForm || t.form == FoldedForm, int(t.indent)
	for w.at < len(w.src) && (w.contentAt < off || t.form == DoubleForm && w.atJoin()) {
		before := w
		w.step(t.form)
		if w.contentAt > off { // off is inside a fold or an escape: return its start
			w = before
			break
		}
	}
	return Pos{File: t.Pos.File, Line: w.line, Col: w.col}
}

// Scalar returns a scalar of the source as a Text: value is its content, at its position and f its notation.
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

// blockStart determines the indentation and the first character of a block scalar, which the parser does not report.
// Both follow from the first line with content: apart from the indentation, it begins with the same spaces in the file
// and in the content.
func (t *Text) blockStart() {
	blanks := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	header := t.Pos.Line
	leading := len(t.S) - len(strings.TrimLeft(t.S, "\n"))
	first := string(t.src.Line(header + 1 + leading))
	if strings.TrimSpace(first) != "" {
		t.indent = int32(max(0, blanks(first)-blanks(t.S[leading:])))
	}
	if header < len(t.src.Lines) {
		t.Pos.Line, t.Pos.Col = header+1, 1+min(int(t.indent), blanks(string(t.src.Line(header+1))))
	}
}

// walker is a position in the file and the matching offset in the content.
type walker struct {
	src       []byte
	at        int
	line, col int
	content   string
	contentAt int
	block     bool // a block scalar: lines begin with indent spaces
	indent    int
}

// step moves past one character, one escape or one sequence of line breaks.
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
		w.contentAt++
	default:
		w.character()
	}
}

func (w *walker) literal() {
	if BreakLen(w.src[w.at:]) > 0 {
		_, n := utf8.DecodeRuneInString(w.content[w.contentAt:])
		w.contentAt += n
		w.nextLine()
		return
	}
	w.character()
}

// character moves past one character that is the same in the file and in the content.
func (w *walker) character() {
	_, n := utf8.DecodeRune(w.src[w.at:])
	w.at += n
	w.col++
	w.contentAt += n
}

func (w *walker) skip(chars int) {
	for ; chars > 0 && w.at < len(w.src); chars-- {
		_, n := utf8.DecodeRune(w.src[w.at:])
		w.at += n
		w.col++
	}
}

// nextLine moves past a line break and the indentation of a block scalar.
func (w *walker) nextLine() {
	w.at += BreakLen(w.src[w.at:])
	w.line, w.col = w.line+1, 1
	for w.block && w.col <= w.indent && w.at < len(w.src) && w.src[w.at] == ' ' {
		w.skip(1)
	}
}

// atFold reports whether there is a line break here. In flow scalars, spaces before it are skipped, because YAML drops
// them.
func (w *walker) atFold() bool {
	i := w.at
	for !w.block && i < len(w.src) && IsBlank(w.src[i]) {
		i++
	}
	return i < len(w.src) && BreakLen(w.src[i:]) > 0
}

// fold moves past a sequence of line breaks. A single one became a space (in a block it may have been kept); of
// several, all or all but the first were kept.
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
		w.contentAt++
	case w.block:
		for ; breaks > 0 && w.next() == '\n'; breaks-- {
			w.contentAt++
		}
	default:
		w.contentAt += min(breaks-1, len(w.content)-w.contentAt)
	}
}

func (w *walker) skipBlanks() {
	for !w.block && w.at < len(w.src) && IsBlank(w.src[w.at]) {
		w.skip(1)
	}
}

func (w *walker) next() byte {
	if w.contentAt < len(w.content) {
		return w.content[w.contentAt]
	}
	return 0
}

// atJoin reports whether a backslash joins this line to the next one.
func (w *walker) atJoin() bool {
	return w.src[w.at] == '\\' && w.at+1 < len(w.src) && BreakLen(w.src[w.at+1:]) > 0
}

// escape moves past a backslash sequence of a double-quoted scalar. It is one character of the content, or none if the
// backslash joins two lines.
func (w *walker) escape() {
	if w.atJoin() {
		w.skip(1)
		w.nextLine()
		w.skipBlanks()
		return
	}
	r, n := utf8.DecodeRuneInString(w.content[w.contentAt:])
	w.contentAt += n
	w.skip(1)
	if w.at == len(w.src) {
		return
	}
	switch w.src[w.at] {
	case 'x':
		w.skip(3)
	case 'u':
		w.skip(5)
		if r > 0xFFFF { // JSON: the second half of a surrogate pair
			w.skip(6)
		}
	case 'U':
		w.skip(9)
	default:
		w.skip(1)
	}
}

func IsBlank(c byte) bool { return c == ' ' || c == '\t' }
