package flowrun

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"

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
	env, err := openToolEnv(k.args, m)
	if err != nil {
		return nil, err
	}
	return &toolAPI{asker: k, env: env, storage: &toolStorage{file: k.args.toolFile("storage.json")}}, nil
}

// toolFile is a file that the call's tool has to itself in the state of its user; "" where
// the engine keeps no state.
func (a *Args) toolFile(name string) string {
	if a.state == "" {
		return ""
	}
	return filepath.Join(a.state, "tools", a.plan.Definition.Name, name)
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
		return t.logPath(), nil
	case "callTool":
		return t.callTool(ctx, in.Tool, in.Params)
	case "exec":
		return t.exec(ctx, args)
	}
	return t.asker.answer(ctx, op, args)
}
