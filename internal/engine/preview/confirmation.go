package preview

import (
	"context"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Confirm computes what a person sees who is asked to approve a call. The error says why the call would fail, if a
// tool written in Go can know that.
func Confirm(ctx context.Context, params *call.Params) (*gostep.Confirmation, error) {
	c := &gostep.Confirmation{Title: Describe(ctx, params)}
	g := goTool(params.Plan)
	if g == nil || g.Confirm == nil {
		return c, nil
	}
	more, err := gostep.SafeConfirm(ctx, g, gostep.InputOf(params.Frame()))
	if err != nil || more == nil {
		return c, err
	}
	if more.Title == "" {
		more.Title = c.Title
	}
	return masked(ctx, params, more), nil
}

// masked returns a confirmation with the secrets of the call masked.
func masked(ctx context.Context, params *call.Params, c *gostep.Confirmation) *gostep.Confirmation {
	_, m, _ := previewWithMask(ctx, params, nil) // only to collect the secrets; the run reports other problems
	hidden := &gostep.Confirmation{Title: m.String(c.Title), Text: m.String(c.Text)}
	if c.Diff != nil {
		hidden.Diff = gostep.MaskDiff(c.Diff, m)
	}
	return hidden
}

// goTool returns the Go implementation of the plan's tool; nil if it is not written in Go.
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
