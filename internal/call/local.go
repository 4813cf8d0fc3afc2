package call

import (
	"github.com/flowrun/flowrun/expr"
)

// Local is what an item of a loop has in scope, and the loops around it.
type Local struct {
	Name   string
	Item   expr.Value
	Index  int
	Matrix bool
	Outer  *Local
}
