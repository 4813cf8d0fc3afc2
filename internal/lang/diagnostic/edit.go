package diagnostic

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// Edit is one change to a file: Text replaces the bytes from offset From up to, but not including, To. Offsets count
// from 0 and include a byte order mark.
type Edit struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

// Apply returns text with the edits applied. It returns false, and applies none, if edits overlap or are outside the
// text.
func Apply(text []byte, edits []Edit) ([]byte, bool) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, byPlace)
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

// Edits is a set of edits that Apply can apply together.
type Edits []Edit // sorted

// Add adds edits that belong together. It returns false, and adds none, if one of them overlaps an edit of the set.
func (all *Edits) Add(more []Edit) bool {
	for _, e := range more {
		i := all.place(e)
		if i > 0 && (*all)[i-1].To > e.From || i < len(*all) && e.To > (*all)[i].From {
			return false
		}
	}
	for _, e := range more {
		*all = slices.Insert(*all, all.place(e), e)
	}
	return true
}

// place returns the index of the first edit that Apply applies after e.
func (all *Edits) place(e Edit) int {
	i, _ := slices.BinarySearchFunc(*all, e, func(one, e Edit) int {
		if byPlace(one, e) > 0 {
			return 1
		}
		return -1
	})
	return i
}

func byPlace(a, b Edit) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

// Edit returns the edit that replaces bytes of the source.
func (s *Source) Edit(from, to int, text string) []Edit {
	return []Edit{{From: from + s.bomLen, To: to + s.bomLen, Text: text}}
}

// Rename returns the edit that replaces the word at a position. It returns nil if the text there is not old, for
// example because the word is written with escapes.
func (s *Source) Rename(at Pos, old, new string) []Edit {
	from := s.Offset(at.Line, at.Col)
	if old == "" || !bytes.HasPrefix(s.Text[from:], []byte(old)) {
		return nil
	}
	return s.Edit(from, from+len(old), new)
}

// Newline returns the line break that the file uses.
func (s *Source) Newline() string {
	if i := bytes.IndexByte(s.Text, '\n'); i > 0 && s.Text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Rename returns the edit that replaces old, which is at byte offset off of the text. It returns nil if the file
// contains old in another form, and for texts made in Go.
func (t Text) Rename(off int, old, new string) []Edit {
	if t.src == nil || off < 0 || off+len(old) > len(t.S) || t.S[off:off+len(old)] != old {
		return nil
	}
	return t.src.Rename(t.At(off), old, new)
}

// Units converts a column that counts characters to one that counts UTF-16 code units, as editors and SARIF do. file is
// the content of the file; if it is missing, every character counts as one unit.
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

// PosAt returns the position of the byte at the given offset of a file.
func PosAt(name string, file []byte, at int) Pos {
	s := NewSource(name, file)
	return s.Pos(min(max(at-s.bomLen, 0), len(s.Text)))
}
