package flowrun

import (
	"context"
	"slices"

	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/preview"
)

// foreseen is what a run of a plan with these arguments would do.
func foreseen(ctx context.Context, p *plan.Plan, a *call.Args) (*Preview, error) {
	v, err := preview.Of(p, ctx, a)
	if err == nil {
		v.Needs = needsOf(p)
	}
	return v, err
}

// needsOf are what a run of a plan takes at its start.
func needsOf(p *plan.Plan) []Need {
	var list []Need
	if d := p.Definition; d.MaxActiveRuns > 0 {
		name := d.Name
		if n := len(d.StandsFor); n > 0 { // an alias is its base tool by another name
			name = d.StandsFor[n-1]
		}
		list = append(list, Need{Kind: NeedTurn, Name: name, File: d.File, Slots: d.MaxActiveRuns})
	}
	for _, t := range p.Tools() {
		for _, l := range t.Definition.Locks {
			n := Need{Kind: NeedLock, Name: l.Name.S, Slots: max(l.Slots, 1)}
			if i := slices.IndexFunc(list, n.Same); i >= 0 {
				list[i].Slots = min(list[i].Slots, n.Slots)
			} else {
				list = append(list, n)
			}
		}
	}
	return list
}
