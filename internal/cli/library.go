package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/tool"
)

// library is where tools are found. Listings of large folders are remembered beside the
// history.
func (a *app) library() *tool.Library {
	c := tool.Config{Trusted: a.trusts}
	if dir := flowrun.DefaultStateDir(); dir != "" {
		c.Index = filepath.Join(dir, "index")
	}
	if s := a.bounds(); s != nil {
		c.MaxPlanSteps = int(s.Number("limits.max-plan-steps"))
	}
	lib := tool.NewLibrary(c)
	a.readScripts(lib)
	a.provide(lib)
	return lib
}

// trusts says whether the user trusts the project in a folder, in this command or for good.
func (a *app) trusts(project string) bool {
	c, err := a.soFar()
	return err == nil && c.Trust.Covers(project)
}

// bounds are the settings as far as definitions are read by them, nil where they are
// invalid, which the command itself reports.
func (a *app) bounds() *config.Config {
	if !a.bounded {
		a.bounded = true
		if c, err := a.configuration(false); err == nil {
			a.limits = c
		}
	}
	return a.limits
}

// tools lists what a library holds. Many files are read on all processors, where the user
// did not say how many, and with less collecting of garbage: the heap is a few megabytes.
func (a *app) tools(lib *tool.Library) []tool.Listed {
	if os.Getenv("GOMAXPROCS") == "" {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		runtime.SetDefaultGOMAXPROCS()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	return lib.List()
}
