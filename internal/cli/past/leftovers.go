package past

import (
	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/proc"
)

// reportLeftovers lists processes that a killed run has left. Its steps are not over until those have ended, whatever their
// status.
func reportLeftovers(env *ui.Env, r *flowrun.Result) {
	if r.Status != dag.Interrupted {
		return
	}
	if left, err := proc.StillRunning([]string{r.ID}); err == nil && len(left) > 0 {
		env.Notef("processes of the run are still running: %s; resume the run, or start another one, to end them", proc.Names(left))
	}
}
