package compile

import (
	"fmt"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/permission"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// permissions compiles required-permissions. One whose kind nobody knows is shown and
// asked for as it stands.
func (c *compiler) permissions(p *plan.Plan, n names) {
	list := p.Definition.Security.RequiredPermissions
	for i := range list {
		at := &list[i]
		path := fmt.Sprintf("security.required-permissions[%d]", i)
		if wrong := permission.Problem(at.S); wrong != "" {
			c.report(tool.Diagnostic{Code: "unknown-permission", Severity: tool.Warning, Pos: at.Pos, Len: len([]rune(at.S)), Path: path,
				Message: wrong, Hint: permission.Forms})
		}
		if t := c.wide(at, path, expr.Plain, n); t != nil {
			p.Needed = append(p.Needed, plan.Permission{Written: at.S, Text: t})
		}
	}
}
