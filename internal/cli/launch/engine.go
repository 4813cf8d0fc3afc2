package launch

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/netclient"
	"github.com/flowrun/flowrun/steps/egress"
	"github.com/flowrun/flowrun/steps/sqlclient"
)

// EngineConfig configures an engine from flags and settings. s is the history; nil means that the
// run is not recorded. parallel is --max-parallel; 0 means the setting limits.max-parallel. cleanup
// removes the temporary folder of a run that is not recorded; call it after the run.
func EngineConfig(s history.Store, f ConsentFlags, parallel int) (config engine.Config, cleanup func(), err error) {
	config = engine.Config{StateDir: engine.DefaultStateDir(), Leftovers: engine.DefaultStateDir(),
		Grace: f.Settings.Duration("grace"), Cleanup: f.Settings.Duration("limits.cleanup"),
		Pools: f.Settings.Pools(),
		Artifacts: engine.ArtifactLimits{MaxFileSize: f.Settings.Number("artifacts.max-file-size"), MaxSize: f.Settings.Number("artifacts.max-size"),
			MaxFiles: int(f.Settings.Number("artifacts.max-files"))},
		Enforce: Enforcement(f.Settings), AllowUnenforced: f.allowUnenforced}
	config.Parallel = Parallel(f.Settings, parallel)
	config.HTTP, config.Fetch, config.Database, config.Egress = netclient.Status, netclient.Fetch, sqlclient.Open, egress.Serve
	config.MayCall, config.AskModel = f.MayCall, AskModel(f.Settings)
	if s != nil {
		config.Store = s
		return config, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "flowrun-") // the result is printed from the logs in this folder before cleanup removes it
	if err != nil {
		return config, nil, fmt.Errorf("cannot create a temporary folder: %w; set TMPDIR to a folder you can write to", err)
	}
	config.ToolDir = ToolDir(config.StateDir) // stored data belongs to the tools and is kept even without a history
	config.StateDir, config.CacheDir = dir, engine.NoCache
	return config, func() { os.RemoveAll(dir) }, nil
}

// Parallel returns how many steps may run at once: flag, which is --max-parallel, or else the setting limits.max-parallel, or
// else the default of this machine.
func Parallel(settings *config.Config, flag int) int {
	return cmp.Or(flag, int(settings.Number("limits.max-parallel")), dag.DefaultParallel())
}

// ToolDir returns the folder in a state directory with the data that tools store, "" for none.
func ToolDir(state string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, "tools")
}

// Enforcement returns when the permissions of tools are enforced.
func Enforcement(c *config.Config) engine.Enforcement {
	word := c.Enforcement()
	if word == "never" {
		return ""
	}
	return engine.Enforcement(word)
}
