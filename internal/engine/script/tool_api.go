package script

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/toolstate"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// toolAPI answers the calls of this.api during one call of a .tool.js. Safe for concurrent use.
type toolAPI struct {
	*hostCalls
	env     *toolstate.Env
	storage *toolstate.Storage
	calls   atomic.Int64 // counts called tools and programs, each of which has its own logs
}

// newToolAPI prepares the api for a call of a tool.
func newToolAPI(k *hostCalls, m *tool.Module) (*toolAPI, error) {
	def := k.args.Plan.Definition
	env, err := k.args.Env(def, m)
	if err != nil {
		return nil, err
	}
	return &toolAPI{hostCalls: k, env: env, storage: &toolstate.Storage{File: k.args.ToolFile(def, "storage.json")}}, nil
}

// answer implements jsrun.Call.Ask for a tool.
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
		if err := value.DecodeJSON(string(args), &in); err != nil {
			return nil, fmt.Errorf("cannot read the arguments of the call: %w", err)
		}
	}
	switch op {
	case "env.get":
		return t.env.Get(in.Name), nil
	case "env.all":
		return t.env.All(), nil
	case "env.set":
		return nil, t.env.Set(in.Values)
	case "env.delete":
		return nil, t.env.Remove(in.Names)
	case "storage.get":
		return t.storage.Get(in.Key)
	case "storage.set":
		return nil, t.storage.Set(in.Key, in.Value)
	case "storage.remove":
		return t.storage.Remove(in.Key)
	case "storage.clear":
		return nil, t.storage.Clear()
	case "storage.keys":
		return t.storage.Keys()
	case "log.path":
		return t.logFolder()
	case "callTool":
		return t.callTool(ctx, in.Tool, in.Params)
	case "askModel":
		return t.askModel(ctx, args)
	case "exec":
		return t.exec(ctx, args)
	}
	return t.hostCalls.answer(ctx, op, args)
}

// logFolder returns the folder of the run's logs, nil if the engine keeps none. It makes the folder, because a script may
// write there.
func (t *toolAPI) logFolder() (any, error) {
	if t.args.State == "" {
		return nil, nil
	}
	dir := rundir.LogFolder(t.args.State, t.call.Run)
	return dir, os.MkdirAll(dir, 0o700)
}

// toolVars returns the arguments of a tool's execute.
func (c *jsCall) toolVars() map[string]any {
	d := c.args.Plan.Definition
	var packages []string
	for _, dependency := range c.Def.Module.Dependencies {
		packages = append(packages, dependency.Name)
	}
	params := c.args.All()
	return map[string]any{"params": params, "large": largeNumbers(params), "dependencies": packages, "tool": map[string]any{
		"id": d.Name, "name": cmp.Or(d.DisplayName, d.Name), "description": d.Description, "version": d.Version, "author": d.Author,
		"sandbox": c.sandbox(), "sandboxPath": c.sandbox(), "runtime": map[string]any{"name": "builtin", "node": "", "platform": nodePlatform(), "arch": nodeArch()}}}
}

// sandbox returns the folder of the tool's own data, nil if the engine keeps no state.
func (c *jsCall) sandbox() any {
	if folder := c.args.ToolFile(c.args.Plan.Definition, ""); folder != "" {
		return folder
	}
	return nil
}

// nodePlatform returns the name of this operating system in Node.js.
func nodePlatform() string {
	if runtime.GOOS == "windows" {
		return "win32"
	}
	return runtime.GOOS
}

// nodeArch returns the name of this processor in Node.js.
func nodeArch() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x64"
	case "386":
		return "ia32"
	}
	return runtime.GOARCH
}

// setupActions lists values of the parameter action with which a tool is configured: its environment may be incomplete
// then, because the call is there to complete it.
var setupActions = []string{"configure", "config", "setup", "init", "check", "info"}

// environmentProblem returns the result of a tool whose environment is incomplete or invalid; nil if it is complete.
func (c *jsCall) environmentProblem(env *toolstate.Env) *dag.Result {
	missing, bad := env.Problems()
	if action, _ := c.args.All()["action"].(string); slices.Contains(setupActions, action) {
		missing = nil
	}
	if len(missing) == 0 && len(bad) == 0 {
		return nil
	}
	p := &dag.Problem{Code: toolstate.CodeMissingVariable, Category: categoryValidation, Solution: env.Hint()}
	var words []string
	if len(missing) > 0 {
		words = append(words, "the tool needs environment variables that are not set: "+strings.Join(missing, ", "))
	} else {
		p.Code = toolstate.CodeBadVariable
	}
	if len(bad) > 0 {
		words = append(words, "environment variables do not match the schema of the tool: "+strings.Join(bad, "; "))
	}
	return &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Permanent: true, Message: p.Code + ": " + strings.Join(words, "; "), Problem: c.masked(p)}
}
