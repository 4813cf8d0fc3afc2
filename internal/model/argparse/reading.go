package argparse

// Reading is what all readers of one input share.
type Reading struct {
	*Report
	*Budget
	shelf *nodeStack
}

// newReading starts reading an input of this size.
func newReading(s *Schema, tool string, size int) *Reading {
	return &Reading{Report: &Report{Call: &Call{root: s, tool: tool}}, Budget: newBudget(size), shelf: newNodeStack()}
}

// end releases what the reading used.
func (r *Reading) end() { r.shelf.put() }

// json reads a text that is only JSON. done reports whether the result is final, because the
// text is JSON or cannot be anything else.
func (r *Reading) json(src source) (n node, done, ok bool) {
	n, end, code, ok := readJSON(src, 0)
	switch {
	case ok && isSpaces(src.text[end:]):
		return n, true, true
	case code == "too-deep":
		return n, true, r.fail(code, int(src.at(end)), "objects and arrays are nested more than %d levels deep", maxDepth)
	case code == "encoding":
		return n, true, r.fail(code, int(src.at(end)), "a string contains an invalid escape: half of a surrogate pair")
	}
	return n, false, false
}

// whole reads a text that contains one value and nothing else.
func (r *Reading) whole(src source, s *Schema) (node, bool) {
	if n, done, ok := r.json(src); done {
		return n, ok
	}
	d := r.descend(src)
	if !d.space() {
		return node{}, false
	}
	n, ok := d.value(s)
	if !ok || !d.space() {
		return n, false
	}
	if d.pos < len(d.text) {
		return n, d.failAt("syntax", d.pos, "%s: unexpected text after the value", d.here())
	}
	d.unlike()
	return n, true
}
