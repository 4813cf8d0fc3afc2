package flowrun

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/ownership"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// toolAPI answers what one call of a .tool.js asks through this.api (S2-080). Its methods
// are called by several goroutines at once.
type toolAPI struct {
	*asker
	env     *toolEnv
	storage *toolStorage
	calls   atomic.Int64 // of tools and programs, which each have logs of their own
}

// newToolAPI readies the api of the tool that a call is of.
func newToolAPI(k *asker, m *tool.Module) (*toolAPI, error) {
	def := k.args.plan.Definition
	env, err := k.args.toolEnv(def, m)
	if err != nil {
		return nil, err
	}
	return &toolAPI{asker: k, env: env, storage: &toolStorage{file: k.args.toolFile(def, "storage.json")}}, nil
}

// toolDir is where the Engine's tools keep what they keep, "" for nowhere.
func (e *Engine) toolDir() string {
	if e.config.ToolDir == "" && e.config.StateDir != "" {
		return filepath.Join(e.config.StateDir, "tools")
	}
	return e.config.ToolDir
}

// toolFile is a file that a tool has to itself in the state of its user; "" where the
// engine keeps no state.
func (a *callArgs) toolFile(def *tool.Definition, name string) string {
	if a.tools == "" {
		return ""
	}
	return filepath.Join(a.tools, toolKey(def), name)
}

// toolEnv is the environment of a tool in JavaScript.
func (a *callArgs) toolEnv(def *tool.Definition, m *tool.Module) (*toolEnv, error) {
	return openToolEnv(a.toolFile(def, ".env"), a.world.vars, a.session.Mask(), m)
}

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

// answer is hooks.Call.Ask of a tool.
func (t *toolAPI) answer(ctx context.Context, op string, args json.RawMessage) (any, error) {
	var in struct {
		Name   string
		Names  []string
		Values map[string]string
		Key    string
		Value  json.RawMessage
		Tool   string
		Params map[string]any
	}
	switch op {
	case "env.get", "env.set", "env.delete", "storage.get", "storage.set", "storage.remove", "callTool":
		if err := decodeJSON(string(args), &in); err != nil {
			return nil, fmt.Errorf("cannot read what the tool asks for: %w", err)
		}
	}
	switch op {
	case "env.get":
		return t.env.get(in.Name), nil
	case "env.all":
		return t.env.all(), nil
	case "env.set":
		return nil, t.env.set(in.Values)
	case "env.delete":
		return nil, t.env.remove(in.Names)
	case "storage.get":
		return t.storage.get(in.Key)
	case "storage.set":
		return nil, t.storage.set(in.Key, in.Value)
	case "storage.remove":
		return nil, t.storage.remove(in.Key)
	case "storage.clear":
		return nil, t.storage.clear()
	case "storage.keys":
		return t.storage.keys()
	case "log.path":
		return t.logFolder(), nil
	case "callTool":
		return t.callTool(ctx, in.Tool, in.Params)
	case "exec":
		return t.exec(ctx, args)
	}
	return t.asker.answer(ctx, op, args)
}

// logFolder is where the run's logs are, nil where the engine keeps none.
func (t *toolAPI) logFolder() any {
	if t.args.state == "" {
		return nil
	}
	return steps.LogFolder(t.args.state, t.call.Run)
}

// toolVars are the arguments of a tool's execute.
func (c *jsCall) toolVars() map[string]any {
	d := c.args.plan.Definition
	return map[string]any{"params": c.args.All(), "tool": map[string]any{
		"id": d.Name, "name": cmp.Or(d.DisplayName, d.Name), "description": d.Description, "version": d.Version, "author": d.Author}}
}

// settingUp are values of a parameter action by which tools have themselves configured:
// then what their environment lacks is what they are to be given (S2-031).
var settingUp = []string{"configure", "config", "setup", "init", "check", "info"}

// unready is the result of a tool whose environment is not as it must be; nil where it is.
func (c *jsCall) unready(env *toolEnv) *dag.Result {
	missing, bad := env.problems()
	if action, _ := c.args.All()["action"].(string); slices.Contains(settingUp, action) {
		missing = nil
	}
	if len(missing) == 0 && len(bad) == 0 {
		return nil
	}
	p := &dag.Problem{Code: CodeMissingVariable, Category: categoryValidation, Solution: env.wayOut()}
	var words []string
	if len(missing) > 0 {
		words = append(words, "the tool needs environment variables that are not set: "+strings.Join(missing, ", "))
	} else {
		p.Code = CodeBadVariable
	}
	if len(bad) > 0 {
		words = append(words, "environment variables are not as the tool's schema wants them: "+strings.Join(bad, "; "))
	}
	return &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Permanent: true, Message: strings.Join(words, "; ") + "; " + p.Solution, Problem: c.clean(p)}
}
