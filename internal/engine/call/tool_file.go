package call

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/engine/toolstate"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// toolKey returns a key that distinguishes tools with the same id. Tools of the user, of the machine and of the
// program have their id as the key. For tools of a project it includes the folder of the project, and for other files
// given by path their own folder. Otherwise a project could read the data of another project's tool by using the same
// id.
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

// ToolFile returns the path of a file for a tool's own data in the user's state; "" if the engine keeps no state.
func (a *Frame) ToolFile(def *tool.Definition, name string) string {
	if a.Tools == "" {
		return ""
	}
	return filepath.Join(a.Tools, toolKey(def), name)
}

// Env returns the environment of a tool in JavaScript.
func (a *Frame) Env(def *tool.Definition, m *tool.Module) (*toolstate.Env, error) {
	return toolstate.OpenEnv(a.ToolFile(def, ".env"), a.RunEnv.Vars, a.session.Mask(), m)
}

// StartDir returns where a program that a tool runs starts: in cwd, else in the directory of the tool's steps.
func (a *Frame) StartDir(cwd string) string {
	if cwd == "" {
		return a.dir
	}
	return a.RunEnv.Resolve("", cwd)
}
