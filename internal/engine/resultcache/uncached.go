package resultcache

import (
	"context"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
)

// Uncached runs a step without a cache. The steps of the run that have one learn that it works, because it does not say
// which files it writes.
type Uncached struct{ dag.Runner }

// Inside returns the Runner that this one is around.
func (u Uncached) Inside() dag.Runner { return u.Runner }

// Run implements dag.Runner.
func (u Uncached) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	if a := call.FrameOf(c.Args()); a.Cache != nil {
		a.Files.BeginSilent()
		defer a.Files.EndSilent()
	}
	return u.Runner.Run(ctx, c)
}
