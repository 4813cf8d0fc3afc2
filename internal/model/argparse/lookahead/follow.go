package lookahead

import "github.com/flowrun/flowrun/internal/model/argparse/schema"

// follow classifies what follows a quote inside or at the end of a text.
type follow int

const (
	nothing  follow = iota // the quote is part of the text
	closes                 // the end of the open object or array
	nextName               // a comma and a declared name
	lostName               // a separator: the text before it may be a name
	doubt                  // more than one of these
)

// after classifies the text after a quote at i.
func (d *Ends) after(i int) follow {
	f := d.Top()
	if f.Closer == '\n' {
		return d.afterInLine(i)
	}
	k := d.SkipSpaces(i)
	switch c := d.ByteAt(k); {
	case k >= len(d.Text):
		return nothing
	case d.Comment(k) > k:
		return doubt
	case c == f.Closer:
		return d.closesWell(k)
	case d.IsSeparator(k):
		return lostName
	case c == ',':
		return d.afterComma(d.SkipSpaces(k + 1))
	}
	if name, ok := d.KeyAt(k); ok && d.mayBeName(name) || d.twoTexts(k) {
		return doubt
	}
	if word := d.BareKey(k); word > k {
		next := d.SkipSpaces(word)
		if c := d.ByteAt(next); (c == '{' || c == '[' || d.QuoteAt(next) != nil) && d.mayBeName(d.Text[k:word]) {
			return doubt
		}
	}
	return nothing
}

// twoTexts reports whether a quote at k, after another one, may open a text of its own.
func (d *Ends) twoTexts(k int) bool {
	q := d.QuoteAt(k)
	return q != nil && !d.Continues(k+len(q.Open))
}

// startsMember reports whether a name of the call is at k, with or without its separator.
func (d *Ends) startsMember(k int) bool {
	if name, ok := d.KeyAt(k); ok {
		return d.mayBeName(name)
	}
	if q := d.QuoteAt(k); q != nil {
		end, size := d.NextClose(q, k+len(q.Open))
		return size > 0 && d.Spend(end-k, k) && d.mayBeName(d.Text[k+len(q.Open):end])
	}
	word := d.BareKey(k)
	return word > k && d.mayBeName(d.Text[k:word])
}

// afterComma classifies the text after a quote and a comma.
func (d *Ends) afterComma(k int) follow {
	if d.Comment(k) > k {
		return doubt
	}
	if d.ByteAt(k) == d.Top().Closer {
		return d.closesWell(k)
	}
	if d.Top().List {
		return doubt
	}
	name, ok := d.KeyAt(k)
	if !ok && d.startsMember(k) {
		return doubt
	}
	switch {
	case !ok:
		return nothing
	case d.Declares(d.Top().Schema, name) || d.Top().Schema == d.Root && (schema.IsArgsWord(name) || schema.IsToolWord(name)):
		return nextName
	}
	return doubt
}

// closesWell reports whether the closing brackets at k match the open ones, and the text can continue after them.
func (d *Ends) closesWell(k int) follow {
	for level := len(d.Open) - 1; level >= 0; level-- {
		c := d.ByteAt(k)
		if c != d.Open[level].Closer {
			if c == ',' || k >= len(d.Text) {
				return closes
			}
			return doubt
		}
		k = d.SkipSpaces(k + 1)
	}
	if d.lastQuote >= k && d.lastCloser >= k {
		return nothing
	}
	return closes
}

// afterInLine classifies the text after a quote, as after does, inside a line.
func (d *Ends) afterInLine(i int) follow {
	k := d.SkipLineSpaces(i)
	switch {
	case d.LineEnd(k):
		return closes
	case d.IsSeparator(k):
		return lostName
	case d.Text[k] == ',':
		if k = d.SkipLineSpaces(k + 1); d.LineEnd(k) {
			return closes
		}
		if name, ok := d.KeyAt(k); ok {
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
