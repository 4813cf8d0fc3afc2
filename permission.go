package flowrun

import (
	"context"
)

// Tools are those of the plan that the run goes on with.
func (g *Again) Tools() []UsedTool { return g.plan.Tools() }

// Preview is what taking the run up runs, the steps that stand included. Errors are
// those of Plan.Preview.
func (g *Again) Preview() (*Preview, error) {
	a := *g.args // which the run itself is to begin
	return foreseen(context.Background(), g.plan, &a)
}
