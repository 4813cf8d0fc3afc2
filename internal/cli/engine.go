package cli

import (
	"cmp"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/past"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// engineFlag returns what adds --engine to a command that shows runs. The program flowrun-temporal shows those on Temporal: it
// has the same command, and gets the same arguments.
func engineFlag(env *ui.Env, args []string) func(*cobra.Command) {
	engine := cmp.Or(os.Getenv("FLOWRUN_ENGINE"), past.LocalEngine)
	env.Elsewhere = func() (bool, error) {
		if err := past.CheckEngine(engine); err != nil || engine == past.LocalEngine || env.Completing { // a key press does not wait for a service
			return false, err
		}
		p, ok := findPlugin("temporal")
		if !ok {
			return false, errors.New("cannot show runs on Temporal: there is no program flowrun-temporal in PATH; install it, or use --engine local")
		}
		return true, p.run(args)
	}
	return func(c *cobra.Command) { past.EngineFlag(c, &engine, engine) }
}
