package tool

// Kind is the kind of a step's body. It is also the key of the body in a definition.
type Kind string

const (
	Bash    Kind = "bash"
	Sh      Kind = "sh"
	Cmd     Kind = "cmd"
	Pwsh    Kind = "pwsh"
	Run     Kind = "run"
	Python  Kind = "python"
	Script  Kind = "script"   // the interpreter is Step.Shell
	PerOS   Kind = "commands" // one command for each platform
	UseTool Kind = "use-tool"
	Group   Kind = "steps"
	Waiting Kind = "wait"
	Asking  Kind = "approve"
	Request Kind = "http"
	Query   Kind = "sql"
	JS      Kind = "js"
	Go      Kind = "go"      // only in tools registered from Go
	Program Kind = "program" // only in tools that a discovery command listed
)

// Body is what a step does, with the settings that only this kind of step has: a *Command, *Commands, *ToolUse,
// *StepGroup, *Wait, *Approve, *HTTP, *SQL, *JSCode, *GoCode or *ProgramCall.
type Body interface {
	Kind() Kind
	// uncacheable says why results of such a step cannot be cached, and what to do instead. Both are "" if they can be
	// cached.
	uncacheable() (why, hint string)
}

// Kind returns the kind of the step's body, or "" if the step has no body.
func (s *Step) Kind() Kind {
	if s.Body == nil {
		return ""
	}
	return s.Body.Kind()
}

// Command returns the text of the step's command. For other kinds of step it is the zero Text.
func (s *Step) Command() Text {
	if c, ok := s.Body.(*Command); ok {
		return c.Text
	}
	return Text{}
}

// Script returns the step's JavaScript, or nil for other kinds of step.
func (s *Step) Script() *JSCode {
	code, _ := s.Body.(*JSCode)
	return code
}

// Steps returns the steps of a group, or nil for other kinds of step.
func (s *Step) Steps() []*Step {
	if g, ok := s.Body.(*StepGroup); ok {
		return g.Steps
	}
	return nil
}

// Command is a script for one shell, or a program with its arguments.
type Command struct {
	Key  Kind // Bash, Sh, Cmd, Pwsh, Run, Python or Script
	Text Text
}

// BashCommand returns a script for bash.
func BashCommand(text Text) *Command { return &Command{Key: Bash, Text: text} }

// Unix reports whether the command is a script for bash or sh.
func (c *Command) Unix() bool { return c.Key == Bash || c.Key == Sh }

// Posix reports whether the command is a script for sh, which is any shell of POSIX.
func (c *Command) Posix() bool { return c.Key == Sh }

// Commands holds one command for each platform.
type Commands struct {
	Default   *Text
	Platforms map[string]Text // keys: windows, linux, macos
}

// ToolUse calls another tool.
type ToolUse struct {
	Tool    Text // name or path of the tool
	With    []Entry
	WithAll *Text // Markdown only: a reference to an object whose fields are passed too, unless With has the same key
}

// StepGroup is a group of steps that other steps treat as one.
type StepGroup struct{ Steps []*Step }

// GoCode is a function of the Go program that embeds flowrun.
type GoCode struct {
	Func     any      // its type is defined in package flowrun
	Reads    []string // the steps whose results the functions get
	When     any      // nil, or the function that decides whether the step runs; its type is defined in package flowrun
	Fallback any      // nil, or what runs if all attempts of Func have failed, of the type of Func
}

// JSCode is the JavaScript of a step of kind js.
type JSCode struct {
	Role Role
	Code Text    // the body of a function; empty if Module is set
	Vars []Entry // the variables of a preprocess or postprocess script, by name; the values are references
	// Module is a .tool.js file; only for RoleTool.
	Module *Module
}

// ProgramCall calls a tool that a discovery command listed. The program gets the tool's name as its last argument, and
// the parameters as one JSON object on its standard input.
type ProgramCall struct {
	Argv        []string // the program and its arguments; the tool's name is the last one
	Dir         string   // the working directory
	StderrFails bool     // the call fails if the program writes anything to its standard error
}

func (c *Command) Kind() Kind   { return c.Key }
func (*Commands) Kind() Kind    { return PerOS }
func (*ToolUse) Kind() Kind     { return UseTool }
func (*StepGroup) Kind() Kind   { return Group }
func (*Wait) Kind() Kind        { return Waiting }
func (*Approve) Kind() Kind     { return Asking }
func (*HTTP) Kind() Kind        { return Request }
func (*SQL) Kind() Kind         { return Query }
func (*JSCode) Kind() Kind      { return JS }
func (*GoCode) Kind() Kind      { return Go }
func (*ProgramCall) Kind() Kind { return Program }

func (*Command) uncacheable() (why, hint string)     { return "", "" }
func (*Commands) uncacheable() (why, hint string)    { return "", "" }
func (*GoCode) uncacheable() (why, hint string)      { return "", "" }
func (*ProgramCall) uncacheable() (why, hint string) { return "", "" }

func (*ToolUse) uncacheable() (why, hint string) {
	return "cannot cache a step that uses a tool", "add cache to the steps of the tool instead"
}

func (*StepGroup) uncacheable() (why, hint string) {
	return "cannot cache a group of steps", "add cache to the steps of the group instead"
}

func (*Wait) uncacheable() (why, hint string) {
	return "cannot cache a step that waits: it has no result", "remove cache"
}

func (*Approve) uncacheable() (why, hint string) {
	return "cannot cache a step that waits: it has no result", "remove cache"
}

func (*HTTP) uncacheable() (why, hint string) {
	return "cannot cache a request: flowrun does not know when the server would respond differently", "remove cache; to load a file only once, cache a command that uses curl"
}

func (*SQL) uncacheable() (why, hint string) {
	return "cannot cache a query: flowrun does not know when the data changes", "remove cache"
}

func (*JSCode) uncacheable() (why, hint string) {
	return "cannot cache a script: flowrun does not know what its result depends on", "remove cache"
}
