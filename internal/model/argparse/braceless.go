package argparse

import "strings"

// hasBracelessObject reports whether the text from i on is an object without its opening
// brace: it starts with a declared name in quotes, ends with a closing brace, and has one
// closing brace too many.
func (d *documents) hasBracelessObject(i, end int) bool {
	if d.quoteAt(i) == nil || d.text[end-1] != '}' {
		return false
	}
	name, ok := d.keyAt(i)
	d.Use(end - i)
	return ok && d.inputName(name) && strings.Count(d.text, "}") == strings.Count(d.text, "{")+1
}

// bracelessObject reads such an object. It must be the whole text.
func (d *documents) bracelessObject(end int) (node, bool) {
	if !d.space() {
		return node{}, false
	}
	d.fix("bracket", d.pos)
	n, ok := d.members(d.pos, frame{closer: '}', schema: d.root})
	if ok && d.pos < end {
		return n, d.failAt("ambiguous", d.pos, "the object has no opening brace, and text follows it")
	}
	return n, ok
}
