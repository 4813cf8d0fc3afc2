// Package toolset has the tools with which a model writes tools, and looks after runs.
//
// They are tools written in Go like the built-in ones, so the policy, the history and every
// client treat them as any other tool. They are offered only if the user asks for them
// (flowrun mcp --toolset). What a model does with them passes the same checks as if it did it
// directly: a run is continued only if the policy allows the tools that it runs, and runs of
// tools that are not offered cannot be seen.
package toolset

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Config is what the tools work with.
type Config struct {
	Library  func() *library.Library
	Store    history.Store
	StateDir string
	Engine   *engine.Engine
	// Offers reports whether the client may see a tool.
	Offers func(name string) bool
	// Shows reports whether the client may see a run.
	Shows func(context.Context, history.RunInfo) bool
	// Saved is called after a definition was saved, so that the client can see the tool.
	Saved func()
	// MayRun returns why the tools of a run may not be run without asking a person; nil if they
	// may.
	MayRun func([]plan.UsedTool) error
	// Options are the options of a run that is continued.
	Options func() []engine.RunOption
}

// Names returns the names of all toolsets.
func Names() []string { return []string{"authoring", "runs"} }

// Tools returns the tools of a toolset; nil if there is no such toolset.
func Tools(name string, c Config) (list []*tool.Definition) {
	var tools []gostep.GoTool
	switch name {
	case "authoring":
		tools = []gostep.GoTool{c.validate(), c.preview(), c.graph(), c.save()}
	case "runs":
		tools = []gostep.GoTool{c.listRuns(), c.showRun(), c.readLog(), c.cancel(), c.resume(), c.retry()}
	}
	for _, t := range tools {
		list = append(list, t.Definition())
	}
	return list
}

// own are the names of all these tools.
var own = []string{"flowrun_validate", "flowrun_preview", "flowrun_graph", "flowrun_save",
	"flowrun_runs", "flowrun_run", "flowrun_log", "flowrun_cancel", "flowrun_resume", "flowrun_retry"}

// schema returns the schema of an object with these properties, in JSON. It panics if that is
// not valid; the tests load every tool.
func schema(properties string, required ...string) *dataschema.Schema {
	names, err := json.Marshal(append([]string{}, required...))
	if err == nil {
		var s *dataschema.Schema
		if s, err = dataschema.Parse([]byte(`{"type": "object", "properties": {` + properties + `}, "required": ` + string(names) + `, "additionalProperties": false}`)); err == nil {
			return s
		}
	}
	panic(fmt.Sprintf("toolset: %v in %s", err, properties))
}

// text returns a text parameter of a call; "" if it is not given.
func text(in *gostep.StepInput, name string) string {
	s, _ := in.Params[name].(string)
	return s
}

// number returns a whole-number parameter of a call; otherwise if it is not given.
func number(in *gostep.StepInput, name string, otherwise int) int {
	switch n := in.Params[name].(type) {
	case int:
		return n
	case int64:
		return int(n)
	case float64:
		return int(n)
	case json.Number:
		if v, err := n.Int64(); err == nil {
			return int(v)
		}
	}
	return otherwise
}
