package plan

import (
	"github.com/flowrun/flowrun/dag"
)

// Handler describes when a step of on-success, on-failure or finally runs.
type Handler struct {
	Key  string // on-success, on-failure, finally
	Step string // the step it belongs to; "" for the tool
	Gate dag.ID // the join that combines the results of what ran before
}

// RunFields returns the fields of the run that handlers can refer to.
func RunFields() []string { return []string{"status", "exit-code", "failed-step"} }
