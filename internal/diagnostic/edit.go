package diagnostic

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// Edit is one change to a file: its bytes From to To (from 0, To not included) become
// Text. Offsets are those of the whole file, with a byte order mark if it has one.
type Edit struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

// Apply is text with the edits made. It answers false, and makes none, where they
// overlap or stand outside of the text.
func Apply(text []byte, edits []Edit) ([]byte, bool) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.From < at || e.To < e.From || e.To > len(text) {
			return nil, false
		}
		out.Write(text[at:e.From])
		out.WriteString(e.Text)
		at = e.To
	}
	out.Write(text[at:])
	return out.Bytes(), true
}

// Edit replaces bytes of the source by other text.
func (s *Source) Edit(from, to int, text string) []Edit {
	return []Edit{{From: from + s.mark, To: to + s.mark, Text: text}}
}

// Rename replaces a word that stands at a place by another; nothing where something
// else stands there, as when the word is written with escapes.
func (s *Source) Rename(at Pos, old, new string) []Edit {
	from := s.Offset(at.Line, at.Col)
	if old == "" || !bytes.HasPrefix(s.Text[from:], []byte(old)) {
		return nil
	}
	return s.Edit(from, from+len(old), new)
}

// Newline is how the file ends its lines.
func (s *Source) Newline() string {
	if i := bytes.IndexByte(s.Text, '\n'); i > 0 && s.Text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Rename is the edit that puts another word in the place of old, which stands at byte
// off of the text; none where the file holds it in another form, and none for texts
// made in Go.
func (t Text) Rename(off int, old, new string) []Edit {
	if t.src == nil || off < 0 || off+len(old) > len(t.S) || t.S[off:off+len(old)] != old {
		return nil
	}
	return t.src.Rename(t.At(off), old, new)
}

// Units is a column counted in UTF-16 code units, as editors and SARIF count, for one
// that counts characters. file is the bytes of the file; without them every character
// counts as one.
func (p Pos) Units(file []byte) int {
	s := NewSource(p.File, file)
	line, units := s.Line(p.Line), 1
	for range p.Col - 1 {
		r, size := utf8.DecodeRune(line)
		units += max(1, utf16Len(r))
		line = line[size:]
	}
	return units
}

func utf16Len(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// PosAt is the place of a byte of a file.
func PosAt(name string, file []byte, at int) Pos {
	s := NewSource(name, file)
	return s.Pos(min(max(at-s.mark, 0), len(s.Text)))
}
