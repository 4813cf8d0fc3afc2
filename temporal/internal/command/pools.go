package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
)

// maxSlots is the largest number of slots that a worker can have of a pool.
const maxSlots = 10_000

// parsePools reads the pools of a worker, each written as NAME=n.
func parsePools(c *cobra.Command, list []string) (map[string]int, error) {
	pools := map[string]int{}
	for _, text := range list {
		name, number, ok := strings.Cut(text, "=")
		n, err := strconv.Atoi(number)
		switch {
		case !ok || name == "" || err != nil || n < 1 || n > maxSlots:
			return nil, ui.Usagef(c, "invalid --pool %q: write NAME=n, such as gpu=2, with 1 to %d slots", text, maxSlots)
		case pools[name] > 0:
			return nil, ui.Usagef(c, "--pool %s is given twice", name)
		}
		pools[name] = n
	}
	return pools, nil
}

// usedPools returns the pools of the settings that steps of a plan use.
func usedPools(p *engine.Plan, settings map[string]history.Pool) map[string]history.Pool {
	used := map[string]history.Pool{}
	for _, d := range p.StepDemands() {
		if pool, ok := settings[d.Name]; ok && d.Kind == history.DemandPool {
			used[d.Name] = pool
		}
	}
	return used
}

// checkPlan refuses what no worker could carry out as a local run does.
func checkPlan(p *engine.Plan, settings map[string]history.Pool) error {
	if found := engine.NotOnTemporal(p, settings); len(found) > 0 {
		return refused(p.Name(), found[0].Message+"; "+found[0].Hint)
	}
	return nil
}

// refused returns the error of a run that cannot be right on Temporal, so that it is not started.
func refused(tool, reason string) error {
	return &ui.RefusedError{Reason: fmt.Sprintf("cannot run %s on Temporal: %s", tool, reason)}
}
