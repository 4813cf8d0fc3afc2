package flowrun

import (
	"context"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/tool"
)

// GoTool describes a tool written in Go. Name, Description, Parameters and Run are what most tools set. Add the
// result of Definition to a library.Library to run the tool by name, or to use it from YAML with use-tool.
//
//	type GoTool struct {
//		Name        string
//		DisplayName string // name shown to people; "" means Name
//		Description string
//		Tags        []string
//		Parameters  []*tool.Parameter
//		Schema      *dataschema.Schema // describes all parameters, in place of Parameters
//		// OutputSchema describes the result of Run, which is then one JSON object.
//		OutputSchema *dataschema.Schema
//		// Outputs are the declared outputs: members of the object that Run returns.
//		Outputs []*tool.DeclaredOutput
//		Timeout time.Duration
//		Run     StepFunc
//		// Reads means that Run only reads files, and only those below StepInput.Readable if that is set. Such a tool can be
//		// used by a tool whose permissions are enforced.
//		Reads bool
//		// Describe returns one sentence that says what a call will do. The parameters are bound. If it is nil, the tool's
//		// description and the parameters are shown instead.
//		Describe func(params map[string]any) string
//		// Confirm computes what a person sees who is asked to approve a call. It must not change anything. An error means
//		// that the call would fail; then nobody is asked. If it is nil, the person sees the sentence of Describe.
//		Confirm func(ctx context.Context, in *StepInput) (*Confirmation, error)
//	}
//
//	// Definition returns the tool as a definition like that of any other tool: add it to a library.Library and run it by name, or use it from YAML with use-tool.
//	func (t GoTool) Definition() *tool.Definition
//
//	// Work describes the tool's step, see plan.Plan.Unconfined.
//	func (t GoTool) Work() string
type GoTool = gostep.GoTool

// StepFunc is a step written in Go. A text result is the step's output, and so is the text of a *Content. Any other
// value becomes the output as JSON, which is also what {step.json} refers to. An error fails the step, with the exit
// code of an *ExitError in it, else 1. A StepFunc must return soon after ctx is done.
//
//	type StepFunc func(ctx context.Context, in *StepInput) (any, error)
type StepFunc = gostep.StepFunc

// StepInput is the input of a step written in Go. It is valid only during the call.
//
//	type StepInput struct {
//		Params  map[string]any // bound values by name; absent parameters are missing
//		Run     string         // the run's id
//		Path    string         // the step's path in the run
//		Attempt int            // counts from 1
//		Dir     string         // where a command step would run
//		Item    any            // of the innermost loop around the step in its tool; nil if there is none
//
//		// Results are the results of the steps that a step of a Graph reads, by their names. That of a step which was skipped is
//		// missing. It is nil for other steps.
//		Results map[string]any
//
//		Workspace string // {WORKSPACE} of the run
//		// Readable lists the files and folders that the permissions of the tool around the step let it read. It is nil if
//		// they are not enforced.
//		Readable []string
//		// contains filtered or unexported fields
//	}
//
//	// Progress reports how far the work is: done of total, which is 0 if it is unknown, and what is being done.
//	func (in *StepInput) Progress(done, total float64, message string)
type StepInput = gostep.StepInput

// Command is a command that a step written in Go hands its work to: a StepFunc returns one, and from then on the step
// is that command. It runs like any command of a definition: its output is shown, stored and limited, its whole
// process tree ends when the step is cancelled, and a nonzero exit code fails the step. Set either Args or Script.
//
//	type Command struct {
//		Args    []string      // program and arguments, started without a shell; nothing in them is expanded
//		Script  string        // for the default shell: bash, or cmd on Windows
//		Dir     string        // "" is the directory in which the tool's steps start
//		Input   string        // standard input
//		Timeout time.Duration // 0 means only the timeouts of the step and the run apply
//		Detach  bool          // background processes that it leaves outlive the run
//		// Answer returns what a model reads if the command succeeds, given its streams up to 10 MB each. If it is nil,
//		// the model gets stdout. The step's output is stdout in any case.
//		Answer func(stdout, stderr string) *Content
//	}
type Command = gostep.Command

// ExitError is an error that sets the step's exit code. Err says why, and may be nil.
//
//	type ExitError struct {
//		Code int
//		Err  error
//	}
//
//	func (e *ExitError) Error() string
//
//	func (e *ExitError) Unwrap() error
type ExitError = gostep.ExitError

// Confirmation is what a person sees, beside the Preview, when asked to approve a call that a model made.
//
//	type Confirmation struct {
//		Title string    `json:"title"`          // what will happen, in one sentence
//		Text  string    `json:"text,omitempty"` // details: a command, a plan
//		Diff  *FileDiff `json:"diff,omitempty"` // what would change in a file
//	}
type Confirmation = gostep.Confirmation

// Content is the result of a tool that tells a model and a person different things, or that is more than text. A
// StepFunc may return one.
//
//	type Content struct {
//		Parts   []Part // for the model
//		Display any    // for a person: Markdown as a string, or a *FileDiff; nil means the text of Parts
//	}
//
//	// MarshalJSON writes llmContent, a text or a list of texts and parts, and returnDisplay.
//	func (c *Content) MarshalJSON() ([]byte, error)
//
//	// Text returns the content as text alone, which is a step's output.
//	func (c *Content) Text() string
type Content = gostep.Content

// Part is one piece of Content: a text, or data of a media type, such as an image or a sound.
//
//	type Part struct {
//		Text string
//		MIME string // media type of Data; "" for a text
//		Data []byte
//	}
type Part = gostep.Part

// FileDiff shows what a tool changes in a file.
//
//	type FileDiff struct {
//		FileName string  `json:"fileName"`
//		FileDiff string  `json:"fileDiff"`        // in the format of diff -u
//		Original *string `json:"originalContent"` // null for a new file
//		New      string  `json:"newContent"`
//	}
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
