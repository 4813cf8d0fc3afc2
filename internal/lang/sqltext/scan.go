package sqltext

import (
	"slices"
	"strings"
)

// Place is what surrounds a value.
type Place int

// The places.
const (
	Value     Place = iota // the database can bind it
	Name                   // a table, a column, a direction: part of what the statement is
	InText                 // inside quotes
	InName                 // inside the quotes of a name
	InComment              // inside a comment
	InWord                 // beside a letter or a digit, as in table_{N}
)

// Statement is what Scan finds out about a statement.
type Statement struct {
	Places []Place // of the values, in their order
	Verb   string  // the first word, in lower case
	More   bool    // a second statement follows a semicolon
	words  []string
}

// Scan reads a statement. Between two texts is a value, so there is one value less than there are texts.
func Scan(texts []string) Statement {
	s := scanner{frames: []frame{{}}}
	for i, text := range texts {
		s.read(text)
		if i+1 == len(texts) {
			break
		}
		place := s.place(texts[i+1])
		if i > 0 && text == "" && s.inside == "" { // beside another value
			place, s.Places[i-1] = InWord, InWord
		}
		s.Places = append(s.Places, place)
		s.begin()
		s.endWord()
		s.token(operand)
	}
	s.endWord()
	return s.Statement
}

// Reads reports whether the statement only reads, as far as its words tell: a function that it calls can still write.
func (s Statement) Reads() bool {
	return slices.Contains([]string{"select", "with", "values", "table", "show", "explain"}, s.Verb) &&
		!slices.ContainsFunc(s.words, func(w string) bool {
			return slices.Contains([]string{"insert", "update", "delete", "merge", "replace", "into", "analyze"}, w)
		})
}

// What the last token was, besides a word.
const (
	nothing  = ""
	operand  = "operand" // a value, a number, a text, a closing parenthesis
	operator = "operator"
	comma    = ","
	opening  = "("
	dot      = "."
	cast     = "::"
)

// frame is one level of parentheses.
type frame struct {
	clause string // the word that the part of the statement began with, such as from
	names  bool   // a list of names: the columns of an insert
}

type scanner struct {
	Statement
	inside string // what ends the text, name or comment that is being read; "" outside
	depth  int    // of comments in comments
	escape bool   // a backslash in the text escapes
	word   strings.Builder
	last   string // the last token: one of the constants, or "word"
	before string // the last word, if that is the last token
	prior  string // the word before it, if that was the token before it
	frames []frame
	ended  bool // by a semicolon
}

// inCall reports whether from, after a word, is part of an expression, as in "is distinct from" and "extract(epoch from".
func (s *scanner) inCall(word string) bool {
	return word == "distinct" || len(s.frames) > 1 && s.top().clause == ""
}

func (s *scanner) top() *frame { return &s.frames[len(s.frames)-1] }

// place returns the place of the value that follows what was read. next is the text behind it.
func (s *scanner) place(next string) Place {
	switch {
	case s.inside == "\n", s.inside == "*/":
		return InComment
	case s.inside == `"`, s.inside == "`", s.inside == "]":
		return InName
	case s.inside != "":
		return InText
	case s.word.Len() > 0, next != "" && isWord(next[0]):
		return InWord
	case s.last == dot, s.last == cast, strings.HasPrefix(next, "."), strings.HasPrefix(next, "("):
		return Name
	}
	switch s.last {
	case operator:
		return Value
	case comma, opening:
		if s.top().names || s.last == comma && slices.Contains(nameClauses, s.top().clause) {
			return Name
		}
		return Value
	case "word":
		if s.before == "from" && s.inCall(s.prior) {
			return Value
		}
		if s.before == "by" || !slices.Contains(valueWords, s.before) {
			return Name
		}
		return Value
	}
	return Name
}

// nameClauses begin a list of names.
var nameClauses = []string{"from", "join", "into", "order", "group", "table", "using"}

// valueClauses begin a part with values.
var valueClauses = []string{"select", "where", "set", "values", "having", "limit", "offset", "on", "returning", "window", "partition"}

// valueWords are the words that a value can follow.
var valueWords = []string{"select", "distinct", "all", "any", "some", "where", "and", "or", "not", "in", "like", "ilike", "glob", "regexp", "match",
	"between", "is", "then", "else", "when", "case", "limit", "offset", "having", "on", "returning", "escape", "zone", "for", "rows", "first", "next",
	"both", "leading", "trailing", "to"}

func (s *scanner) read(text string) {
	for i := 0; i < len(text); i++ {
		if s.inside != "" {
			i += s.readInside(text[i:])
			continue
		}
		c := text[i]
		if isWord(c) {
			s.begin()
			s.word.WriteByte(c)
			continue
		}
		word := s.word.String()
		s.endWord()
		rest := text[i:]
		switch {
		case c == ' ', c == '\t', c == '\n', c == '\r', c == '\f':
			continue
		case strings.HasPrefix(rest, "--"):
			s.inside = "\n"
			continue
		case strings.HasPrefix(rest, "/*"):
			s.inside, s.depth = "*/", 1
			i++
			continue
		}
		if c == ';' {
			s.ended = s.Verb != "" && !s.compound()
			s.last, s.before, s.frames = nothing, "", []frame{{}}
			continue
		}
		s.begin()
		switch {
		case c == '\'':
			s.inside, s.escape = "'", strings.EqualFold(word, "e")
			s.token(operand)
		case c == '"' || c == '`':
			s.inside = string(c)
			s.token(operand)
		case c == '$' && dollarTag(rest) != "":
			s.inside = dollarTag(rest)
			i += len(s.inside) - 1
			s.token(operand)
		case c == '(':
			into := s.top().clause == "into" || s.top().clause == "table"
			s.frames = append(s.frames, frame{names: into})
			s.token(opening)
		case c == ')':
			if len(s.frames) > 1 {
				s.frames = s.frames[:len(s.frames)-1]
			}
			s.token(operand)
		case c == ',':
			s.token(comma)
		case c == '.':
			s.token(dot)
		case strings.HasPrefix(rest, "::"):
			i++
			s.token(cast)
		case c == ']':
			s.token(operand)
		default:
			s.token(operator)
		}
	}
}

// begin notes that a token begins, which belongs to a second statement if the first one has ended.
func (s *scanner) begin() { s.More = s.More || s.ended }

// compound reports whether semicolons are part of the statement, as in the body of a trigger.
func (s *scanner) compound() bool {
	return s.Verb == "create" && slices.ContainsFunc(s.words, func(w string) bool { return w == "trigger" || w == "function" || w == "procedure" })
}

func (s *scanner) token(kind string) { s.last, s.before, s.prior = kind, "", "" }

// endWord ends the word that is being read, if there is one.
func (s *scanner) endWord() {
	if s.word.Len() == 0 {
		return
	}
	word := strings.ToLower(s.word.String())
	s.word.Reset()
	if word[0] >= '0' && word[0] <= '9' {
		s.token(operand)
		return
	}
	if s.Verb == "" {
		s.Verb = word
	}
	s.words = append(s.words, word)
	if (slices.Contains(nameClauses, word) || slices.Contains(valueClauses, word)) && !(word == "from" && s.inCall(s.before)) {
		*s.top() = frame{clause: word}
	}
	s.last, s.prior, s.before = "word", s.before, word
}

// readInside reads the rest of a text, a name in quotes or a comment. It returns how many bytes it took besides one.
func (s *scanner) readInside(rest string) int {
	end := s.inside
	switch {
	case end == "*/" && strings.HasPrefix(rest, "/*"):
		s.depth++
		return 1
	case s.escape && rest[0] == '\\' && len(rest) > 1:
		return 1
	case !strings.HasPrefix(rest, end):
		return 0
	case len(end) == 1 && end != "\n" && strings.HasPrefix(rest[1:], end): // two quotes are one
		return 1
	case end == "*/" && s.depth > 1:
		s.depth--
		return 1
	}
	s.inside, s.escape = "", false
	return len(end) - 1
}

// dollarTag returns the tag of a text in dollar signs, such as $$ or $body$, "" if there is none.
func dollarTag(rest string) string {
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '$':
			return rest[:i+1]
		case !isWord(c), i == 1 && c >= '0' && c <= '9':
			return ""
		}
	}
	return ""
}

// isWord reports whether a byte can be part of a word. A byte of a character beyond ASCII can.
func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// IsName reports whether a text can be put into a statement as a name or a word: identifiers of ASCII, with dots between
// them.
func IsName(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' || strings.ContainsFunc(part, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) }) {
			return false
		}
	}
	return true
}
