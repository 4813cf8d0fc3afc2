package shellsign

import (
	"regexp"
	"strings"
	"sync"
)

// word is a word of a command without its quotes.
type word struct {
	off   int // of the word in the command
	text  []byte
	offs  []int  // of each byte of text
	kinds []kind // of each byte of text
}

// kind is how a character is written. A shell looks at bare ones for everything, and at those in double quotes for
// variables only.
type kind int

const (
	bare kind = iota
	inDoubleQuotes
	literal // in single quotes, after a backslash, or in a placeholder
)

// upTo returns the text with all characters of a higher kind replaced, so that no sign matches them.
func (w *word) upTo(highest kind) string {
	text := []byte(string(w.text))
	for i, k := range w.kinds {
		if k > highest {
			text[i] = 'x'
		}
	}
	return string(text)
}

// splitter splits a command into words by the rules of run: single quotes, double quotes and backslashes.
type splitter struct {
	words []*word
	cur   *word
	quote byte
}

func split(command string) []*word {
	var s splitter
	for i := 0; i < len(command); {
		i += s.next(command, i)
	}
	s.end()
	return s.words
}

// next reads what starts at i, and returns how many bytes it read.
func (s *splitter) next(command string, i int) int {
	c := command[i]
	if n := placeholder(command[i:]); n > 0 && !list().MatchString(command[i:i+n]) && (i == 0 || command[i-1] != '$') {
		for k := range n {
			s.add(i+k, command[i+k], literal)
		}
		return n
	}
	switch {
	case c == '\\' && s.quote != '\'' && i+1 < len(command):
		s.add(i+1, command[i+1], literal)
		return 2
	case s.quote != 0 && c == s.quote:
		s.quote = 0
	case s.quote == '\'':
		s.add(i, c, literal)
	case s.quote == '"':
		s.add(i, c, inDoubleQuotes)
	case c == '\'' || c == '"':
		s.quote = c
		s.word(i)
	case strings.IndexByte(" \t\r\n", c) >= 0:
		s.end()
	default:
		s.add(i, c, bare)
	}
	return 1
}

// word returns the current word, which begins at i if it is new.
func (s *splitter) word(i int) *word {
	if s.cur == nil {
		s.cur = &word{off: i}
	}
	return s.cur
}

func (s *splitter) add(i int, c byte, k kind) {
	w := s.word(i)
	w.text, w.offs, w.kinds = append(w.text, c), append(w.offs, i), append(w.kinds, k)
}

func (s *splitter) end() {
	if s.cur != nil {
		s.words, s.cur = append(s.words, s.cur), nil
	}
}

// list matches braces that a shell replaces by several words: {a,b} and {1..3}. A placeholder has no such text.
var list = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{([A-Za-z0-9_./*-]*(,[A-Za-z0-9_./*-]*)+|[0-9]+\.\.[0-9]+|[A-Za-z]\.\.[A-Za-z])\}$`)
})

// maxPlaceholder limits how far a closing brace is searched, so that a text of many braces takes no quadratic time.
const maxPlaceholder = 1000

// placeholder returns the length of the braces at the start of s, 0 if they do not look like a placeholder.
func placeholder(s string) int {
	if s[0] != '{' {
		return 0
	}
	depth := 0
	for i := range min(len(s), maxPlaceholder) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '\n':
			return 0
		}
		if depth == 0 {
			return i + 1
		}
	}
	return 0
}
