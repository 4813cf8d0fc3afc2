package call

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/ownership"
	"github.com/flowrun/flowrun/internal/toolstate"
	"github.com/flowrun/flowrun/tool"
)

// toolKey tells tools of one id apart: those of the user, of the machine and of the
// program go by their id, those of a project by its folder too, and other files that
// are named by their path by the folder that they are in. Otherwise any project could read
// what another's tool of that id keeps, by taking its id.
func toolKey(def *tool.Definition) string {
	if def.File == "" || def.Scope != tool.ScopeLocal && def.Scope != tool.ScopeFile {
		return def.Name
	}
	folder := filepath.Dir(def.File)
	if project, _ := ownership.Project(def.File); project != "" {
		folder = project
	}
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	sum := sha256.Sum256([]byte(folder))
	return def.Name + "@" + hex.EncodeToString(sum[:8])
}

// ToolFile is a file that a tool has to itself in the state of its user; "" where the
// engine keeps no state.
func (a *Frame) ToolFile(def *tool.Definition, name string) string {
	if a.Tools == "" {
		return ""
	}
	return filepath.Join(a.Tools, toolKey(def), name)
}

// Env is the environment of a tool in JavaScript.
func (a *Frame) Env(def *tool.Definition, m *tool.Module) (*toolstate.Env, error) {
	return toolstate.OpenEnv(a.ToolFile(def, ".env"), a.RunEnv.Vars, a.session.Mask(), m)
}

// StartDir is where a program starts that a tool runs: cwd, else where the tool's steps do.
func (a *Frame) StartDir(cwd string) string {
	if cwd == "" {
		return a.dir
	}
	return a.RunEnv.Resolve(cwd)
}
