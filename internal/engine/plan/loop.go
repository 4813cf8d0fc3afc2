package plan

import (
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Loop is a compiled for-each or matrix of a step.
type Loop struct {
	Def    *tool.Loop
	Name   string // name of the item in the step
	Items  ItemList
	Matrix *Matrix
	Key    *expr.Template
	When   bool  // the step's condition refers to the item
	Keep   int64 // limit in bytes for the collected output of the items
}

// Item is one item of a loop.
type Item struct {
	expr.Value
	Named map[string]expr.Value // the values of a matrix by name: each has its own properties
	Key   string                // of a matrix
}

// List computes the items.
func (l *Loop) List(sc expr.Scope) ([]Item, error) {
	if l.Matrix != nil {
		return l.Matrix.Combinations(sc)
	}
	values, err := l.Items.List(sc)
	items := make([]Item, len(values))
	for i, v := range values {
		items[i].Value = v
	}
	return items, err
}

// Refs returns the references that the items depend on.
func (l *Loop) Refs() []expr.Ref { return l.RefsOf(expr.Ref{}) }

// RefsOf returns the references that an item depends on, or only the part of it that r reads.
func (l *Loop) RefsOf(r expr.Ref) []expr.Ref {
	if l.Matrix == nil {
		return l.Items.refs()
	}
	var refs []expr.Ref
	for _, a := range l.Matrix.Axes {
		if len(r.Path) == 0 || r.Path[0].Field == a.Name {
			refs = append(refs, a.Values.refs()...)
		}
	}
	for _, t := range l.Matrix.Include {
		refs = append(refs, t.Refs()...)
	}
	return refs
}
