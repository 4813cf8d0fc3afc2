package preview

import (
	"context"

	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/gostep"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// Confirm works out what a person is shown who is asked about a call. The error is why the
// call would fail, where a tool written in Go can tell.
func Confirm(ctx context.Context, params *call.Params) (*gostep.Confirmation, error) {
	c := &gostep.Confirmation{Title: Describe(ctx, params)}
	g := goTool(params.Plan)
	if g == nil || g.Confirm == nil {
		return c, nil
	}
	more, err := gostep.Confirmed(ctx, g, gostep.InputOf(params.Frame()))
	if err != nil || more == nil {
		return c, err
	}
	if more.Title == "" {
		more.Title = c.Title
	}
	return masked(ctx, params, more), nil
}

// masked is a confirmation with the secrets of the call replaced.
func masked(ctx context.Context, params *call.Params, c *gostep.Confirmation) *gostep.Confirmation {
	_, m, _ := look(ctx, params) // it collects the secrets; what else is wrong the run tells
	hidden := &gostep.Confirmation{Title: m.String(c.Title), Text: m.String(c.Text)}
	if c.Diff != nil {
		hidden.Diff = gostep.MaskDiff(c.Diff, m)
	}
	return hidden
}

// goTool is what the plan's tool is in Go; nil where it is written otherwise.
func goTool(p *plan.Plan) *gostep.GoTool {
	d := p.Definition
	if !d.Single {
		return nil
	}
	code, ok := d.Steps[0].Body.(*tool.GoCode)
	if !ok {
		return nil
	}
	return code.Func.(*gostep.GoTool)
}
