package quoting

import "strings"

// cell is one byte of a script, or a placeholder. The byte of a placeholder is 0, which no
// script contains.
type cell struct {
	c           byte
	placeholder *Placeholder
}

// cells is a script in which placeholders are not text. Readers go through it byte by byte.
// That is enough, because everything that has a meaning to a shell is ASCII, except the
// typographic quotes of PowerShell.
type cells []cell

func cellsOf(pieces []Piece) cells {
	var cs cells
	for _, p := range pieces {
		if p.Placeholder != nil {
			cs = append(cs, cell{placeholder: p.Placeholder})
			continue
		}
		for i := range len(p.Text) {
			cs = append(cs, cell{c: p.Text[i]})
		}
	}
	return cs
}

// at returns the byte at i: 0 for a placeholder, a newline before the start and after the end.
func (cs cells) at(i int) byte {
	if i < 0 || i >= len(cs) {
		return '\n'
	}
	return cs[i].c
}

func (cs cells) isPlaceholder(i int) bool { return i >= 0 && i < len(cs) && cs[i].placeholder != nil }

// has reports whether the script has the text at i.
func (cs cells) has(i int, text string) bool {
	if i+len(text) > len(cs) {
		return false
	}
	for k := range len(text) {
		if cs[i+k].c != text[k] {
			return false
		}
	}
	return true
}

// word returns the letters, digits, _ and - from i on, in lower case.
func (cs cells) word(i int) string {
	n := i
	for n < len(cs) && (isNameByte(cs[n].c) || cs[n].c == '-') {
		n++
	}
	return strings.ToLower(cs.text(i, n))
}

// text returns the script from i up to, but without, j. Placeholders are left out.
func (cs cells) text(i, j int) string {
	var b strings.Builder
	for _, c := range cs[i:j] {
		if c.placeholder == nil {
			b.WriteByte(c.c)
		}
	}
	return b.String()
}

// pieceWriter collects pieces and joins adjacent text.
type pieceWriter struct {
	pieces []Piece
	buf    strings.Builder
}

func (w *pieceWriter) text(s string) { w.buf.WriteString(s) }

func (w *pieceWriter) placeholder(ph *Placeholder) {
	w.flush()
	w.pieces = append(w.pieces, Piece{Placeholder: ph})
}

func (w *pieceWriter) cell(c cell) {
	if c.placeholder != nil {
		w.placeholder(c.placeholder)
		return
	}
	w.buf.WriteByte(c.c)
}

func (w *pieceWriter) flush() {
	if w.buf.Len() > 0 {
		w.pieces = append(w.pieces, Piece{Text: w.buf.String()})
		w.buf.Reset()
	}
}

// refusals reports placeholders that cannot take a value, each of them once.
type refusals struct {
	seen     map[*Placeholder]bool
	problems []Problem
}

// add reports a placeholder, unless it is a RAW one, whose value is code on purpose. {X} in the
// hint is replaced by the placeholder as it is written.
func (r *refusals) add(ph *Placeholder, why, hint string) {
	if r.seen[ph] || ph.Raw {
		return
	}
	if r.seen == nil {
		r.seen = map[*Placeholder]bool{}
	}
	r.seen[ph] = true
	r.problems = append(r.problems, Problem{Placeholder: ph, Hint: strings.ReplaceAll(hint, "{X}", ph.Written),
		Message: "cannot put " + ph.Name + " here: " + why})
}

func isBlank(c byte) bool    { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isNameByte(c byte) bool { return c == '_' || isLetter(c) || isDigit(c) }

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != "" && !isDigit(s[0])
}
