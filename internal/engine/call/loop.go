package call

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// LoopItems returns the items of a loop, and their keys if it is a matrix. caller says that they contain values from a
// caller. The error is expr.ErrUnknown if they depend on what is not known yet.
func LoopItems(l *plan.Loop, sc Scope) (list []any, keys []string, caller bool, err error) {
	watch := &CallerWatch{Scope: UntruncatedScope{Scope: sc}}
	if l.Matrix != nil {
		list, keys, err = l.Matrix.Combinations(watch)
	} else {
		list, err = l.Items.List(watch)
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("cannot read the items: %w", err)
	}
	return list, keys, watch.Caller, nil
}

// WithItem returns the frame of a step in a loop, with an item in scope.
func (a *Frame) WithItem(l *plan.Loop, item any, index int, caller bool) *Frame {
	inner := *a
	inner.Local = &Local{Name: l.Name, Item: expr.Value{V: item, Author: !caller, Caller: caller, Text: true},
		Index: index, Matrix: l.Matrix != nil, Outer: a.Local, loop: l}
	return &inner
}
