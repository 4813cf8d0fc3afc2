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

// Confirmation works out what a call with these parameters would do. Nothing is changed
// and no command started. Secrets are masked. Errors are those of Bind, and why the call would fail where a
// tool written in Go can tell.
func (p *Plan) Confirmation(ctx context.Context, w World, params map[string]any) (*Confirmation, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return nil, err
	}
	c := &Confirmation{Title: p.describe(w.context(), a)}
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
	return p.masked(w.context(), a, more), nil
}

// masked is a confirmation with the secrets of the call replaced. a is not used up.
func (p *Plan) masked(ctx context.Context, a *Args, c *Confirmation) *Confirmation {
	copied := *a
	p.preview(ctx, &copied) // it collects the secrets; what else is wrong the run tells
	if copied.session == nil {
		return c
	}
	m := copied.session.Mask()
	hidden := &Confirmation{Title: m.String(c.Title), Text: m.String(c.Text)}
	if c.Diff != nil {
		hidden.Diff = c.Diff.masked(m)
	}
	return hidden
}

// Describe says in one sentence what a call with these parameters would do (S4-006).
func (p *Plan) Describe(w World, params map[string]any) (string, error) {
	a, err := p.Bind(w, params)
	if err != nil {
		return "", err
	}
	return p.describe(w.context(), a), nil
}

// goTool is what the plan's tool is in Go; nil where it is written otherwise.
func (p *Plan) goTool() *GoTool {
	if d := p.Definition; d.Single && d.Steps[0].Kind == tool.Go {
		return d.Steps[0].Go.(*GoTool)
	}
	return nil
}
