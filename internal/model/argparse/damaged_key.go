package argparse

import "strings"

// looseKey reads a declared name with missing or doubled quotes: name":, "name:, ""name"":,
// "name"":. It returns the name and the position after it. It does not accept a name with one
// quote on each side, or without any.
func (d *Names) looseKey(i int) (name string, end int, ok bool) {
	if name, end, ok = d.mixedKey(i); ok {
		return name, end, true
	}
	if name, end, ok = d.nameLost(i); ok {
		return name, end, true
	}
	start, before := d.strayQuotes(i)
	word := d.bareKey(start)
	if word == start || before == 0 && d.quoteAt(word) == nil {
		return "", 0, false
	}
	end, after := d.strayQuotes(word)
	if before == after && before < 2 || !d.declaredHere(d.text[start:word]) {
		return "", 0, false
	}
	k := d.skipSpaces(end)
	size := d.separatorAt(k)
	switch {
	case size == 0:
		return "", 0, false
	case after == 0: // without a closing quote: a quoted text must follow
		v := d.skipLineSpaces(k + size)
		c := d.byteAt(v + 1)
		if d.byteAt(v) != d.text[i] || c == 0 || strings.IndexByte(",}]):\n", c) >= 0 {
			return "", 0, false
		}
	case before == 2 && after == 2:
		d.doubled = d.text[i:start]
	}
	return d.text[start:word], end, true
}

// strayQuotes returns the number of equal quotes at i, at most two, and the position after
// them.
func (d *View) strayQuotes(i int) (end, count int) {
	c := d.byteAt(i)
	if c != '"' && c != '\'' && c != '`' {
		return i, 0
	}
	if d.byteAt(i+1) == c {
		return i + 2, 2
	}
	return i + 1, 1
}

// colonLost reports whether a quoted name without a separator is declared and followed by a
// value at i.
func (d *Names) colonLost(name string, i int) bool {
	return len(d.open) > 0 && d.top().closer == '}' && d.declaredHere(name) && d.definite(i)
}

// declaredHere reports whether the innermost open object declares exactly this name.
func (d *Nesting) declaredHere(name string) bool {
	s := d.root
	if len(d.open) > 0 {
		if s = d.top().schema; d.top().list {
			return false
		}
	}
	_, exact := d.property(s, name)
	return exact
}

// symbol skips the colon of a Ruby symbol at i, as in :name =>.
func (d *View) symbol(i int) int {
	if d.byteAt(i) != ':' {
		return i
	}
	end := d.bareKey(i + 1)
	if end > i+1 && d.has(d.skipSpaces(end), "=>") {
		return i + 1
	}
	return i
}

// doubledQuotes returns the doubled quotes of a text at i, as in ""name"": ""text"". The name
// before it must have them too. It returns nil for an empty text.
func (d *Ends) doubledQuotes(i int) *quotes {
	if d.doubled == "" || !d.has(i, d.doubled) {
		return nil
	}
	shut := d.doubled
	if shut == "``" {
		shut = "''" // as in TeX
	}
	if end := strings.Index(d.text[i+2:], shut); end <= 0 || !d.continues(i+2+end+2) {
		return nil
	}
	return &quotes{open: d.doubled, close: shut}
}

// nameLost reads a declared name without its closing quote, before a value that has no quotes:
// "limit: 5. It returns the position of the separator. Everything after the name must be plain
// JSON to the end of the text, so that no later quote can close the name.
func (d *Names) nameLost(i int) (name string, end int, ok bool) {
	if d.byteAt(i) != '"' || len(d.open) != 1 {
		return "", 0, false
	}
	end = d.bareKey(i + 1)
	name = d.text[i+1 : end]
	value := d.skipLineSpaces(end + 1)
	if name == "" || d.byteAt(end) != ':' || d.quoteAt(value) != nil || !d.declaredHere(name) || !d.plainRest(`{"":`, value) {
		return "", 0, false
	}
	return name, end, true
}

// plainRest reports whether head and the text from i on are JSON together.
func (d *Names) plainRest(head string, i int) bool {
	if d.Use(4 * (len(d.text) - i)); d.Exhausted() {
		return false
	}
	rest := head + d.text[i:]
	_, end, _, ok := readJSON(source{text: rest}, 0)
	return ok && strings.TrimLeftFunc(rest[end:], invisible) == ""
}
