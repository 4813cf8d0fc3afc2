package argparse

import "strings"

// lines reads names and values without brackets: p=10, d=100 on one line, or name: value on
// separate lines.
func (d *parser) lines() (node, bool) {
	d.fix("lines", d.pos)
	return d.members(d.pos, frame{closer: '\n', schema: d.root})
}

// lineValue reads the value after a separator, on the same line or below it.
func (d *parser) lineValue(s *Schema) (node, bool) {
	switch {
	case d.lineEnd(d.pos):
		return d.below(s)
	case d.byteAt(d.pos) == '|', d.byteAt(d.pos) == '>' && s.allows("string"):
		return d.block(s)
	case d.byteAt(d.pos) == '~' && d.lineEnd(d.skipLineSpaces(d.pos+1)):
		d.pos++
		return node{kind: null, off: d.at(d.pos - 1)}, true
	}
	if c := d.byteAt(d.pos); (c == '&' || c == '*' || c == '!' || c == '-' && d.byteAt(d.pos+1) == ' ') && d.byteAt(d.pos+1) != '=' {
		return node{}, d.failAt("ambiguous", d.pos, "%s: %q may be text or a sign of YAML; put the text in quotes", d.here(), c)
	}
	n, ok := d.value(s)
	if ok && n.kind != bare && !d.lineContinues(d.pos) {
		return n, d.failAt("syntax", d.pos, "%s: unexpected text after the value", d.here())
	}
	return n, ok
}

// endOfLine returns the end of the line of i.
func (d *View) endOfLine(i int) int {
	for !d.lineEnd(i) {
		i++
	}
	return i
}

func (d *View) lineEnd(i int) bool {
	return i >= len(d.text) || d.text[i] == '\n' || d.text[i] == '\r'
}

// lineContinues reports whether a line may continue after the value that ends at i.
func (d *Ends) lineContinues(i int) bool {
	k := d.skipLineSpaces(i)
	if d.lineEnd(k) || d.byteAt(k) == '#' && k > i {
		return true
	}
	if d.text[k] == ',' || d.text[k] == ';' {
		k = d.skipLineSpaces(k + 1)
		return d.lineEnd(k) || d.isKey(k)
	}
	return k > i && d.isKey(k)
}

// afterInLine classifies the text after a quote, as after does, inside a line.
func (d *Ends) afterInLine(i int) follow {
	k := d.skipLineSpaces(i)
	switch {
	case d.lineEnd(k):
		return closes
	case d.isSeparator(k):
		return lostName
	case d.text[k] == ',':
		if k = d.skipLineSpaces(k + 1); d.lineEnd(k) {
			return closes
		}
		if name, ok := d.keyAt(k); ok {
			if d.declared(name) {
				return nextName
			}
			return doubt
		}
	case d.twoTexts(k):
		return doubt
	}
	return nothing
}

// dashes reads a list whose items are below its name, each after a dash.
func (d *parser) dashes(s *Schema) (node, bool) {
	n := node{kind: array, off: d.at(d.pos)}
	indent := -1
	for {
		k := d.skip(d.pos)
		column := d.column(k)
		if d.byteAt(k) != '-' || d.byteAt(k+1) != ' ' && !d.lineEnd(k+1) || indent >= 0 && column != indent {
			break
		}
		indent = column
		d.pos = d.skipLineSpaces(k + 1)
		v, ok := d.item(s.items(), len(n.children), column)
		if !ok {
			return n, false
		}
		n.children = append(n.children, v)
	}
	if len(n.children) == 0 {
		return n, d.failAt("syntax", d.pos, "%s has no value", d.here())
	}
	return n, d.spend(0, d.pos)
}

// item reads the value after a dash: the rest of the line, or an object on the lines below.
// dash is the column of the dash.
func (d *parser) item(s *Schema, i, dash int) (node, bool) {
	d.enterItem(i)
	defer d.leave()
	if d.lineEnd(d.pos) {
		k := d.skip(d.pos)
		if !d.isKey(k) || d.column(k) <= dash {
			return node{}, d.failAt("syntax", d.pos, "%s has no value", d.here())
		}
		d.pos = k
	}
	if d.isKey(d.pos) {
		if !s.allows("object") {
			return node{}, d.failAt("ambiguous", d.pos, "%s: it is not clear whether this is text or a name with a value; put the text in quotes", d.here())
		}
		return d.indented(s, d.column(d.pos))
	}
	if d.quoteAt(d.pos) == nil && !strings.ContainsRune("{[(", rune(d.text[d.pos])) {
		start, end := d.pos, d.endOfLine(d.pos)
		text := strings.TrimRightFunc(d.text[start:end], invisible)
		if strings.Contains(text, " #") || strings.ContainsAny(text, "\"`{}[]") || ellipsis(text) {
			return node{}, d.failAt("ambiguous", start, "%s: it is not clear where the text ends; put it in quotes", d.here())
		}
		d.pos = end
		return node{kind: bare, off: d.at(start), text: text}, true
	}
	n, ok := d.value(s)
	if k := d.skipLineSpaces(d.pos); ok && !d.lineEnd(k) {
		return n, d.failAt("syntax", k, "%s: unexpected text after the value", d.here())
	}
	return n, ok
}
