package plan

import (
	"github.com/flowrun/flowrun/dag"
)

// Handler is when a step of on-success, on-failure or finally runs.
type Handler struct {
	Key  string // on-success, on-failure, finally
	Step string // the step it belongs to; "" for the tool
	Gate dag.ID // the join that sums up what went before
}

// RunFields are what handlers may ask of the run.
func RunFields() []string { return []string{"status", "exit-code", "failed-step"} }
