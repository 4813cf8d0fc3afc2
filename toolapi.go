package flowrun

import (
	"path/filepath"
)

// toolDir is where the Engine's tools keep what they keep, "" for nowhere.
func (e *Engine) toolDir() string {
	if e.config.ToolDir == "" && e.config.StateDir != "" {
		return filepath.Join(e.config.StateDir, "tools")
	}
	return e.config.ToolDir
}
