package lookahead

import "github.com/flowrun/flowrun/internal/model/argparse/token"

// Names finds the names of members, and what is declared for them.
type Names struct {
	token.View
	Nesting
	doubled string // the doubled quotes of the last name, "" for none
}

// KeyAt returns the name at i if a separator follows it.
func (d *Names) KeyAt(i int) (string, bool) {
	if d.Exhausted() || i >= len(d.Text) {
		return "", false
	}
	i = d.Symbol(i)
	if d.PrefixAt(i) != 0 {
		i++
	}
	body, end, after := i, i, i
	if q := d.QuoteAt(i); q != nil {
		body = i + len(q.Open)
		end = body
		size := 0
		for end < len(d.Text) && end-body < token.MaxKey && d.Text[end] != '\n' && d.Text[end] != '\\' && size == 0 {
			if size = d.ClosesAt(q, end); size == 0 {
				end++
			}
		}
		d.Use(end - i)
		if size == 0 {
			name, _, ok := d.LooseKey(i)
			return name, ok
		}
		after = end + size
	} else {
		end = d.BareKey(i)
		if end == i || d.Text[i] >= '0' && d.Text[i] <= '9' || d.Text[i] == '-' || d.Text[i] == '.' {
			return "", false
		}
		after = end
	}
	if k := d.SkipSpaces(after); d.IsSeparator(k) || body > i && d.ColonLost(d.Text[body:end], k) {
		return d.Text[body:end], true
	}
	if name, _, ok := d.LooseKey(i); ok {
		return name, true
	}
	return d.Text[body:end], false
}

// IsKey reports whether a name and a separator are at i.
func (d *Names) IsKey(i int) bool {
	_, ok := d.KeyAt(i)
	return ok
}

// memberFollows reports whether a declared name follows the value that ends at i.
func (d *Names) memberFollows(i int) bool {
	k := d.SkipSpaces(i)
	if n := d.CommaAt(k); n > 0 && !d.Top().List {
		name, ok := d.KeyAt(d.SkipSpaces(k + n))
		return ok && d.declaredHere(name)
	}
	return false
}

// ColonLost reports whether a quoted name without a separator is declared and followed by a
// value at i.
func (d *Names) ColonLost(name string, i int) bool {
	return len(d.Open) > 0 && d.Top().Closer == '}' && d.declaredHere(name) && d.Definite(i)
}
