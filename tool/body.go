package tool

// Kind is the one kind of body a step has. Its word is the key that the body is
// written under.
type Kind string

const (
	Bash    Kind = "bash"
	Sh      Kind = "sh"
	Cmd     Kind = "cmd"
	Pwsh    Kind = "pwsh"
	Run     Kind = "run"
	Python  Kind = "python"
	Script  Kind = "script"   // with Step.Shell
	PerOS   Kind = "commands" // one command for each platform
	UseTool Kind = "use-tool"
	Group   Kind = "steps"
	Waiting Kind = "wait"
	Asking  Kind = "approve"
	JS      Kind = "js"
	Go      Kind = "go"      // only in tools registered from Go
	Program Kind = "program" // only in tools that a program described
)

// Body is what a step does, with what only steps of that kind have: a *Command, *Commands,
// *ToolUse, *StepGroup, *Wait, *Approve, *JSCode, *GoCode or *ProgramCall.
type Body interface {
	Kind() Kind
	// uncacheable says why no result of such a step can be kept, and what to do instead; ""
	// where it can.
	uncacheable() (why, hint string)
}

// Kind is the kind of the step's body, "" for a step without one.
func (s *Step) Kind() Kind {
	if s.Body == nil {
		return ""
	}
	return s.Body.Kind()
}

// Command is the text of the step's one command, the zero Text for other kinds of step.
func (s *Step) Command() Text {
	if c, ok := s.Body.(*Command); ok {
		return c.Text
	}
	return Text{}
}

// Script is the step's JavaScript, nil for other kinds of step.
func (s *Step) Script() *JSCode {
	code, _ := s.Body.(*JSCode)
	return code
}

// Steps are the steps of a group, nil for other kinds of step.
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

// BashCommand is a script for bash.
func BashCommand(text Text) *Command { return &Command{Key: Bash, Text: text} }

// Unix says whether it is a script for bash or sh.
func (c *Command) Unix() bool { return c.Key == Bash || c.Key == Sh }

// Commands holds platform-specific commands.
type Commands struct {
	Default   *Text
	Platforms map[string]Text // windows, linux, macos
}

// ToolUse is the use of another tool.
type ToolUse struct {
	Tool    Text // its name or path
	With    []Entry
	WithAll *Text // a reference to an object whose fields are given as well, where With has no such key; Markdown only
}

// StepGroup is a group of steps that run as one.
type StepGroup struct{ Steps []*Step }

// GoCode is a function of the program that flowrun is embedded in.
type GoCode struct{ Func any } // package flowrun knows its type

// JSCode is JavaScript that a step of kind js runs.
type JSCode struct {
	Role Role
	Code Text    // a function's body; empty where Module is set
	Vars []Entry // of the roles preprocess and postprocess: what the script sees, by name, in the definition's references
	// Module is a .tool.js, for the role tool alone.
	Module *Module
}

// ProgramCall is how a tool is called that a program told of: another program
// gets the tool's name as its last argument, and the parameters as one JSON object on its
// standard input.
type ProgramCall struct {
	Argv        []string // the program first, the tool's name last
	Dir         string   // where it starts
	StderrFails bool     // whatever it prints as an error makes the call fail
}

func (c *Command) Kind() Kind   { return c.Key }
func (*Commands) Kind() Kind    { return PerOS }
func (*ToolUse) Kind() Kind     { return UseTool }
func (*StepGroup) Kind() Kind   { return Group }
func (*Wait) Kind() Kind        { return Waiting }
func (*Approve) Kind() Kind     { return Asking }
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

func (*JSCode) uncacheable() (why, hint string) {
	return "cannot cache a script: flowrun does not know what its result depends on", "remove cache"
}
