package dotenv

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Var is one variable.
type Var struct{ Name, Value string }

// maxProblems is the maximum number of problems reported for one file.
const maxProblems = 100

// Parse parses the text of the named file; it does not open the file. outer returns
// variables that the file does not set; nil returns none. Each variable is returned once,
// in the order of first occurrence. If the Problems contain an error (see Err), the
// variables are incomplete.
func Parse(file, text string, outer func(name string) (string, bool)) ([]Var, Problems) {
	p := &parser{file: file, src: diagnostic.WithoutMark(text), outer: outer, index: map[string]int{}}
	if at := strings.IndexByte(p.src, 0); at >= 0 {
		p.fail(at, "NUL byte, which no variable can contain; save the file as UTF-8 text")
		return nil, p.problems
	}
	for p.at < len(p.src) && !p.full {
		p.line()
	}
	return p.vars, p.problems
}

type parser struct {
	file, src string
	at        int // position of the next byte to read
	outer     func(string) (string, bool)

	vars     []Var
	index    map[string]int // of vars, by name
	size     int            // of all values, in bytes
	full     bool           // MaxSize is exceeded
	problems Problems
}

func (p *parser) problem(at int, warning bool, format string, args ...any) {
	if len(p.problems) >= maxProblems {
		return
	}
	before := p.src[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	p.problems = append(p.problems, Problem{File: p.file, Line: 1 + strings.Count(before, "\n"),
		Col: 1 + utf8.RuneCountInString(before[start:]), Warning: warning, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) fail(at int, format string, args ...any) { p.problem(at, false, format, args...) }
func (p *parser) warn(at int, format string, args ...any) { p.problem(at, true, format, args...) }

// line reads one variable, or a line without one. After a problem it continues with the
// next line.
func (p *parser) line() {
	p.skipSpaces()
	if p.atLineEnd() || p.peek() == '#' {
		p.skipLine()
		return
	}
	p.export()
	at := p.at
	name, ok := p.name()
	if !ok {
		p.skipLine()
		return
	}
	value, ok := p.value()
	if !ok {
		p.skipLine()
		return
	}
	p.set(at, name, value)
}

// export skips the word export in front of a name.
func (p *parser) export() {
	rest, ok := strings.CutPrefix(p.src[p.at:], "export")
	if name := strings.TrimLeft(rest, " \t"); ok && len(name) < len(rest) && !strings.HasPrefix(name, "=") {
		p.at = len(p.src) - len(name)
	}
}

// name reads NAME and =, and the spaces around them.
func (p *parser) name() (string, bool) {
	at := p.at
	n := nameLength(p.src[at:])
	p.at += n
	p.skipSpaces()
	switch {
	case n == 0 && p.peek() == '=':
		p.fail(at, "a variable without a name; write NAME=VALUE")
	case p.peek() == '=' && !p.atLineEnd():
		p.at++
		return p.src[at : at+n], true
	case n > 0 && (p.atLineEnd() || p.peek() == '#'):
		p.fail(at, "a name without a value; write NAME=VALUE, or NAME= for an empty value")
	default:
		p.fail(at, "expected NAME=VALUE; names contain letters, digits and '_' and do not start with a digit, and values of several lines are quoted")
	}
	return "", false
}

// value reads the value after "=", and the rest of the line.
func (p *parser) value() (string, bool) {
	start := p.at
	p.skipSpaces()
	quote := p.peek()
	if quote != '"' && quote != '\'' {
		return p.unquoted(p.at > start), true
	}
	open := p.at
	value, ok := p.quoted(quote)
	if !ok {
		p.at = open
		p.fail(open, "quote %c is never closed; close it, or use the other kind of quotes for the value", quote)
		return "", false
	}
	end := p.at
	p.skipSpaces()
	if !p.atLineEnd() && !(p.peek() == '#' && p.at > end) {
		p.fail(p.at, "text after the closing quote; escape a quote inside the value with a backslash")
		return "", false
	}
	p.skipLine()
	return value, true
}

// unquoted reads a value without quotes. blank reports that a space precedes it, so that a #
// starts a comment.
func (p *parser) unquoted(blank bool) string {
	end := p.at
	for ; end < len(p.src) && p.src[end] != '\n'; end++ {
		if p.src[end] == '#' && blank {
			break
		}
		blank = isSpace(p.src[end])
	}
	end = p.at + len(strings.TrimRight(p.src[p.at:end], " \t\r"))
	var b strings.Builder
	for p.at < end && !p.full {
		if p.peek() == '$' {
			p.add(&b, p.expand(end))
			continue
		}
		p.add(&b, p.src[p.at:p.at+1])
		p.at++
	}
	p.skipLine()
	return b.String()
}

// escapes maps the bytes after a backslash in double quotes to their meaning. Before any
// other byte a backslash is literal.
var escapes = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`, '$': "$"}

// quoted reads a value in quotes. It reports false if they are not closed.
func (p *parser) quoted(quote byte) (string, bool) {
	var b strings.Builder
	for p.at++; p.at < len(p.src) && !p.full; {
		c, next := p.src[p.at], byte(0)
		if p.at+1 < len(p.src) {
			next = p.src[p.at+1]
		}
		switch {
		case c == quote:
			p.at++
			return b.String(), true
		case c == '\r' && next == '\n': // Windows line end
			p.at++
		case c == '\\' && quote == '\'' && next == '\'':
			p.add(&b, "'")
			p.at += 2
		case c == '\\' && quote == '"' && escapes[next] != "":
			p.add(&b, escapes[next])
			p.at += 2
		case c == '$' && quote == '"':
			p.add(&b, p.expand(len(p.src)))
		default:
			p.add(&b, p.src[p.at:p.at+1])
			p.at++
		}
	}
	return "", p.full
}

// add appends text to a value, up to MaxSize. The limit is needed because variables that
// contain others grow fast.
func (p *parser) add(b *strings.Builder, text string) {
	if p.size += len(text); p.size > MaxSize {
		if !p.full {
			p.fail(min(p.at, len(p.src)), "the values have more than %d bytes; pass large values in files", MaxSize)
		}
		p.full = true
		return
	}
	b.WriteString(text)
}

// expand reads a $ and its name, up to end, and returns the value.
func (p *parser) expand(end int) string {
	at := p.at
	rest := p.src[at+1 : end]
	if strings.HasPrefix(rest, "{") {
		n := nameLength(rest[1:])
		if n == 0 || !strings.HasPrefix(rest[1+n:], "}") {
			p.at++
			p.fail(at, "${...} must contain a name; put literal text in single quotes")
			return "$"
		}
		p.at += n + 3
		return p.lookup(at, rest[1:1+n])
	}
	n := nameLength(rest)
	p.at += n + 1
	if n == 0 {
		return "$"
	}
	return p.lookup(at, rest[:n])
}

func (p *parser) lookup(at int, name string) string {
	if i, ok := p.index[name]; ok {
		return p.vars[i].Value
	}
	if p.outer != nil {
		if v, ok := p.outer(name); ok {
			return v
		}
	}
	p.warn(at, "%s is not set, so it is empty here; set it above this line, or put a literal $ in single quotes", name)
	return ""
}

func (p *parser) set(at int, name, value string) {
	if i, ok := p.index[name]; ok {
		p.warn(at, "%s is set twice; the last value is used", name)
		p.vars[i].Value = value
		return
	}
	p.index[name] = len(p.vars)
	p.vars = append(p.vars, Var{name, value})
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// atLineEnd reports whether the line ends here.
func (p *parser) atLineEnd() bool {
	rest := p.src[p.at:]
	return rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "\r\n") || rest == "\r"
}

func (p *parser) skipSpaces() {
	for isSpace(p.peek()) {
		p.at++
	}
}

func (p *parser) skipLine() {
	n := strings.IndexByte(p.src[p.at:], '\n')
	if n < 0 {
		p.at = len(p.src)
		return
	}
	p.at += n + 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// nameLength returns the length of the name at the start of s, 0 for none.
func nameLength(s string) int {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || i > 0 && '0' <= c && c <= '9') {
			return i
		}
	}
	return len(s)
}
