// Package lookahead decides where a name or a value ends, before it is read.
//
// Where a text is not JSON, several ends may be possible, for example of a text with unescaped quotes. The declared names
// and the open objects around it (Nesting) exclude all but one, or the text is refused as ambiguous. Names finds the names
// of members, Ends the ends of values. Neither has a position: they answer for any position of the text, and package
// grammar reads up to it.
package lookahead

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Ends decides where values end.
type Ends struct {
	Names
	*report.Report
	lastQuote, lastCloser int // their last position in the text, -1 for none
}

// New returns the Ends of a text, outside of all objects.
func New(src node.Source, r *report.Report, b *token.Budget) Ends {
	names := Names{View: token.New(src, b), Nesting: Nesting{Call: &r.Call}}
	return Ends{Names: names, Report: r, lastQuote: strings.LastIndexAny(src.Text, "\"'"), lastCloser: strings.LastIndexAny(src.Text, "}]")}
}

// Spend subtracts n from the budget, and refuses the text if the budget is exhausted.
func (d *Ends) Spend(n, off int) bool {
	d.Use(n)
	return !d.Exhausted() || d.Fail("ambiguous", off, "the text has too many possible readings")
}

// FailAt refuses the text because of position i. It returns false.
func (d *Ends) FailAt(code string, i int, format string, args ...any) bool {
	return d.Fail(code, int(d.At(min(i, len(d.Text)))), format, args...)
}

// Fix records a repair at position i.
func (d *Ends) Fix(kind string, i int) { d.AddRepair(kind, d.At(i)) }

// Truncated refuses a text that ends inside an open value.
func (d *Ends) Truncated() bool {
	return d.FailAt("truncated", len(d.Text), "the text ends before %s is complete", d.Here())
}

// Continues reports whether the call can continue after a value that ends at i: with a comma and a member, a closing
// bracket, or the next name.
func (d *Ends) Continues(i int) bool {
	if len(d.Open) == 0 {
		return true
	}
	f := d.Top()
	if f.Closer == '\n' {
		return d.LineContinues(i)
	}
	k := d.Skip(i)
	if b := d.SkipSpaces(i); b < k && strings.IndexByte(d.Text[b:k], d.Text[i-1]) >= 0 {
		return false // a comment with such a quote may be part of the text
	}
	if k >= len(d.Text) || d.Text[k] == f.Closer {
		return !strings.HasSuffix(d.Text[:i], "”") || !d.Has(k+1, "”") // else the text may be longer
	}
	if f.List {
		return d.itemContinues(i, k)
	}
	if n := d.CommaAt(k); n > 0 {
		k = d.Skip(k + n)
		if d.ByteAt(k) == '\\' {
			k = d.EscapedSpace(k)
		}
		c := d.ByteAt(k)
		return k >= len(d.Text) || c == f.Closer || c == ',' || c == '*' || d.Dots(k) || d.IsKey(k) || d.CutKey(k)
	}
	if j := d.EscapedSpace(k); j > k {
		return d.IsKey(j) || d.ByteAt(j) == f.Closer && len(d.Open) == 1 && d.lastQuote < j
	}
	return (k > i || d.QuoteAt(k) != nil) && d.IsKey(k)
}

// itemContinues reports whether an array can continue after an item that ends at i. k is the position after spaces and
// comments.
func (d *Ends) itemContinues(i, k int) bool {
	f := d.Top()
	if d.Text[k] == ',' {
		k = d.Skip(k + 1)
		return k >= len(d.Text) || !strings.ContainsRune("}])", rune(d.Text[k])) || d.Text[k] == f.Closer
	}
	return k > i && (d.Text[k] == '{' || d.Text[k] == '[' || d.PlainItem(i, k)) // two texts may be one text with quotes
}

// LineContinues reports whether a line may continue after the value that ends at i.
func (d *Ends) LineContinues(i int) bool {
	k := d.SkipLineSpaces(i)
	if d.LineEnd(k) || d.ByteAt(k) == '#' && k > i {
		return true
	}
	if d.Text[k] == ',' || d.Text[k] == ';' {
		k = d.SkipLineSpaces(k + 1)
		return d.LineEnd(k) || d.IsKey(k)
	}
	return k > i && d.IsKey(k)
}
