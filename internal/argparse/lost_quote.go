package argparse

import "strings"

// nameLost reads a declared name that lost its closing quote before a value without quotes:
// "limit: 5. All that follows must be plain JSON to the end of the text, so that no quote in
// it can be the one that closes the name. It returns where the separator is.
func (d *descent) nameLost(i int) (name string, end int, ok bool) {
	if d.byteAt(i) != '"' || len(d.open) != 1 {
		return "", 0, false
	}
	end = d.bareKey(i + 1)
	name = d.text[i+1 : end]
	value := d.lineBlanks(end + 1)
	if name == "" || d.byteAt(end) != ':' || d.quoteAt(value) != nil || !d.declaredHere(name) || !d.plainRest(`{"":`, value) {
		return "", 0, false
	}
	return name, end, true
}

// plainRest reports whether the text from i on is JSON to its end, when it begins with head.
func (d *descent) plainRest(head string, i int) bool {
	if d.budget -= 4 * (len(d.text) - i); d.budget < 0 {
		return false
	}
	rest := head + d.text[i:]
	_, end, _, ok := readJSON(source{text: rest}, 0)
	return ok && strings.TrimLeftFunc(rest[end:], invisible) == ""
}
