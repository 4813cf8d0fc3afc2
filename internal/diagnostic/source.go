package diagnostic

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"
)

// MaxFileSize is the largest definition file that is read, in bytes.
const MaxFileSize = 16 << 20

// Source is a file as text with an index of its lines, built once. It is never
// changed afterwards, so texts of a definition may look into it from anywhere.
type Source struct {
	File  string
	Text  []byte // without a byte order mark
	mark  int    // length of the byte order mark
	Lines []int  // offset of the first byte of every line
	ascii bool   // every character is one byte
}

// NewSource indexes the lines of text and drops a byte order mark. It takes any
// bytes; whether they can be YAML is checked by problem.
//
// Lines end where YAML 1.1 ends them, which is also at U+0085, U+2028 and
// U+2029: with any other rule line numbers would not agree with the parser's.
func NewSource(file string, text []byte) *Source {
	size := len(text)
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s := &Source{File: file, Text: text, mark: size - len(text), Lines: make([]int, 1, 1+len(text)/32), ascii: true}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			s.ascii = false
		case c != '\n' && c != '\r':
			i++
			continue
		}
		n := BreakLen(text[i:])
		i += max(n, 1)
		if n > 0 {
			s.Lines = append(s.Lines, i)
		}
	}
	return s
}

// BreakLen is the length of the line break that b begins with, 0 for none.
func BreakLen(b []byte) int {
	switch {
	case b[0] == '\n':
		return 1
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2
	case b[0] == '\r':
		return 1
	case b[0] == 0xC2 && len(b) > 1 && b[1] == 0x85:
		return 2
	case b[0] == 0xE2 && len(b) > 2 && b[1] == 0x80 && (b[2] == 0xA8 || b[2] == 0xA9):
		return 3
	}
	return 0
}

// Line is the text of line n (from 1) without its break; empty outside the file.
func (s *Source) Line(n int) []byte {
	if n < 1 || n > len(s.Lines) {
		return nil
	}
	start, end := s.Lines[n-1], len(s.Text)
	if n < len(s.Lines) {
		end = s.Lines[n]
	}
	for i := start; i < end; i++ {
		if BreakLen(s.Text[i:end]) > 0 {
			return s.Text[start:i]
		}
	}
	return s.Text[start:end]
}

// Offset is the byte offset of a place, at most the length of the text.
func (s *Source) Offset(line, col int) int {
	if line < 1 || line > len(s.Lines) {
		return len(s.Text)
	}
	at := s.Lines[line-1]
	if s.ascii {
		return min(at+col-1, len(s.Text))
	}
	return s.Forward(at, col-1)
}

// Forward is the offset n characters after at.
func (s *Source) Forward(at, n int) int {
	for ; n > 0 && at < len(s.Text); n-- {
		_, size := utf8.DecodeRune(s.Text[at:])
		at += size
	}
	return at
}

// Pos is the place of a byte offset.
func (s *Source) Pos(at int) Pos {
	line := sort.SearchInts(s.Lines, at+1)
	return Pos{File: s.File, Line: line, Col: 1 + utf8.RuneCount(s.Text[s.Lines[line-1]:at])}
}

// Problem is what keeps the bytes from being YAML text at all.
func (s *Source) Problem() (Diagnostic, bool) {
	bad := func(at int, code, message, hint string) (Diagnostic, bool) {
		return Diagnostic{Code: code, Severity: Error, Pos: s.Pos(at), Message: message, Hint: hint}, true
	}
	if len(s.Text) > MaxFileSize {
		return bad(0, "file-too-large", fmt.Sprintf("cannot read the definition: it is larger than %d MiB", MaxFileSize>>20),
			"move long scripts or data to other files and use them in a step")
	}
	if isUTF16(s.Text) {
		return bad(0, "not-utf-8", "cannot read the definition: it is UTF-16 text", "save the file as UTF-8")
	}
	for i := 0; i < len(s.Text); {
		c := s.Text[i]
		if c >= ' ' && c < 0x7F {
			i++
			continue
		}
		r, size := utf8.DecodeRune(s.Text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return bad(i, "not-utf-8", fmt.Sprintf("cannot read the definition: byte %#02x at offset %d is not UTF-8", c, i),
				"save the file as UTF-8")
		case r == 0:
			return bad(i, "control-character", fmt.Sprintf("cannot read the definition: a NUL byte at offset %d", i),
				"remove the NUL byte; is this a text file?")
		case !yamlAllows(r):
			return bad(i, "control-character", fmt.Sprintf("cannot read the definition: control character %U", r),
				fmt.Sprintf(`write it as an escape in double quotes, "\u%04x"`, r))
		}
		i += size
	}
	return Diagnostic{}, false
}

// isUTF16 knows UTF-16 by its byte order mark, and without one by the NUL that
// stands beside the first character.
func isUTF16(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	return b[0] == 0xFF && b[1] == 0xFE || b[0] == 0xFE && b[1] == 0xFF ||
		b[0] == 0 && b[1] != 0 || b[0] != 0 && b[1] == 0
}

// yamlAllows says whether YAML lets a character stand in a file unescaped.
func yamlAllows(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85:
		return true
	case r < ' ', r >= 0x7F && r < 0xA0, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return true
}
