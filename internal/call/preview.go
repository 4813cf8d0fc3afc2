package call

import (
	"github.com/flowrun/flowrun/expr"
)

// Display is a command as a person would write it, secrets masked, those that stand in
// the definition too.
func (a *Args) Display(t *expr.Template) string {
	mask := a.Session().Mask().String
	return mask(t.Display(Scope{Args: a}, mask))
}
