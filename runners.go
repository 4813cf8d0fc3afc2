package flowrun

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/script"
	"github.com/flowrun/flowrun/steps"
)

// CommandOf is the command that a Runner of a plan runs, nil for a script and for what is
// written in Go.
func CommandOf(r dag.Runner) *steps.Command { return plan.CommandOf(r) }

// ScriptOf is the script that a Runner of a plan runs, or which function of which file, as a
// dry run shows it; "" for what is none.
func ScriptOf(r dag.Runner) string {
	if js, ok := r.(*script.Runner); ok {
		return js.Told()
	}
	return ""
}

// baseCommandOf is what a Runner of a plan has beside a command or a script, nil for others.
func baseCommandOf(r dag.Runner) *steps.Command {
	if js, ok := r.(*script.Runner); ok {
		return js.Base
	}
	return plan.CommandOf(r)
}
