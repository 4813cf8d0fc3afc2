package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
	"github.com/flowrun/flowrun/library"
)

// Foreign closes an Engine for definitions that others have written, such as the customers of a server. Such a definition
// is read with Engine.CompileForeign, which opens no file, and run with Engine.Run.
//
// Its steps have the permissions that it lists and that Permissions has too, and nothing else. The machine must be able to
// enforce that: otherwise runs are refused, whatever Config.AllowUnenforced says. Keys that reach beyond the steps are
// rejected (closed-key). RunEnv.Workspace must be set. {HOME} is the workspace, and RunEnv.Env has no effect.
type Foreign struct {
	// Permissions are the most that a tool can have, in the form of security.required-permissions, such as
	// "filesystem:write:." and "network:external:api.example.com". Relative paths start at the workspace. nil grants nothing:
	// a step can then compute, and use a temporary folder. "tool:NAME" lets definitions use one of the Tools that is written
	// in Go, which runs in this program without limits.
	Permissions []string
	// Tools are those that definitions can use, by their names. No other name and no path leads to a tool.
	Tools []*tool.Definition
	// Env are the variables K=V that {env.NAME}, secrets and steps can read. nil is a PATH with the folders of the system.
	Env []string
	// Limits are the most that each step can use: the first fields of tool.Resources. A limit of 0 is none.
	Limits tool.Resources
	// MaxSteps limits the steps of a plan. 0 is 1000.
	MaxSteps int
	// Timeout limits each run. 0 is 10 minutes.
	Timeout time.Duration
}

// Defaults of Foreign.
const (
	foreignSteps   = 1000
	foreignTimeout = 10 * time.Minute
)

var foreignEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

// env returns the environment of all runs.
func (f *Foreign) env() []string {
	if f.Env == nil {
		return foreignEnv
	}
	return f.Env
}

// library returns what definitions can use.
func (f *Foreign) library() (*library.Library, error) {
	maxSteps := f.MaxSteps
	if maxSteps <= 0 {
		maxSteps = foreignSteps
	}
	return library.Closed(maxSteps, f.Tools...)
}

// confinement returns the restrictions of all runs. The permissions are as they are written.
func (f *Foreign) confinement() confinement.Confinement {
	return confinement.Confinement{Enforced: true, Grants: f.Permissions, Limits: plan.LimitsOf(&f.Limits)}
}

// CompileForeign compiles a definition that others have written. file is its name for messages, with the extension of its
// format: .yaml, .json or .md; no file is opened. Errors: tool.Diagnostics with every problem; the Config has no Foreign.
func (e *Engine) CompileForeign(file string, text []byte) (*Plan, error) {
	f := e.config.Foreign
	if f == nil {
		return nil, errors.New("cannot compile a definition of others: Config.Foreign is not set")
	}
	def, problems := decode.File(file, text)
	problems = slices.DeleteFunc(problems, func(d tool.Diagnostic) bool { return d.Code == "name-differs" }) // there is no file
	if err := problems.Err(); err != nil {
		return nil, err
	}
	lib, err := e.closed()
	if err != nil {
		return nil, err
	}
	p, err := compile.Definition(lib, buildinfo.Release(), def)
	if err != nil {
		return nil, err
	}
	if err := f.check(p); err != nil {
		return nil, err
	}
	limit := f.Timeout
	if limit <= 0 {
		limit = foreignTimeout
	}
	p, err = graph.WithTimeout(p, limit)
	return planOf(p), err
}

// check rejects a plan with a definition that is none of the Tools and has keys that reach beyond its steps.
func (f *Foreign) check(p *plan.Plan) error {
	var ds tool.Diagnostics
	for _, used := range p.Tools() {
		for _, def := range append(slices.Clip(used.Definition.MadeOf), used.Definition) {
			if !slices.Contains(f.Tools, def) {
				ds = append(ds, closedKeys(def)...)
			}
		}
	}
	return ds.Err()
}

// closedKeys reports the keys of a definition that reach beyond its steps: flowrun does what they say with its own rights, or
// it would last longer than the run.
func closedKeys(def *tool.Definition) (ds tool.Diagnostics) {
	closed := func(has bool, pos tool.Pos, key string) {
		if has {
			ds = append(ds, tool.Diagnostic{Code: "closed-key", Severity: tool.Error, Pos: pos, Path: key,
				Message: fmt.Sprintf("%s: definitions of others cannot have %s", def.Name, key), Hint: "remove it"})
		}
	}
	closed(def.Interactive, def.Pos, "interactive")
	closed(def.Security.Isolation == "container", def.Security.IsolationPos, "isolation: container")
	closed(def.Security.ExecutionPrivilege == "elevated", def.Pos, "execution-privilege: elevated")
	closed(def.FilePaths.TempDirectory != nil, def.FilePaths.Pos, "temp-directory")
	var visit func(s *tool.Step)
	visit = func(s *tool.Step) {
		closed(s.SSH != nil, s.Pos, "ssh")
		closed(s.Container != nil, s.Pos, "container")
		closed(s.Cache != nil, s.Pos, "cache")
		closed(s.Detach, s.Pos, "detach")
		closed(s.Interactive != nil && *s.Interactive, s.Pos, "interactive")
		s.Handlers.Each(visit)
		for _, inner := range s.Steps() {
			visit(inner)
		}
	}
	for _, s := range def.Steps {
		visit(s)
	}
	def.Handlers.Each(visit)
	return ds
}
