package grammar

import "github.com/flowrun/flowrun/internal/model/argparse/schema"

// Space skips spaces and comments between tokens. It refuses a comment with an unpaired quote,
// which may be the rest of a text.
func (d *Parser) Space() bool {
	for {
		d.Pos = d.SkipSpaces(d.Pos)
		if j := d.EscapedSpace(d.Pos); j > d.Pos {
			d.Fix("escape", d.Pos)
			d.Pos = j
			continue
		}
		j := d.Comment(d.Pos)
		if j == d.Pos {
			return true
		}
		if d.OddQuotes(d.Pos, j) {
			return d.FailAt("ambiguous", d.Pos, "it is not clear whether this is a comment or the rest of a text")
		}
		d.Fix("comment", d.Pos)
		d.Pos = j
	}
}

// valueSpace skips spaces between a separator and its value. A comment there may also be text.
func (d *Parser) valueSpace(s *schema.Schema) bool {
	if d.Top().Closer == '\n' {
		d.Pos = d.SkipLineSpaces(d.Pos)
	} else {
		d.Pos = d.SkipSpaces(d.Pos)
	}
	if j := d.EscapedSpace(d.Pos); j > d.Pos && (!s.Allows("string") || d.QuoteAt(j) != nil) {
		d.Fix("escape", d.Pos)
		d.Pos = j
	}
	if d.Comment(d.Pos) == d.Pos {
		return d.Spend(0, d.Pos)
	}
	if j := d.Comment(d.Pos); d.Has(d.Pos, "/*") && d.Has(j-2, "*/") && d.QuoteAt(d.SkipSpaces(j)) != nil && d.Top().Closer != '\n' {
		return d.Space()
	}
	if s.Allows("string") {
		return d.FailAt("ambiguous", d.Pos, "%s may be text or a comment; put the text in quotes", d.Here())
	}
	if d.Top().Closer == '\n' {
		return d.FailAt("syntax", d.Pos, "%s has no value", d.Here())
	}
	return d.Space()
}

// Unlike records a repair if only spaces differ from JSON.
func (d *Parser) Unlike() {
	if !d.Repaired {
		d.Fix("blank", 0)
	}
}
