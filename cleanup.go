package flowrun

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/plan"
)

// CleanupFailed are the paths of the cleanups that failed.
func (r *Result) CleanupFailed() []string {
	var list []string
	for _, s := range r.Steps {
		if dag.ID(s.ID).Base() == plan.CleanupID && (s.Status == dag.Failed || s.Status == dag.TimedOut) {
			list = append(list, s.ID)
		}
	}
	return list
}
