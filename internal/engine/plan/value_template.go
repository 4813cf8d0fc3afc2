package plan

import (
	"math"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// ValueTemplate is a YAML value whose strings are templates: a parameter's default, or a value under with. Types are
// kept: a string that is exactly one reference has the type of that reference.
type ValueTemplate struct {
	Scalar   any
	Spelling string // of a boolean, for a parameter that takes text
	Text     *expr.Template
	list     []ValueTemplate
	Keys     []string // for a mapping: the keys of list
	IsList   bool
	IsMap    bool
	Broken   bool // a text in it has errors, which were reported
}

// Add appends an element.
func (t *ValueTemplate) Add(in ValueTemplate) {
	t.list, t.Broken = append(t.list, in), t.Broken || in.Broken
}

// Value renders the template.
func (t ValueTemplate) Value(sc expr.Scope) (any, error) {
	switch {
	case t.Text != nil:
		return t.Text.Value(sc)
	case t.IsList, t.IsMap:
		parts, err := t.parts(sc)
		if err != nil {
			return nil, err
		}
		return t.whole(parts)
	}
	return t.Scalar, nil
}

// parts renders the elements of a list, or the values of a mapping in the order of Keys. Each has the properties of
// those that it was computed from.
func (t ValueTemplate) parts(sc expr.Scope) ([]expr.Value, error) {
	parts := make([]expr.Value, len(t.list))
	for i, e := range t.list {
		watch := &expr.Watch{Scope: sc}
		v, err := e.Value(watch)
		if err != nil {
			return nil, err
		}
		parts[i] = watch.Value(v)
	}
	return parts, nil
}

// named renders the values of a mapping by their keys.
func (t ValueTemplate) named(sc expr.Scope) (map[string]expr.Value, error) {
	parts, err := t.parts(sc)
	if err != nil {
		return nil, err
	}
	named := make(map[string]expr.Value, len(parts))
	for i, part := range parts {
		named[t.Keys[i]] = part
	}
	_, err = t.whole(parts)
	return named, err
}

// whole returns the list or the object of these parts. It rejects one whose rendered size is too large: the same large
// value can occur in it many times.
func (t ValueTemplate) whole(parts []expr.Value) (any, error) {
	what, whole := "the object", any(nil)
	if t.IsMap {
		m := make(map[string]any, len(parts))
		for i, part := range parts {
			m[t.Keys[i]] = part.V
		}
		whole = m
	} else {
		list := make([]any, len(parts))
		for i, part := range parts {
			list[i] = part.V
		}
		what, whole = "the list", list
	}
	if valuetext.Size(whole) > valuetext.MaxValue {
		return nil, &valuetext.SizeError{What: what, Max: valuetext.MaxValue}
	}
	return whole, nil
}

// Size returns a lower bound for the size of the rendered value; of returns the size of each reference.
func (t ValueTemplate) Size(of func(expr.Ref) int) int {
	if t.Text != nil {
		return t.Text.Length(of)
	}
	n := 0
	for _, e := range t.list {
		n = min(n+e.Size(of), math.MaxInt/2)
	}
	return n
}

// Refs returns every reference in the template.
func (t ValueTemplate) Refs() []expr.Ref {
	var refs []expr.Ref
	if t.Text != nil {
		refs = t.Text.Refs()
	}
	for _, e := range t.list {
		refs = append(refs, e.Refs()...)
	}
	return refs
}
