package flowrun

import (
	"context"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/tool"
)

// GoTool describes a tool written in Go: Name, Description, Parameters and the StepFunc Run; Outputs, OutputSchema, Timeout,
// Describe and Confirm are optional. Its method Definition makes a tool.Definition, to add to a library.Library and run by
// name, or to use from YAML with use-tool.
type GoTool = gostep.GoTool

// StepFunc is a step written in Go:
//
//	func(ctx context.Context, in *flowrun.StepInput) (any, error)
//
// A text result is the step's output, and so is the text of a *Content. Any other
// value becomes the output as JSON, which is also what {step.json} refers to. An error fails the step, with the exit
// code of an *ExitError in it, else 1. A StepFunc must return soon after ctx is done.
type StepFunc = gostep.StepFunc

// StepInput is the input of a step written in Go. Its fields are Params (the bound values by name), Run, Path and Attempt
// (which step of which run this is), Dir, Workspace, Item (of the loop around the step) and Readable. Its method Progress
// reports how far the work is. It is valid only during the call.
type StepInput = gostep.StepInput

// Command is a command that a step written in Go hands its work to: a StepFunc returns one, and from then on the step
// is that command. It runs like any command of a definition: its output is shown, stored and limited, its whole
// process tree ends when the step is cancelled, and a nonzero exit code fails the step. Set either Args or Script.
type Command = gostep.Command

// ExitError is an error that sets the step's exit code. Err says why, and may be nil.
type ExitError = gostep.ExitError

// Confirmation is what a person sees, beside the Preview, when asked to approve a call that a model made.
type Confirmation = gostep.Confirmation

// Content is the result of a tool that tells a model and a person different things, or that is more than text. A
// StepFunc may return one.
type Content = gostep.Content

// Part is one piece of Content: a text, or data of a media type, such as an image or a sound.
type Part = gostep.Part

// FileDiff shows what a tool changes in a file.
type FileDiff = gostep.FileDiff

// TextContent returns Content with one text. display is what a person sees instead; "" shows the same text.
func TextContent(text, display string) *Content { return gostep.TextContent(text, display) }

// GoStep returns a step written in Go, for a tool.Definition built in Go.
func GoStep(name string, f StepFunc) *tool.Step { return gostep.GoStep(name, f) }

// Typed turns a function over Go types into a StepFunc. The tool's parameters are decoded into In by the names of
// encoding/json; what f returns is the step's result. A parameter that does not fit In fails the step, which is not
// retried.
func Typed[In, Out any](f func(context.Context, In) (Out, error)) StepFunc { return gostep.Typed(f) }

// TypedTool returns a tool written in Go over Go types: the fields of the struct In are its parameters, with
// the names of encoding/json; what f returns is its result. The error names a field that cannot be a parameter.
func TypedTool[In, Out any](name, description string, f func(context.Context, In) (Out, error)) (GoTool, error) {
	return gostep.TypedTool(name, description, f)
}

// ParamsOf returns the fields of a struct, or the entries of a map, as parameters for Engine.Run, encoded as
// encoding/json does, without rounding numbers.
func ParamsOf(v any) (map[string]any, error) { return gostep.ParamsOf(v) }
