package flowrun

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/helper"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/steps"
)

// ConfinementError says that a tool's security cannot be kept here: the run was refused
// before its first step.
type ConfinementError struct {
	Tool     string
	Problems []string // one for each demand, each with its reason
}

func (e *ConfinementError) Error() string {
	return fmt.Sprintf("tool %s is refused: %s; docs/isolation.md says what is kept where", e.Tool, strings.Join(e.Problems, "; "))
}

// confines says whether processes can be started confined: the program that starts
// them must call HelperMain.
func (e *Engine) confines() bool { return e.config.Helper != "" || helper.Enabled() }

// confinable refuses a run that could not keep what it promises. Where something else
// does the steps' work, each step finds out for itself.
func (e *Engine) confinable(j *job) error {
	if j.around != nil {
		return nil
	}
	var problems []string
	j.plan.Demands(steps.Confinement{}, func(c steps.Confinement, step, ours string) {
		if step != "" {
			if why := plan.Unconfined(c, ours); why != "" {
				problems = append(problems, "step "+step+": "+why)
			}
			return
		}
		for _, err := range c.Check(e.confines(), j.args.World.Env) {
			if !slices.Contains(problems, err.Error()) {
				problems = append(problems, err.Error())
			}
		}
	})
	if len(problems) == 0 {
		return nil
	}
	return &ConfinementError{Tool: j.plan.Name(), Problems: problems}
}
