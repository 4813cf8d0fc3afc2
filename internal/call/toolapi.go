package call

import (
	"path/filepath"

	"github.com/flowrun/flowrun/internal/toolstate"
	"github.com/flowrun/flowrun/tool"
)

// ToolFile is a file that a tool has to itself in the state of its user; "" where the
// engine keeps no state.
func (a *Args) ToolFile(def *tool.Definition, name string) string {
	if a.Tools == "" {
		return ""
	}
	return filepath.Join(a.Tools, toolKey(def), name)
}

// Env is the environment of a tool in JavaScript.
func (a *Args) Env(def *tool.Definition, m *tool.Module) (*toolstate.Env, error) {
	return toolstate.OpenEnv(a.ToolFile(def, ".env"), a.World.Vars, a.session.Mask(), m)
}
