package keytable

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// trap is a part of the text that YAML reads differently from what people mean.
type trap struct {
	code          string
	line, col     int // of the offending character
	len           int // characters
	key           string
	valueLine     int
	valueCol      int // of the first character of the value
	message, hint string
}

// scanTraps searches a text that is not valid YAML line by line, and calls yield for each known trap in order until it
// returns false. It follows block scalars, quotes and brackets only well enough to ignore traps inside them.
func scanTraps(s *diagnostic.Source, yield func(trap) bool) {
	sc := &trapScanner{s: s}
	for sc.line = 1; sc.line <= len(s.Lines); sc.line++ {
		if t, ok := sc.next(); ok && !yield(t) {
			return
		}
	}
}

type trapScanner struct {
	s    *diagnostic.Source
	line int
	// scalarIndent is the column, from 0, of the key whose plain value is on the previous line, or -1. plainKey is that
	// key.
	scalarIndent int
	plainKey     string
	levels       []int // columns, from 0, of the open keys and dashes
	word         trap  // missing-colon at the first of the last lines without a key, if it is followed by a key in its column
	wordIndent   int
	escape       *trap // the first escape in the current value that YAML does not know
}

// lineParts is a line split into dashes, key and value.
type lineParts struct {
	indent int // bytes before the key, or before the value if there is no key
	key    string
	value  string
	at     int // byte offset of the value in the line
	// columns are the columns of the dashes and the key, from the left.
	columns []int
}

// next examines the current line and moves past the lines of its value.
func (sc *trapScanner) next() (trap, bool) {
	raw := string(sc.s.Line(sc.line))
	body := strings.TrimLeft(raw, " ")
	parent, key := sc.scalarIndent, sc.plainKey
	if trimmed := strings.TrimSpace(body); trimmed == "" || trimmed[0] == '#' || raw[0] == '%' && len(sc.levels) == 0 { // a directive
		return trap{}, false
	}
	sc.scalarIndent, sc.plainKey = -1, ""
	if body[0] == '\t' {
		return sc.trap(raw, len(raw)-len(body), 1, trap{code: "tab-indentation",
			message: "cannot read this line: it is indented with a tab, which YAML does not allow",
			hint:    "indent with spaces"}), true
	}
	f := split(raw)
	if key != "" && f.indent > parent {
		return sc.continued(raw, f, parent, key)
	}
	if !sc.align(f) {
		return sc.trap(raw, len(raw)-len(body), 1, trap{code: "bad-indentation",
			message: "cannot read this line: its indentation matches none of the lines above",
			hint:    "start it in the same column as the lines around it"}), true
	}
	if t, ok := sc.missingColon(raw, f); ok {
		return t, true
	}
	return sc.value(raw, f)
}

// continued examines a line that continues the plain value of a key.
func (sc *trapScanner) continued(raw string, f lineParts, parent int, key string) (trap, bool) {
	at, length := f.indent, utf8.RuneCountInString(f.key)
	if f.key == "" {
		i := colonIn(f.value)
		if i < 0 {
			sc.scalarIndent, sc.plainKey = parent, key
			return trap{}, false
		}
		at, length = f.at+i, 1
	}
	return sc.trap(raw, at, length, trap{code: "colon-in-value", key: key,
		message: fmt.Sprintf("cannot read this line: it continues the value of %q, which cannot contain ': '", key),
		hint:    fmt.Sprintf("write the whole value as a block: '%s: |', and every line of it indented below", key)}), true
}

// missingColon examines lines without a key. Such a line is wrong if it is in the column of a key: of an open one, or
// of the next line that has a key.
func (sc *trapScanner) missingColon(raw string, f lineParts) (trap, bool) {
	before, indent := sc.word, sc.wordIndent
	if f.key != "" {
		sc.word = trap{}
		return before, before.code != "" && f.indent == indent && len(f.columns) == 1
	}
	at := len(raw) - len(strings.TrimLeft(raw, "- "))
	word := raw[at : at+wordLen(raw[at:])]
	if rest := raw[at+len(word):]; word == "" || rest != "" && !diagnostic.IsBlank(rest[0]) {
		sc.word = trap{}
		return trap{}, false
	}
	t := sc.trap(raw, at, len(word), trap{code: "missing-colon",
		message: fmt.Sprintf("cannot read this line: there is no ':' after %q", word),
		hint:    fmt.Sprintf("write '%s'; if the line continues the value above it, indent it", strings.TrimSpace(word+": "+strings.TrimSpace(raw[at+len(word):])))})
	if before.code == "" || indent != at || len(f.columns) > 0 {
		sc.word, sc.wordIndent = t, at
	}
	return t, len(f.columns) == 0 && slices.Contains(sc.levels, at)
}

// wordLen returns the length of the name at the beginning of a text.
func wordLen(s string) int {
	n := 0
	for n < len(s) && IsNameByte(s[n]) {
		n++
	}
	return n
}

// align closes the open keys and dashes to the right of those on the line. It reports whether the line is then aligned
// with one of the rest. A line further to the right opens a new level.
func (sc *trapScanner) align(f lineParts) bool {
	for _, column := range f.columns {
		closed := false
		for len(sc.levels) > 0 && sc.levels[len(sc.levels)-1] > column {
			sc.levels = sc.levels[:len(sc.levels)-1]
			closed = true
		}
		top := -1
		if len(sc.levels) > 0 {
			top = sc.levels[len(sc.levels)-1]
		}
		if closed && top < column {
			return false
		}
		if top < column {
			sc.levels = append(sc.levels, column)
		}
	}
	return true
}

// value examines the value after the key.
func (sc *trapScanner) value(raw string, f lineParts) (trap, bool) {
	if f.value == "" {
		return trap{}, false
	}
	switch f.value[0] {
	case '#':
		return trap{}, false
	case '|', '>':
		sc.skipBlock(f.indent)
		return trap{}, false
	case '"', '\'', '[', '{':
		return sc.enclosed(raw, f)
	case '@', '`', '%':
		return sc.trap(raw, f.at, 1, trap{code: "reserved-character",
			message: fmt.Sprintf("cannot read this value: it begins with '%c', which YAML reserves", f.value[0]),
			hint:    quoteTheValue(f)}), true
	case '*', '&', '!':
		return sc.indicator(raw, f)
	}
	if i := colonIn(f.value); i >= 0 {
		return sc.trap(raw, f.at+i, 1, trap{code: "colon-in-value", key: f.key, valueLine: sc.line, valueCol: column(raw, f.at),
			message: fmt.Sprintf("cannot read this value: YAML reads the ': ' inside it as the start of a new key%s", ofKey(f.key)),
			hint:    quoteTheValue(f)}), true
	}
	if f.key != "" {
		sc.scalarIndent, sc.plainKey = f.indent, f.key
	}
	return trap{}, false
}

// indicator examines a value that begins like an alias, an anchor or a tag. A value such as *.txt or &>log is text that
// needs quotes.
func (sc *trapScanner) indicator(raw string, f lineParts) (trap, bool) {
	name := f.value[1:]
	if f.value[0] == '!' || name != "" && IsNameByte(name[0]) {
		return trap{}, false
	}
	return sc.trap(raw, f.at, 1, trap{code: "reserved-character",
		message: fmt.Sprintf("cannot read this value: it begins with '%c', which marks an alias or an anchor in YAML", f.value[0]),
		hint:    quoteTheValue(f)}), true
}

// enclosed follows a quoted or bracketed value to its end, possibly over several lines, and examines the text after it.
func (sc *trapScanner) enclosed(raw string, f lineParts) (trap, bool) {
	opening, start := f.value[0], sc.line
	sc.escape = nil
	rest, ok := sc.skipValue(f)
	trimmed := strings.TrimSpace(rest)
	switch {
	case ok && sc.escape != nil:
		return *sc.escape, true
	case !ok:
		sc.line = start
		what, fix := "bracket", "close it, or quote the value if it is meant to be text"
		if opening == '"' || opening == '\'' {
			what, fix = "quote", "close it at the end of the value"
		}
		return sc.trap(raw, f.at, 1, trap{code: "unclosed-" + what, message: fmt.Sprintf("cannot read this value: the %s %c is never closed", what, opening), hint: fix}), true
	case trimmed == "" || trimmed[0] == '#' && rest[0] != '#':
		return trap{}, false
	case trimmed[0] == ':' && f.key == "":
		return trap{}, false // a quoted key
	}
	here := string(sc.s.Line(sc.line))
	if opening == '{' && sc.line == start {
		return sc.trap(raw, f.at, len([]rune(f.value))-len([]rune(rest)), trap{code: "unquoted-reference",
			message: "cannot read this value: a value that begins with '{' must be quoted", hint: quoteTheValue(f)}), true
	}
	hint := quoteTheValue(f)
	if opening == '\'' && sc.line == start && strings.HasSuffix(f.value, "'") {
		hint = fmt.Sprintf("inside single quotes, write each quote twice: '%s'", strings.ReplaceAll(f.value[1:len(f.value)-1], "'", "''"))
	}
	return sc.trap(here, len(here)-len(strings.TrimLeft(rest, " \t")), 1, trap{code: "text-after-value",
		message: fmt.Sprintf("cannot read this line: text follows the closing %c", closing[opening]), hint: hint}), true
}

var closing = map[byte]byte{'"': '"', '\'': '\'', '[': ']', '{': '}'}

// skipValue moves to the line on which the value of f ends and returns the text after it. A line that looks like the
// next key ends the search: the value was never closed.
func (sc *trapScanner) skipValue(f lineParts) (rest string, ok bool) {
	var open []byte // brackets to close, innermost last; at most one quote, at the end
	text, from := f.value, f.at
	for {
		for i := 0; i < len(text); i++ {
			c, top := text[i], byte(0)
			if len(open) > 0 {
				top = open[len(open)-1]
			}
			switch {
			case c == '\\' && top == '"':
				sc.checkEscape(text, from, i)
				i++
			case c == top && top != 0:
				if c == '\'' && i+1 < len(text) && text[i+1] == '\'' {
					i++
					continue
				}
				if open = open[:len(open)-1]; len(open) == 0 {
					return text[i+1:], true
				}
			case top == '"' || top == '\'':
			case closing[c] != 0 && (i == 0 || c == '[' || c == '{' || strings.IndexByte(" ,[{:", text[i-1]) >= 0):
				open = append(open, closing[c])
			}
		}
		if sc.line >= len(sc.s.Lines) {
			return "", false
		}
		sc.line++
		text, from = string(sc.s.Line(sc.line)), 0
		if next := split(text); next.key != "" && next.indent <= f.indent {
			return "", false
		}
	}
}

// yamlEscapes are the characters that may follow a backslash in double quotes.
const yamlEscapes = "0abt\tnvfre \"/\\N_LPxuU"

// checkEscape remembers the escape at offset i of a text, which begins at byte from of the current line, if it is the
// first one of the value that YAML does not know.
func (sc *trapScanner) checkEscape(text string, from, i int) {
	if sc.escape != nil || i+1 >= len(text) || strings.IndexByte(yamlEscapes, text[i+1]) >= 0 {
		return
	}
	r, _ := utf8.DecodeRuneInString(text[i+1:])
	t := sc.trap(string(sc.s.Line(sc.line)), from+i, 2, trap{code: "bad-escape",
		message: fmt.Sprintf("cannot read this value: \\%c is not an escape that YAML knows in double quotes", r),
		hint:    fmt.Sprintf("write \\\\%c if the backslash belongs to the text, or write the text as a block after '|'", r)})
	sc.escape = &t
}

// skipBlock moves past the lines of a block scalar whose key is at indent.
func (sc *trapScanner) skipBlock(indent int) {
	for sc.line < len(sc.s.Lines) {
		next := sc.s.Line(sc.line + 1)
		body := bytes.TrimLeft(next, " ")
		if len(bytes.TrimSpace(body)) > 0 && len(next)-len(body) <= indent {
			return
		}
		sc.line++
	}
}

// trap completes t with its position: byte offset at of the current line.
func (sc *trapScanner) trap(line string, at, length int, t trap) trap {
	t.line, t.col, t.len = sc.line, column(line, at), length
	return t
}

func column(line string, at int) int { return 1 + utf8.RuneCountInString(line[:at]) }

// split splits a line into its parts. The key is empty if the line contains only a value.
func split(line string) lineParts {
	at := len(line) - len(strings.TrimLeft(line, " "))
	indent := at
	var columns []int
	for strings.HasPrefix(line[at:], "- ") {
		columns = append(columns, at)
		indent = at + 1 // a value without a key may be indented by less than the text after the dash
		at += 2
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
	}
	f := lineParts{indent: at, at: at, columns: columns}
	i := 0
	for at+i < len(line) && isKeyByte(line[at+i]) {
		i++
	}
	end := at + i
	if i > 0 && end < len(line) && line[end] == ':' && (end+1 == len(line) || diagnostic.IsBlank(line[end+1])) {
		f.key = line[at:end]
		f.columns = append(f.columns, at)
		f.at = len(line) - len(strings.TrimLeft(line[end+1:], " \t"))
	} else if indent != at {
		f.indent = indent - 1
	}
	f.value = strings.TrimRight(line[f.at:], " \t")
	return f
}

// IsNameByte reports whether a byte can be part of a name of a parameter or step.
func IsNameByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isKeyByte(c byte) bool { return IsNameByte(c) || c == '.' || c == '<' || c >= utf8.RuneSelf }

// colonIn returns the offset of a colon that YAML reads as the end of a key, or -1.
func colonIn(value string) int {
	if i := strings.Index(value, " #"); i >= 0 {
		value = strings.TrimRight(value[:i], " ")
	}
	for i := range len(value) {
		if value[i] == ':' && (i+1 == len(value) || diagnostic.IsBlank(value[i+1])) {
			return i
		}
	}
	return -1
}

func ofKey(key string) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf(" (in the value of %q)", key)
}

// quoteTheValue is the hint for a value that needs quotes. If the line is short, the hint shows it with the kind of
// quotes that needs no escapes.
func quoteTheValue(f lineParts) string {
	if f.key == "" || len(f.value) > 80 {
		return "quote the value, or write it as a block after '|'"
	}
	return fmt.Sprintf("quote the value: %s: %s", f.key, quotedValue(f.value))
}
