package tool

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"
)

// MaxFileSize is the largest definition file that is read, in bytes.
const MaxFileSize = 16 << 20

// source is a file as text with an index of its lines, built once. It is never
// changed afterwards, so texts of a definition may look into it from anywhere.
type source struct {
	file  string
	text  []byte // without a byte order mark
	mark  int    // length of the byte order mark
	lines []int  // offset of the first byte of every line
	ascii bool   // every character is one byte
}

// newSource indexes the lines of text and drops a byte order mark. It takes any
// bytes; whether they can be YAML is checked by problem.
//
// Lines end where YAML 1.1 ends them, which is also at U+0085, U+2028 and
// U+2029: with any other rule line numbers would not agree with the parser's.
func newSource(file string, text []byte) *source {
	size := len(text)
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s := &source{file: file, text: text, mark: size - len(text), lines: make([]int, 1, 1+len(text)/32), ascii: true}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			s.ascii = false
		case c != '\n' && c != '\r':
			i++
			continue
		}
		n := breakLen(text[i:])
		i += max(n, 1)
		if n > 0 {
			s.lines = append(s.lines, i)
		}
	}
	return s
}

// breakLen is the length of the line break that b begins with, 0 for none.
func breakLen(b []byte) int {
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

// line is the text of line n (from 1) without its break; empty outside the file.
func (s *source) line(n int) []byte {
	if n < 1 || n > len(s.lines) {
		return nil
	}
	start, end := s.lines[n-1], len(s.text)
	if n < len(s.lines) {
		end = s.lines[n]
	}
	for i := start; i < end; i++ {
		if breakLen(s.text[i:end]) > 0 {
			return s.text[start:i]
		}
	}
	return s.text[start:end]
}

// offset is the byte offset of a place, at most the length of the text.
func (s *source) offset(line, col int) int {
	if line < 1 || line > len(s.lines) {
		return len(s.text)
	}
	at := s.lines[line-1]
	if s.ascii {
		return min(at+col-1, len(s.text))
	}
	return s.forward(at, col-1)
}

// forward is the offset n characters after at.
func (s *source) forward(at, n int) int {
	for ; n > 0 && at < len(s.text); n-- {
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at
}

// pos is the place of a byte offset.
func (s *source) pos(at int) Pos {
	line := sort.SearchInts(s.lines, at+1)
	return Pos{File: s.file, Line: line, Col: 1 + utf8.RuneCount(s.text[s.lines[line-1]:at])}
}

// problem is what keeps the bytes from being YAML text at all.
func (s *source) problem() (Diagnostic, bool) {
	bad := func(at int, code, message, hint string) (Diagnostic, bool) {
		return Diagnostic{Code: code, Severity: Error, Pos: s.pos(at), Message: message, Hint: hint}, true
	}
	if len(s.text) > MaxFileSize {
		return bad(0, "file-too-large", fmt.Sprintf("cannot read the definition: it is larger than %d MiB", MaxFileSize>>20),
			"move long scripts or data into files of their own and call them from a step")
	}
	if isUTF16(s.text) {
		return bad(0, "not-utf-8", "cannot read the definition: it is UTF-16 text", "save the file as UTF-8")
	}
	for i := 0; i < len(s.text); {
		c := s.text[i]
		if c >= ' ' && c < 0x7F {
			i++
			continue
		}
		r, size := utf8.DecodeRune(s.text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return bad(i, "not-utf-8", fmt.Sprintf("cannot read the definition: byte %#02x at offset %d is not UTF-8", c, i),
				"save the file as UTF-8")
		case r == 0:
			return bad(i, "control-character", fmt.Sprintf("cannot read the definition: a NUL byte at offset %d", i),
				"is this a text file? remove the NUL byte")
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
