package grammar

import (
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Unescape decodes the text between two quotes. If no backslash starts a known escape, all of them are kept. If only some
// do, the text is ambiguous.
func (d *Parser) Unescape(q *token.Quotes, start, end int) (string, bool) {
	raw := d.Text[start:end]
	if !d.controls(raw, start) {
		return "", false
	}
	first := strings.IndexByte(raw, '\\')
	if first < 0 {
		return raw, true
	}
	b := append(make([]byte, 0, len(raw)), raw[:first]...)
	known, odd, foreign := 0, 0, -1
	for i := first; i < len(raw); {
		if raw[i] != '\\' {
			b = append(b, raw[i])
			i++
			continue
		}
		c, size, doubt := escape(raw[i:], q.Python)
		switch {
		case doubt:
			return "", d.FailAt("ambiguous", start+i, `%s: the escape %s has more than one meaning; write a backslash as \\`, d.Here(), report.Quote(report.Clip(raw[i:], 8)))
		case size == 0:
			odd, size = odd+1, 2
		case c < 0:
			return "", d.FailAt("encoding", start+i, "%s: invalid escape: half of a surrogate pair", d.Here())
		default:
			known++
			if _, n := node.Escape(raw[i:]); n == 0 && foreign < 0 {
				foreign = i
			}
			b = utf8.AppendRune(b, c)
		}
		i += size
	}
	switch {
	case known > 0 && odd > 0:
		return "", d.FailAt("ambiguous", start+first, `%s: some backslashes start an escape and some do not; write a backslash as \\`, d.Here())
	case odd > 0:
		d.Fix("escape", start+first)
		return raw, true
	case foreign >= 0:
		d.Fix("escape", start+foreign)
	}
	return string(b), true
}

// controls accepts raw line breaks and tabs in a text, as a repair. It refuses other control characters.
func (d *Parser) controls(raw string, start int) bool {
	reported := false
	for i := range len(raw) {
		if raw[i] >= ' ' {
			continue
		}
		if raw[i] != '\n' && raw[i] != '\t' && raw[i] != '\r' {
			return d.FailAt("syntax", start+i, "%s: a control character in a text must be escaped", d.Here())
		}
		if !reported {
			d.Fix("raw-newline", start+i)
			reported = true
		}
	}
	return true
}

// escape decodes the escape at the start of s, in a JSON or Python string. size is 0 if it is not an escape; doubt means
// that it is one in another language.
func escape(s string, python bool) (c rune, size int, doubt bool) {
	if c, size = node.Escape(s); size > 0 {
		return c, size, python && s[1] == '/'
	}
	if len(s) < 2 {
		return 0, 0, true
	}
	switch e := s[1]; e {
	case '\'':
		return '\'', 2, false
	case '\n', '\r':
		return 0, 0, true // languages join the lines, but the text contains a line break
	case 'x', 'U':
		n := 2
		if e == 'U' {
			n = 8
		}
		c, ok := node.Hex(s[2:], n)
		switch {
		case !ok:
			return 0, 0, false
		case !python:
			return 0, 0, true
		case !utf8.ValidRune(c):
			return -1, 2 + n, false
		}
		return c, 2 + n, false
	case 'a', 'v', '0', '1', '2', '3', '4', '5', '6', '7':
		return 0, 0, true
	case 'N':
		return 0, 0, strings.HasPrefix(s[2:], "{")
	}
	return 0, 0, false
}
