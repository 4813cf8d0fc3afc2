package flowrun

import (
	"context"

	"github.com/flowrun/flowrun/tool"
)

// Confirmation is what a person is shown who is asked about a call of a model, beside
// what the Preview says (S4-007).
type Confirmation struct {
	Title string    `json:"title"`          // what will happen, in one sentence
	Text  string    `json:"text,omitempty"` // more of it: a command, a plan
	Diff  *FileDiff `json:"diff,omitempty"` // what would change in a file
}

// confirm works out what a person is shown who is asked about a call. The error is why the
// call would fail, where a tool written in Go can tell; outer bounds the previews.
func (p *compiledPlan) confirm(ctx, outer context.Context, a *callArgs) (*Confirmation, error) {
	c := &Confirmation{Title: p.describe(outer, a)}
	g := p.goTool()
	if g == nil || g.Confirm == nil {
		return c, nil
	}
	more, err := g.confirmed(ctx, a.stepInput())
	if err != nil || more == nil {
		return c, err
	}
	if more.Title == "" {
		more.Title = c.Title
	}
	return p.masked(outer, a, more), nil
}

// masked is a confirmation with the secrets of the call replaced. a is not used up.
func (p *compiledPlan) masked(ctx context.Context, a *callArgs, c *Confirmation) *Confirmation {
	copied := *a
	p.preview(ctx, &copied) // it collects the secrets; what else is wrong the run tells
	if copied.Session() == nil {
		return c
	}
	m := copied.Session().Mask()
	hidden := &Confirmation{Title: m.String(c.Title), Text: m.String(c.Text)}
	if c.Diff != nil {
		hidden.Diff = c.Diff.masked(m)
	}
	return hidden
}

// goTool is what the plan's tool is in Go; nil where it is written otherwise.
func (p *compiledPlan) goTool() *GoTool {
	if d := p.Definition; d.Single && d.Steps[0].Kind == tool.Go {
		return d.Steps[0].Go.(*GoTool)
	}
	return nil
}
