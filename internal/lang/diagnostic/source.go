package diagnostic

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// MaxFileSize is the maximum size of a definition file, in bytes.
const MaxFileSize = 16 << 20

// Source is the text of a file with an index of its lines. It is immutable, so texts of a definition can refer to it
// and be used concurrently.
type Source struct {
	File   string
	Text   []byte // without a byte order mark
	bomLen int    // length of the byte order mark
	Lines  []int  // offset of the first byte of each line
	ascii  bool   // every character is one byte
}

// byteOrderMark is what some programs of Windows write before UTF-8 text.
const byteOrderMark = "\ufeff"

// WithoutMark returns a text from outside without the byte order mark that it may begin with.
func WithoutMark[T string | []byte](text T) T {
	if n := len(byteOrderMark); len(text) >= n && string(text[:n]) == byteOrderMark {
		return text[n:]
	}
	return text
}

// NewSource indexes the lines of text and removes a byte order mark. It accepts any bytes; Problem checks whether they
// can be YAML.
//
// Lines end as in YAML 1.1, which also has line breaks at U+0085, U+2028 and U+2029: otherwise line numbers would
// differ from those of the parser.
func NewSource(file string, text []byte) *Source {
	size := len(text)
	text = WithoutMark(text)
	s := &Source{File: file, Text: text, bomLen: size - len(text), Lines: make([]int, 1, 1+len(text)/32), ascii: true}
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

// BreakLen returns the length of the line break that b begins with, or 0.
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

// Line returns line n, counted from 1, without its line break. It is empty outside the file.
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

// Offset returns the byte offset of a position, at most the length of the text.
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

// Forward returns the offset n characters after at.
func (s *Source) Forward(at, n int) int {
	for ; n > 0 && at < len(s.Text); n-- {
		_, size := utf8.DecodeRune(s.Text[at:])
		at += size
	}
	return at
}

// Pos returns the position of a byte offset.
func (s *Source) Pos(at int) Pos {
	line := sort.SearchInts(s.Lines, at+1)
	return Pos{File: s.File, Line: line, Col: 1 + utf8.RuneCount(s.Text[s.Lines[line-1]:at])}
}

// Problem returns the reason why the bytes cannot be YAML text, if there is one.
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

// isUTF16 detects UTF-16 by its byte order mark, or by a NUL next to the first character.
func isUTF16(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	return b[0] == 0xFF && b[1] == 0xFE || b[0] == 0xFE && b[1] == 0xFF ||
		b[0] == 0 && b[1] != 0 || b[0] != 0 && b[1] == 0
}

// yamlAllows reports whether YAML allows an unescaped character in a file.
func yamlAllows(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85:
		return true
	case r < ' ', r >= 0x7F && r < 0xA0, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return true
}
