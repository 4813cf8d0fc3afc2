package plan

import (
	"github.com/flowrun/flowrun/internal/lang/expr"
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
	case t.IsList:
		list := make([]any, len(t.list))
		for i, e := range t.list {
			v, err := e.Value(sc)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return t.checkSize(list)
	case t.IsMap:
		m := make(map[string]any, len(t.list))
		for i, e := range t.list {
			v, err := e.Value(sc)
			if err != nil {
				return nil, err
			}
			m[t.Keys[i]] = v
		}
		return t.checkSize(m)
	}
	return t.Scalar, nil
}

// checkSize rejects a list or an object whose rendered size is too large: the same large value can occur in it many
// times.
func (t ValueTemplate) checkSize(v any) (any, error) {
	if expr.Size(v) > expr.MaxValue {
		what := "the list"
		if t.IsMap {
			what = "the object"
		}
		return nil, &expr.SizeError{What: what, Max: expr.MaxValue}
	}
	return v, nil
}

// Size returns a lower bound for the size of the rendered value; of returns the size of each reference.
func (t ValueTemplate) Size(of func(expr.Ref) int) int {
	if t.Text != nil {
		return t.Text.Length(of)
	}
	n := 0
	for _, e := range t.list {
		n = min(n+e.Size(of), 1<<40)
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
