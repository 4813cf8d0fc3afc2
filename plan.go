package flowrun

import (
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/tool"
)

// Compile finds the tool called name (or the file, if name is a path), resolves everything it refers to and checks
// its graph. Errors: a *library.NotFoundError, or tool.Diagnostics with every problem of the tool and of the tools it
// uses.
func Compile(lib *library.Library, name string) (*Plan, error) { return engine.Compile(lib, name) }

// CompileDefinition compiles a definition that the caller has loaded or built; lib finds the tools it uses.
func CompileDefinition(lib *library.Library, def *tool.Definition) (*Plan, error) {
	return engine.CompileDefinition(lib, def)
}

// Plan is a compiled tool: its definition, its graph and everything needed to bind parameters. It is immutable and
// safe for concurrent runs. Its fields are Definition and Warnings; its methods Name, Graph, Steps and Step describe it, Bind
// checks the parameters of a call, and Preview says what a run would do. All of them:
//
//	go doc github.com/flowrun/flowrun/internal/engine.Plan
type Plan = engine.Plan

// Args are the bound parameters of a call. They do not change: Engine.RunBound runs exactly what a Preview of them
// showed.
type Args = engine.Args

// RunEnv is what a run may know of its surroundings. The zero value is that of the process, at the current time.
type RunEnv = engine.RunEnv

// Preview describes what a run would do, as far as that is known before it starts.
type Preview = preview.Preview

// UsedTool is a tool that a plan runs.
type UsedTool = plan.UsedTool

// ParamsError reports everything that is wrong with the parameters of one call.
type ParamsError = value.ParamsError

// ParamProblem describes what is wrong with one parameter. Code is one of missing, unknown, type, validation,
// transform, default, nul, dash, refused, withheld, recorded, changed.
type ParamProblem = value.ParamProblem

// StepError reports that a plan has no step of that name.
type StepError = plan.StepError
