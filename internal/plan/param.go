package plan

import (
	"context"
	"regexp"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/tool"
)

// Written is a scalar as the author wrote it.
func Written(v tool.Value) string {
	if v.Text != nil {
		return v.Text.S
	}
	return value.Plain(v.Scalar)
}

// Param is a compiled parameter.
type Param struct {
	Def        *tool.Parameter
	Transforms []expr.Transform
	JS         transform // nil: none
	Format     *expr.Format
	Pattern    *regexp.Regexp
	Initial    *ValueTemplate // the default; nil = none
}

// transform is what JavaScript makes of a parameter's value before it is used.
type transform interface {
	Apply(ctx context.Context, rt *hooks.Runtime, v any) (any, error)
}
