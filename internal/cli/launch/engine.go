package launch

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/netclient"
	"github.com/flowrun/flowrun/internal/procid"
	"github.com/flowrun/flowrun/internal/sqlite"
)

// EngineConfig is what flags and settings make of an engine; s is the history, nil for
// none. parallel is --max-parallel. tidy takes away what the engine leaves then.
func EngineConfig(s *sqlite.Store, f ConsentFlags, parallel int) (config flowrun.Config, tidy func(), err error) {
	config = flowrun.Config{Parallel: parallel, StateDir: flowrun.DefaultStateDir(),
		Grace: f.Settings.Duration("grace"), Cleanup: f.Settings.Duration("limits.cleanup")}
	if config.Parallel == 0 {
		config.Parallel = int(f.Settings.Number("limits.max-parallel"))
	}
	procid.SetPlace(config.StateDir) // also where this run keeps nothing there
	config.HTTP, config.Fetch, config.MayCall = netclient.Status, netclient.Fetch, f.MayCall
	if s != nil {
		config.Store = s
		return config, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "flowrun-") // the result is printed from the logs, which then go
	if err != nil {
		return config, nil, fmt.Errorf("cannot create a temporary folder: %w; set TMPDIR to a folder you can write to", err)
	}
	if state := config.StateDir; state != "" {
		config.ToolDir = filepath.Join(state, "tools") // what tools keep is theirs, and no history
	}
	config.StateDir, config.CacheDir = dir, flowrun.NoCache
	return config, func() { os.RemoveAll(dir) }, nil
}
