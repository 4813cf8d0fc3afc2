package tooltest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// cleanupLimit is the time limit for all cleanup commands of a test together.
const cleanupLimit = 60 * time.Second

// values returns the parameters that a test gives, as a caller would give them. The test's
// texts may refer to predefined variables and to its other parameters, which a caller's
// texts may not. Therefore a helper definition has them as defaults, and the engine binds
// them.
func (c *Case) values(lib *library.Library, w engine.RunEnv) (map[string]any, error) {
	def := &tool.Definition{Name: c.Tool, Pos: c.Test.Pos, File: c.Plan.Definition.File, Single: true, Steps: noopStep(c.Tool)}
	for i := range c.Test.Parameters {
		e := &c.Test.Parameters[i]
		v := e.Value
		if p := c.Plan.Definition.Parameter(e.Key); p != nil {
			v = p.Takes(v)
		}
		def.Parameters = append(def.Parameters, &tool.Parameter{Name: e.Key, Pos: e.Pos, Type: typeOf(v), Default: &v})
	}
	plan, err := engine.CompileDefinition(lib, def)
	if err != nil {
		return nil, err
	}
	args, err := plan.Bind(w, nil)
	if err != nil {
		return nil, err
	}
	given := make(map[string]any, len(c.Test.Parameters))
	for _, e := range c.Test.Parameters {
		given[e.Key] = args.Value(e.Key)
	}
	return given, nil
}

func typeOf(v tool.Value) string {
	switch {
	case v.List != nil:
		return "array"
	case v.Map != nil:
		return "object"
	}
	switch v.Scalar.(type) {
	case bool:
		return "boolean"
	case int64, float64, json.Number:
		return "number"
	}
	return "string"
}

// fixtureDefinition compiles a definition with the tool's parameters, environment and secrets. Its
// steps are the test's cleanup commands, and its additional parameters are the paths that
// must exist.
func (c *Case) fixtureDefinition(lib *library.Library) (*engine.Plan, error) {
	def := *c.Plan.Definition
	def.Alias, def.Source, def.Tests = false, nil, nil
	def.Handlers, def.Resources, def.ErrorHandling = tool.Handlers{}, tool.Resources{}, tool.ErrorHandling{}
	def.WorkingDirectory, def.FilePaths.WorkingDirectory, def.FilePaths.TempDirectory = nil, nil, nil
	def.Input, def.Output, def.Interactive, def.InteractiveOptions = nil, nil, false, tool.InteractiveOptions{}
	def.Single, def.Strict, def.FailFast, def.IgnoreErrors = false, false, false, true
	def.Locks, def.MaxActiveRuns = nil, 0 // they are for the run before it, and must not delay this one
	def.Timeout, def.Steps = cleanupLimit, noopStep("nothing")
	for i, command := range c.Test.Cleanup {
		def.Steps = append(def.Steps, &tool.Step{Name: fmt.Sprintf("cleanup-%d", i+1), Pos: command.Pos, Body: tool.BashCommand(command)})
	}
	def.Parameters = append([]*tool.Parameter(nil), def.Parameters...)
	for _, p := range c.paths() {
		def.Parameters = append(def.Parameters, &tool.Parameter{Name: p.param, Pos: p.text.Pos, Type: "string", Default: &tool.Value{Pos: p.text.Pos, Text: &p.text, Scalar: p.text.S}})
	}
	return engine.CompileDefinition(lib, &def)
}

// expectedPath is a path that must exist.
type expectedPath struct {
	key   string // file-exists or directory-exists
	text  tool.Text
	param string // its parameter in the fixture definition; the name is invalid in definitions, so that it is unique
}

func (c *Case) paths() []expectedPath {
	var list []expectedPath
	add := func(key string, texts []tool.Text) {
		for _, t := range texts {
			list = append(list, expectedPath{key, t, fmt.Sprintf("expected path %d", len(list))})
		}
	}
	add("file-exists", c.Test.Expected.FileExists)
	add("directory-exists", c.Test.Expected.DirectoryExists)
	return list
}

// noopStep returns a step that does nothing: a definition needs at least one step.
func noopStep(name string) []*tool.Step {
	return []*tool.Step{gostep.GoStep(name, noop)}
}
