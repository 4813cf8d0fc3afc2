package past

import (
	"os"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// keptTemps lists the temporary directories that a run which can be resumed has kept.
func keptTemps(p *engine.RecordedRun) string {
	state, err := ui.StateDir()
	if err != nil || p.Info.Live() {
		return ""
	}
	folders := rundir.Folders(state, p.Record.ID)
	return ui.Listed(slices.DeleteFunc(folders[:len(folders)-1], func(dir string) bool {
		_, err := os.Stat(dir)
		return err != nil
	}))
}

// reportLeftovers lists processes that a killed run has left. Its steps are not over until those have ended, whatever their
// status.
func reportLeftovers(env *ui.Env, r *runresult.Result) {
	if r.Status != dag.Interrupted {
		return
	}
	if left, err := proc.StillRunning([]string{r.ID}); err == nil && len(left) > 0 {
		env.Notef("processes of the run are still running: %s; resume the run, or start another one, to end them", proc.Names(left))
	}
}
