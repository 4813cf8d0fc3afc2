package argparse

import (
	"strings"
)

// linesAt reports whether lines of names and values start at i, and returns the position of
// the first one. They may follow a --- line or the name of the tool, and may be inside an
// envelope.
func (d *documents) linesAt(i int) (int, bool) {
	if d.has(i, "---") && d.lineEnd(d.skipLineSpaces(i+3)) {
		d.document = true
		i = d.skip(i + 3)
	}
	if word := d.bareKey(i); d.lineEnd(word) && d.isTool(d.text[i:word]) {
		below := d.skip(word)
		if name, ok := d.keyAt(below); ok && d.inputName(name) && d.quoteAt(below) == nil {
			return below, true // after the name of the tool
		}
	}
	name, ok := d.keyAt(i)
	if !ok {
		return i, false
	}
	return i, d.inputName(name) || d.quoteAt(i) == nil && d.linesEnvelope(i, name)
}

// linesAfterProse returns the position of lines of names and values after a sentence that ends
// with a colon.
func (d *documents) linesAfterProse(i int) (int, bool) {
	colon := strings.Index(d.text[i:], ":\n")
	if colon < 0 || strings.ContainsAny(d.text[i:i+colon], "{}[]()<>=`\n\"") {
		return i, false
	}
	d.Use(colon)
	below := d.skipSpaces(i + colon + 1)
	name, ok := d.keyAt(below)
	return below, ok && d.column(below) == 0 && d.inputName(name) && d.quoteAt(below) == nil && d.byteAt(d.bareKey(below)) == ':'
}

// listOfOne reports whether the text starts with a dash and a declared name: a list with one
// object.
func (d *documents) listOfOne(i int) bool {
	if !d.has(i, "- ") {
		return false
	}
	name, ok := d.keyAt(d.skipLineSpaces(i + 1))
	return ok && d.inputName(name)
}

// oneInList reads such a list. It must be the whole text.
func (d *documents) oneInList() (node, bool) {
	d.fix("lines", d.pos)
	if !d.push(frame{closer: '\n', schema: d.root, list: true}) {
		return node{}, false
	}
	defer d.pop()
	n, ok := d.dashes(arrayOf(d.root))
	if k := d.skip(d.pos); ok && k < len(d.text) {
		return n, d.failAt("syntax", k, "unexpected text after the list")
	}
	return n, ok
}

// linesEnvelope reports whether the name at i starts an envelope: the tool or a key for
// arguments with indented parameters below, or a key for the tool followed by such a key.
func (d *documents) linesEnvelope(i int, name string) bool {
	after := d.skipSpaces(d.bareKey(i))
	value := d.skipLineSpaces(after + 1)
	end := d.endOfLine(value)
	d.Use(end - i)
	below := d.skipSpaces(end)
	next, ok := d.keyAt(below)
	switch {
	case !ok || d.byteAt(after) != ':' || d.quoteAt(below) != nil:
		return false
	case isArgsWord(name), d.isTool(name):
		return value == end && d.inputName(next) && d.column(below) > d.column(i)
	case isToolWord(name) && isArgsWord(next) && value < end:
		return d.linesEnvelope(below, next)
	}
	return false
}

// column returns the distance of i from the start of its line.
func (d *View) column(i int) int {
	column := i - (strings.LastIndexByte(d.text[:i], '\n') + 1)
	d.Use(column)
	return column
}

// linesEnd reports whether the lines of a frame end before the line at pos: because its
// indentation is smaller, or at the ... that ends a YAML document.
func (d *parser) linesEnd(indent int, more bool) (done, ok bool) {
	if d.document && d.has(d.pos, "...") && d.skip(d.pos+3) >= len(d.text) {
		d.pos = len(d.text)
		return true, true
	}
	if indent == 0 || !more {
		return false, true
	}
	switch column := d.column(d.pos); {
	case column < indent:
		return true, true
	case column > indent:
		return false, d.failAt("ambiguous", d.pos, "%s: expected one name and value on each line, with the same indentation", d.here())
	}
	return false, true
}

// below reads the value below a name: a list or an indented object.
func (d *parser) below(s *Schema) (node, bool) {
	k := d.skip(d.pos)
	if k >= len(d.text) || d.byteAt(k) == '-' || !s.allows("object") || !d.isKey(k) {
		return d.dashes(s)
	}
	parent := d.top().indent
	if parent == 0 {
		line := d.pos - d.column(d.pos)
		parent = d.column(d.skipLineSpaces(line))
	}
	indent := d.column(k)
	if indent <= parent {
		return d.dashes(s)
	}
	d.pos = k
	n, ok := d.indented(s, indent)
	if ok && d.pos < len(d.text) && d.column(d.pos) > parent {
		return n, d.failAt("ambiguous", d.pos, "%s: the indentation of this line matches no line above", d.here())
	}
	return n, ok
}

// indented reads the lines of an object, starting at pos.
func (d *parser) indented(s *Schema, indent int) (node, bool) {
	return d.members(d.pos, frame{closer: '\n', schema: s, indent: indent})
}

// block reads the text below a name: | keeps line breaks, > joins lines. The last line break
// is kept, all of them with |+, none with |-.
func (d *parser) block(s *Schema) (node, bool) {
	n := node{kind: quoted, off: d.at(d.pos)}
	folded := d.text[d.pos] == '>'
	d.pos++
	chomp := d.byteAt(d.pos)
	if chomp == '-' || chomp == '+' {
		d.pos++
	}
	if d.pos = d.skipLineSpaces(d.pos); !d.lineEnd(d.pos) || !s.allows("string") {
		return n, d.failAt("ambiguous", d.pos, "%s: | and > may be text or start a block; put the text in quotes", d.here())
	}
	text, used, ok := d.blockText(d.top().indent + 1)
	switch {
	case !ok:
		return n, d.failAt("syntax", d.pos, "%s has no value", d.here())
	case folded && hasIndentedLine(text):
		return n, d.failAt("ambiguous", d.pos, "%s: indented lines in folded text (>) are not supported; put the text in quotes", d.here())
	}
	end := strings.TrimRight(text, "\n")
	rest := text[len(end):]
	if folded {
		end = joinLines(end)
	}
	switch {
	case chomp == '-':
		rest = ""
	case chomp != '+' && rest != "":
		rest = "\n"
	}
	n.text = end + rest
	d.pos = min(d.pos+used, len(d.text))
	return n, true
}

// blockText returns the lines below pos with at least this indentation, without the
// indentation, and the number of bytes used.
func (d *parser) blockText(least int) (text string, used int, ok bool) {
	var b strings.Builder
	rest := d.text[d.pos:]
	rest = rest[min(len(rest), 1):]
	indent := -1
	used = 1
	for line := range strings.Lines(rest) {
		blank := strings.TrimSpace(line) == ""
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if !blank && depth < max(indent, least) {
			break
		}
		if indent < 0 && !blank {
			indent = depth
		}
		used += len(line)
		if blank && (indent < 0 || len(line) <= indent) {
			line = "\n"
		} else {
			line = line[indent:]
		}
		b.WriteString(line)
	}
	return b.String(), used, indent >= 0
}

func hasIndentedLine(text string) bool {
	for line := range strings.Lines(text) {
		if line[0] == ' ' || line[0] == '\t' {
			return true
		}
	}
	return false
}

// joinLines joins the lines of folded text: a single line break becomes a space, and of
// several, one is removed.
func joinLines(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\n' {
			b.WriteByte(text[i])
			i++
			continue
		}
		breaks := len(text[i:]) - len(strings.TrimLeft(text[i:], "\n"))
		if breaks == 1 {
			b.WriteByte(' ')
		} else {
			b.WriteString(text[i+1 : i+breaks])
		}
		i += breaks
	}
	return b.String()
}
