package node

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting depth.
const MaxDepth = 200

// jsonReader reads strict JSON in one pass. It keeps all members of objects in order, including repeated names.
type jsonReader struct {
	Source
	pos   int
	depth int
	shelf *Stack
	code  string // the refusal if no other reading is possible either
}

// ReadJSON reads the JSON value at src.text[pos:] and returns the position after it. code is set if no other reading is
// possible either.
func ReadJSON(src Source, pos int) (n Node, end int, code string, ok bool) {
	sh := NewStack()
	defer sh.Put()
	s := jsonReader{Source: src, pos: pos, shelf: sh}
	s.space()
	n, ok = s.value()
	return n, s.pos, s.code, ok
}

func (s *jsonReader) space() {
	for s.pos < len(s.Text) {
		switch s.Text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// next skips spaces and consumes c, if it is the next character.
func (s *jsonReader) next(c byte) bool {
	s.space()
	if s.pos < len(s.Text) && s.Text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *jsonReader) value() (Node, bool) {
	if s.pos >= len(s.Text) {
		return Node{}, false
	}
	n := Node{Off: s.At(s.pos)}
	switch c := s.Text[s.pos]; c {
	case '"':
		start := s.pos
		text, ok := s.quoted()
		n.Kind, n.Text, n.Exact = Quoted, text, s.pos-start == len(text)+2
		return n, ok
	case '{', '[':
		return s.group(c)
	case 't':
		n.Kind, n.Text = Truth, "true"
	case 'f':
		n.Kind, n.Text = Truth, "false"
	case 'n':
		n.Kind, n.Text = Null, "null"
	default:
		l := numberLength(s.Text[s.pos:])
		n.Kind, n.Text = Number, s.Text[s.pos:s.pos+l]
		s.pos += l
		return n, l > 0
	}
	if !strings.HasPrefix(s.Text[s.pos:], n.Text) {
		return n, false
	}
	s.pos += len(n.Text)
	return n, true
}

// group reads an array or object.
func (s *jsonReader) group(open byte) (Node, bool) {
	n := Node{Kind: Array, Off: s.At(s.pos)}
	closer := byte(']')
	if open == '{' {
		n.Kind, closer = Object, '}'
	}
	if s.depth++; s.depth > MaxDepth {
		s.code = "too-deep"
		return n, false
	}
	s.pos++
	first := len(s.shelf.Nodes)
	for closed := s.next(closer); !closed; closed = s.next(closer) {
		if len(s.shelf.Nodes) > first && !s.next(',') {
			return n, false
		}
		s.space()
		if !s.entry(n.Kind) {
			return n, false
		}
	}
	s.depth--
	n.Children = s.shelf.Take(first)
	return n, true
}

// entry reads a member or item onto the stack.
func (s *jsonReader) entry(of kind) bool {
	var name string
	var nameOff int32
	if of == Object {
		nameOff = s.At(s.pos)
		if s.pos >= len(s.Text) || s.Text[s.pos] != '"' {
			return false
		}
		text, ok := s.quoted()
		if !ok || !s.next(':') {
			return false
		}
		name = text
		s.space()
	}
	v, ok := s.value()
	v.Name, v.NameOff = name, nameOff
	s.shelf.Nodes = append(s.shelf.Nodes, v)
	return ok
}

// quoted reads a string including its quotes.
func (s *jsonReader) quoted() (string, bool) {
	start := s.pos + 1
	var decoded []byte // up to start, if there are escapes
	for i := start; i < len(s.Text); i++ {
		switch c := s.Text[i]; {
		case c == '"':
			s.pos = i + 1
			if decoded == nil {
				return s.Text[start:i], true
			}
			return string(append(decoded, s.Text[start:i]...)), true
		case c == '\\':
			r, size := Escape(s.Text[i:])
			if size == 0 {
				return "", false
			}
			if r < 0 {
				s.code = "encoding"
				return "", false
			}
			if decoded == nil {
				decoded = make([]byte, 0, i-start+32)
			}
			decoded = utf8.AppendRune(append(decoded, s.Text[start:i]...), r)
			start = i + size
			i = start - 1
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// Escape decodes the JSON escape at the start of s. The character is negative for half of a surrogate pair; the length is 0
// if it is not a JSON escape.
func Escape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		c, ok := Hex(s[2:], 4)
		switch {
		case !ok:
			return 0, 0
		case !utf16.IsSurrogate(c):
			return c, 6
		}
		if len(s) > 7 && s[6] == '\\' && s[7] == 'u' {
			if d, ok := Hex(s[8:], 4); ok {
				if both := utf16.DecodeRune(c, d); both != utf8.RuneError {
					return both, 12
				}
			}
		}
		return -1, 6
	}
	return 0, 0
}

// Hex parses n hexadecimal digits at the start of s.
func Hex(s string, n int) (c rune, ok bool) {
	if len(s) < n {
		return 0, false
	}
	for i := range n {
		switch d := s[i]; {
		case d >= '0' && d <= '9':
			c = c<<4 | rune(d-'0')
		case d >= 'a' && d <= 'f':
			c = c<<4 | rune(d-'a'+10)
		case d >= 'A' && d <= 'F':
			c = c<<4 | rune(d-'A'+10)
		default:
			return 0, false
		}
	}
	return c, true
}

// IsSpaces reports whether s has only spaces of JSON.
func IsSpaces(s string) bool { return strings.Trim(s, " \t\r\n") == "" }
