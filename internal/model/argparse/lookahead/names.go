package lookahead

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

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

// InputAt reports whether the name of a parameter and a separator are at i.
func (d *Names) InputAt(i int) bool {
	name, ok := d.KeyAt(i)
	return ok && d.InputName(name)
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

// ColonLost reports whether a quoted name without a separator is declared and followed by a value at i.
func (d *Names) ColonLost(name string, i int) bool {
	return len(d.Open) > 0 && d.Top().Closer == '}' && d.declaredHere(name) && d.Definite(i)
}

// LooseKey reads a declared name with missing or doubled quotes: name":, "name:, ""name"":, "name"":. It returns the name
// and the position after it. It does not accept a name with one quote on each side, or without any.
func (d *Names) LooseKey(i int) (name string, end int, ok bool) {
	if name, end, ok = d.mixedKey(i); !ok {
		name, end, ok = d.nameLost(i)
	}
	if ok {
		return name, end, true
	}
	start, before := d.StrayQuotes(i)
	word := d.BareKey(start)
	if word == start || before == 0 && d.QuoteAt(word) == nil {
		return "", 0, false
	}
	end, after := d.StrayQuotes(word)
	if before == after && before < 2 || !d.declaredHere(d.Text[start:word]) {
		return "", 0, false
	}
	k := d.SkipSpaces(end)
	size := d.SeparatorAt(k)
	switch {
	case size == 0:
		return "", 0, false
	case after == 0: // without a closing quote: a quoted text must follow
		v := d.SkipLineSpaces(k + size)
		c := d.ByteAt(v + 1)
		if d.ByteAt(v) != d.Text[i] || c == 0 || strings.IndexByte(",}]):\n", c) >= 0 {
			return "", 0, false
		}
	case before == 2 && after == 2:
		d.doubled = d.Text[i:start]
	}
	return d.Text[start:word], end, true
}

// mixedKey reads a declared name with two kinds of quotes, “name" or "name”.
func (d *Names) mixedKey(i int) (name string, end int, ok bool) {
	open := d.Has(i, "“")
	start, shut := i+1, "”"
	switch {
	case open:
		start, shut = i+len("“"), `"`
	case d.ByteAt(i) != '"':
		return "", 0, false
	}
	word := d.BareKey(start)
	end = word + len(shut)
	if word == start || !d.Has(word, shut) || !d.IsSeparator(d.SkipSpaces(end)) || !d.declaredHere(d.Text[start:word]) {
		return "", 0, false
	}
	return d.Text[start:word], end, true
}

// nameLost reads a declared name without its closing quote, before a value that has no quotes: "limit: 5. It returns the
// position of the separator. Everything after the name must be plain JSON to the end of the text, so that no later quote
// can close the name.
func (d *Names) nameLost(i int) (name string, end int, ok bool) {
	if d.ByteAt(i) != '"' || len(d.Open) != 1 {
		return "", 0, false
	}
	end = d.BareKey(i + 1)
	name = d.Text[i+1 : end]
	value := d.SkipLineSpaces(end + 1)
	if name == "" || d.ByteAt(end) != ':' || d.QuoteAt(value) != nil || !d.declaredHere(name) || !d.plainRest(`{"":`, value) {
		return "", 0, false
	}
	return name, end, true
}

// plainRest reports whether head and the text from i on are JSON together.
func (d *Names) plainRest(head string, i int) bool {
	if d.Use(4 * (len(d.Text) - i)); d.Exhausted() {
		return false
	}
	rest := head + d.Text[i:]
	_, end, _, ok := node.ReadJSON(node.Source{Text: rest}, 0)
	return ok && strings.TrimLeftFunc(rest[end:], token.Invisible) == ""
}

// Nesting is the open objects, arrays and calls around a position.
type Nesting struct {
	*schema.Call
	Open []Frame
}

// Frame is an open object, array or call.
type Frame struct {
	Closer byte           // } ] ), or '\n' for lines of names and values
	Schema *schema.Schema // of the object, or of the items of the array
	List   bool
	Indent int // column of the lines of an indented object; 0 for any column
}

// Top returns the innermost open frame.
func (d *Nesting) Top() *Frame { return &d.Open[len(d.Open)-1] }

// Pop closes the innermost frame.
func (d *Nesting) Pop() { d.Open = d.Open[:len(d.Open)-1] }

// Under returns the schema of a member. The keys of envelopes have schemas too, because they contain an object of
// arguments.
func (d *Nesting) Under(s *schema.Schema, name string) *schema.Schema {
	if s == nil {
		return nil
	}
	if p, _ := d.Property(s, name); p >= 0 {
		return s.Properties[p].Schema
	}
	if s != d.Root {
		return nil
	}
	switch {
	case name == schema.CallsWord:
		return schema.ArrayOf(d.Root)
	case schema.IsArgsWord(name), schema.IsCallWord(name), d.IsTool(name):
		return d.Root
	case schema.IsToolWord(name):
		return schema.Text()
	}
	return nil
}

// declaredHere reports whether the innermost open object declares exactly this name.
func (d *Nesting) declaredHere(name string) bool {
	s := d.Root
	if len(d.Open) > 0 {
		if s = d.Top().Schema; d.Top().List {
			return false
		}
	}
	_, exact := d.Property(s, name)
	return exact
}

// declared reports whether a name is declared by the open object or the tool.
func (d *Nesting) declared(name string) bool {
	return !d.Top().List && d.Declares(d.Top().Schema, name) || d.InputName(name)
}

// mayBeName reports whether a name inside a text may be one of the call: a declared parameter, or any name in an open
// object.
func (d *Nesting) mayBeName(name string) bool {
	for i := len(d.Open) - 1; i >= 0; i-- {
		f := d.Open[i]
		if f.List {
			continue
		}
		if f.Schema != d.Root || f.Schema.AllowsUndeclared() {
			return true
		}
		if d.Declares(f.Schema, strings.TrimSpace(name)) || schema.IsArgsWord(name) || schema.IsToolWord(name) {
			return true
		}
	}
	return false
}
