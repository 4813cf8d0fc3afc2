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

// Refs returns the references that the items depend on.
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
