package call

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/value"
)

// LookupLocal finds what a name stands for in an item, or in a handler.
func (s Scope) LookupLocal(r expr.Ref) (expr.Value, error) {
	if r.Root == "run" {
		return s.outcome(r)
	}
	for l := s.Args.Local; l != nil; l = l.Outer {
		switch {
		case r.Root == l.Name, r.Root == "matrix" && l.Matrix:
			if r.Root == "matrix" && l.lacks(r) {
				return expr.Value{Absent: true, Author: true}, nil
			}
			v, err := within(l.Item, r)
			if errors.Is(err, errNoPart) {
				err = fmt.Errorf("the item has no such part: it is %s", expr.Quoted(value.Plain(l.Item.V)))
			}
			return v, err
		case r.Root == "index":
			return expr.Value{V: int64(l.Index), Author: true}, nil
		}
	}
	return expr.Value{}, expr.ErrUnknown
}

// lacks says whether a combination has no value of a name that others have.
func (l *Local) lacks(r expr.Ref) bool {
	values, _ := l.Item.V.(map[string]any)
	return len(r.Path) > 0 && values[r.Path[0].Field] == nil
}
