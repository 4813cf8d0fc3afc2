package plan

import (
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// Loop is for-each or matrix of a step, compiled.
type Loop struct {
	Def    *tool.Loop
	Name   string // of the item in the step
	Items  ItemList
	Matrix *Matrix
	Key    *expr.Template
	When   bool  // the step's condition is about an item
	Keep   int64 // bytes of the items' output that are gathered
}

// Refs are the references that the items are made of.
func (l *Loop) Refs() []expr.Ref {
	if l.Matrix == nil {
		return l.Items.refs()
	}
	var refs []expr.Ref
	for _, a := range l.Matrix.Axes {
		refs = append(refs, a.Values.refs()...)
	}
	for _, t := range l.Matrix.Include {
		refs = append(refs, t.Refs()...)
	}
	return refs
}
