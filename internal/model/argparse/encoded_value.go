package argparse

// encoded reports whether the text at body is JSON in a string with unescaped quotes, where
// the schema declares an array or object: "["a", "b"]".
func (d *Ends) encoded(s *Schema, body int) bool {
	if s.free() || s.allows("string") {
		return false
	}
	switch d.byteAt(d.skipSpaces(body)) {
	case '[':
		return s.allows("array")
	case '{':
		return s.allows("object")
	}
	return false
}

// encodedValue reads such a text, starting at its opening quote.
func (d *parser) encodedValue(s *Schema, q *quotes) (node, bool) {
	d.fix("json-text", d.pos)
	d.pos = d.skipSpaces(d.pos + len(q.open))
	n, ok := d.value(s)
	if !ok || !d.space() {
		return n, false
	}
	size := 0
	if d.pos < len(d.text) {
		size = d.closesAt(q, d.pos)
	}
	if size == 0 {
		return n, d.failAt("ambiguous", d.pos, "%s: it is not clear where the text ends; send %s without quotes", d.here(), n.typeName())
	}
	d.pos += size
	return n, true
}
