package lookahead

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

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
