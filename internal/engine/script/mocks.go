package script

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/toolstate"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// MockedCall is what a call of a tool in JavaScript would return if its bridges answered with their mocks.
type MockedCall struct {
	Bridges []MockedBridge `json:"bridges"` // each bridge called alone, with the arguments of getMockArgs
	MockedResult
}

// MockedBridge is the answer of the mock of one bridge.
type MockedBridge struct {
	Name string `json:"name"`
	MockedResult
}

// MockedResult is a value, or why there is none. Secrets are masked.
type MockedResult struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

// CallMocks calls a tool with the mocks of its bridges. It returns nil for other tools: those without bridges, those
// that are not one file in JavaScript, and those under Node.js, which have no sandbox. The call has no effect outside
// of the sandbox: it can read variables, those in tools included, and has a storage of its own.
func CallMocks(ctx context.Context, params *call.Params, tools string) (*MockedCall, error) {
	r, ok := runnerOf(params.Plan)
	if !ok || r.Def.Module.Node || !strings.Contains(string(r.Def.Module.Code), "getBridges") {
		return nil, nil
	}
	a := params.Preview()
	a.Tools = tools
	var done func()
	a.RunEnv, done = a.RunEnv.WithScripts(jsrun.Config{})
	defer done()
	env, err := a.Env(a.Plan.Definition, r.Def.Module)
	if err != nil {
		return nil, err
	}
	c := &jsCall{Runner: r, args: a}
	host := &mockedHost{env: env, storage: map[string]json.RawMessage{}}
	answer, err := a.RunEnv.JavaScript.Call(ctx, jsrun.Call{Script: r.Compiled, Entry: "mocks", Vars: c.toolVars(), Ask: host.answer})
	if err != nil {
		return nil, err
	}
	var m *MockedCall // nil if the tool has no bridges
	if err := value.DecodeJSON(string(answer), &m); err != nil || m == nil {
		return nil, err
	}
	m.mask(a)
	for i := range m.Bridges {
		m.Bridges[i].mask(a)
	}
	return m, nil
}

// runnerOf returns the runner of a tool that is one file in JavaScript.
func runnerOf(p *plan.Plan) (*Runner, bool) {
	if len(p.Steps) != 1 || p.Steps[0].Script == nil || p.Steps[0].Script.Def.Module == nil {
		return nil, false
	}
	return &Runner{p.Steps[0].Script}, true
}

func (r *MockedResult) mask(a *call.Frame) {
	m := a.Session().Mask()
	r.Value, r.Error = m.Value(r.Value), m.String(r.Error)
}

// mockedHost answers host calls without effects. Safe for concurrent use.
type mockedHost struct {
	env *toolstate.Env

	mu      sync.Mutex
	storage map[string]json.RawMessage
}

func (h *mockedHost) answer(_ context.Context, op string, args json.RawMessage) (any, error) {
	var in struct {
		Name, Key string
		Value     json.RawMessage
	}
	if err := value.DecodeJSON(string(args), &in); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch op {
	case "log", "log.path", "env.set", "env.delete":
		return nil, nil
	case "env.get":
		return h.env.Get(in.Name), nil
	case "env.all":
		return h.env.All(), nil
	case "storage.get":
		return h.storage[in.Key], nil
	case "storage.set":
		h.storage[in.Key] = in.Value
		return nil, nil
	case "storage.remove":
		_, existed := h.storage[in.Key]
		delete(h.storage, in.Key)
		return existed, nil
	case "storage.clear":
		clear(h.storage)
		return nil, nil
	case "storage.keys":
		return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(h.storage)))), nil
	}
	return nil, fmt.Errorf("%s is not available in a dry run; call it in a bridge that has a mock", hostCallName(op))
}

// hostCallName returns the name that a script uses for a host call.
func hostCallName(op string) string {
	switch op {
	case "exec":
		return "api.execute"
	case "callTool", "askModel":
		return "api." + op
	}
	return op
}
