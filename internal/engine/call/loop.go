package call

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// LoopItems returns the items of a loop. The error is expr.ErrUnknown if they depend on what is not known yet.
func LoopItems(l *plan.Loop, sc expr.Scope) ([]plan.Item, error) {
	list, err := l.List(sc)
	if err != nil {
		return nil, fmt.Errorf("cannot read the items: %w", err)
	}
	return list, nil
}

// WithItem returns the frame of a step in a loop, with an item in scope.
func (a *Frame) WithItem(l *plan.Loop, item plan.Item, index int) *Frame {
	inner := *a
	item.Text = true
	inner.Local = &Local{Name: l.Name, Item: item, Index: index, Outer: a.Local, loop: l}
	return &inner
}
