// Package tool has the names of a definition that a program needs to make one, or to read what is wrong with one. The
// keys in docs/reference/definitions.md have the same names.
//
//	def, err := tool.Decode("report.yaml", text)
//	def := &tool.Definition{Name: "report", Steps: []*tool.Step{flowrun.GoStep("build", build)}}
//
// Fields of types that have no name here belong to the definition as this version of flowrun reads it: read them if you
// must, and expect them to change.
package tool

import (
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Decode reads a definition from src, the text of the named file: Markdown if the name ends in .md, YAML or JSON
// otherwise. The file is not opened. Its name is used in diagnostics, and as the name of the tool if the text has none.
//
// The error holds the Diagnostics of a definition that cannot be used: all its problems, sorted by position. The
// Definition is never nil; with an error, it has only the parts that could be read: enough for a listing, but not for a
// run. Problems returns warnings too.
func Decode(file string, src []byte) (*Definition, error) {
	def, problems := decode.File(file, src)
	return def, problems.Err()
}

// Problems returns all problems of a definition, as Decode reads it: those that Decode fails with, and warnings.
func Problems(file string, src []byte) Diagnostics {
	_, problems := decode.File(file, src)
	return problems
}

// Definition is one tool, from whatever format it was read.
//
//	type Definition struct {
//		Name        string
//		DisplayName string // the name to show, in formats that have an id and a name; "" = Name
//		Description string
//		Author      string
//		Pos         Pos    // position of the document
//		File        string // path of the file; empty for tools registered from Go
//		Scope       Scope  // the scope in which the tool was found; ScopeFile if it was named by path
//		Source      []byte // contents of the file, for snippets and for history
//		Files       []Part // further files that the definition was made of; if one of them changes, the definition is read again
//		// SourceTrusted reports that the user trusts where the tool comes from as a whole, such as an MCP server. No key of a
//		// file sets it.
//		SourceTrusted bool
//		HistoryText   []byte // what history stores if the file alone does not determine what runs, in the loader's own format; nil = Source
//		Format        Format // the format of the file
//		// Cacheable reports that a Loader made the definition from nothing but the name and the contents of the file. Listings
//		// cache such a definition as long as the file does not change.
//		Cacheable bool
//
//		Version           string // version of the tool itself, a semantic version
//		MinVersion        *Text  // min-cycod-version: the compatibility level
//		MinFlowrun        *Text  // min-flowrun-version: the version of flowrun
//		Changelog         []Change
//		Deprecated        bool
//		DeprecatedMessage string
//
//		// Alias is set for type: alias. An alias has no steps of its own.
//		Alias    bool
//		BaseTool Text
//		AliasOf  []string // set when an alias is compiled: the tools that it resolves to, nearest first
//		// MadeOf is set when an alias is compiled: its own definition, then those of the tools it resolves to, the base
//		// tool last.
//		MadeOf            []*Definition
//		DefaultParameters []Entry // keys are parameters of the base tool
//
//		// Steps are in the order of the file. A tool that is one command (bash: ..., run: ...) has one step with the name
//		// of the tool, and Single is set.
//		Steps  []*Step
//		Single bool
//
//		Handlers   Handlers
//		Parameters []*Parameter       // in the order of the file
//		Schema     *dataschema.Schema // JSON Schema of all parameters, if the author wrote one; otherwise nil
//		// OutputSchema describes the output, which is then one JSON object; nil = the author wrote none.
//		OutputSchema *dataschema.Schema
//
//		Environment        Environment
//		EnvFiles           []EnvFile // read when the run starts
//		WorkingDirectory   *Text
//		FilePaths          FilePaths
//		Timeout            time.Duration     // of the whole run: the smaller of timeout and resources.timeout; 0 = none
//		Platforms          []string          // empty = all
//		Prompt             bool              // clients of the Model Context Protocol see the tool as a prompt too
//		Resource           *Resource         // clients of the Model Context Protocol can read the output; nil = they cannot
//		Tags               []string          // top-level tags; only these affect approvals
//		Labels             map[string]string // labels of each run of the tool, see package label
//		IgnoreErrors       bool              // sets continue-on-error on every step
//		FailFast           bool              // the first failure that is not tolerated cancels the running steps
//		Input              *Text             // standard input of the steps
//		Outputs            []*DeclaredOutput // declared outputs of the run, in the order of the file
//		Output             *Text             // output of the run, a template with references to steps
//		ErrorHandling      ErrorHandling     // default for steps
//		RetryRun           *RetryRun         // retries of a whole run; nil = none
//		Strict             bool              // set -euo pipefail in bash, set -eu in sh
//		Interactive        bool
//		InteractiveOptions InteractiveOptions
//		OnInterrupt        string // "", retry, ask or fail
//		Idempotent         bool
//		MaxActiveRuns      int // maximum number of active runs of the tool; 0 = no limit
//		Locks              []Lock
//		State              []*StateKey // values that it keeps between its runs, in the order of the file
//		TextInBraces       []string    // x-allow: names in braces that are text
//
//		Resources       Resources
//		Security        Security
//		Metadata        Metadata
//		FunctionCalling FunctionCalling
//		Notify          []Notify
//		Tests           []Test
//		Schedules       []*Schedule
//		Triggers        []*Trigger // of the key on
//	}
//
//	// Parameter returns the parameter of that name, nil if there is none.
//	func (d *Definition) Parameter(name string) *Parameter
//
//	// Rename is Text.Rename for a word at a position in the definition's file, such as a key.
//	func (d *Definition) Rename(at Pos, old, new string) []Edit
//
//	// ResultSchema returns the schema of the object that a model gets: the schema of the output, or else that of the declared outputs.
//	func (d *Definition) ResultSchema() *dataschema.Schema
//
//	// Same reports whether two definitions mean the same.
//	func (d *Definition) Same(o *Definition) bool
//
//	// ScheduleName returns the name of the tool's schedule number i, counted from 0.
//	func (d *Definition) ScheduleName(i int) string
//
//	// StateKey returns the value of that name, nil if the tool does not keep it.
//	func (d *Definition) StateKey(name string) *StateKey
//
//	// TriggerName returns the name of the tool's trigger number i, counted from 0.
//	func (d *Definition) TriggerName(i int) string
type Definition = tool.Definition

// Parameter is one parameter of a tool.
//
//	type Parameter struct {
//		Name                  string
//		Pos                   Pos
//		Type                  string // string (default), number, boolean, array, object; for a property of Definition.Schema also integer and any
//		Description           string
//		Required              bool
//		Default               *Value // nil = none
//		Validation            Validation
//		Transform             *Text
//		Format                *Text
//		Delimiter             *Text // between the elements of an array inside quotes; default: one space
//		Examples              []Value
//		DetailedHelp          string
//		EscapeShell           *bool // security.escape-shell; nil = true
//		AllowDash             bool
//		Path                  bool // the value, or each element, is a path
//		Deprecated            bool
//		DeprecatedAlternative Text // the name of another parameter
//	}
//
//	// Takes returns a value that a file has for the parameter as the parameter takes it: text if its type is string.
//	func (p *Parameter) Takes(v Value) Value
type Parameter = tool.Parameter

// DeclaredOutput is one output that a tool or a step declares.
//
//	type DeclaredOutput struct {
//		Name        string
//		Pos         Pos
//		Type        string // as in JSON Schema; "" = any, for an output with a value
//		Description string
//		Optional    bool  // it may be missing
//		Value       *Text // of a tool with steps and of a group: a template; nil for other steps
//		// contains filtered or unexported fields
//	}
type DeclaredOutput = tool.DeclaredOutput

// Step is one step of a tool. flowrun.GoStep makes one of a Go function.
//
//	type Step struct {
//		Name     string
//		Pos      Pos    // of the step's name, or of the step if it has none
//		Body     Body   // what the step does; nil if there is no valid body
//		Shell    *Text  // interpreter of script, commands and fallback; nil = bash (cmd on Windows)
//		Previous string // the step that prev_step refers to; Markdown only
//		Loop     *Loop  // for-each or matrix; nil = the step runs once
//		Handlers Handlers
//
//		ContinueOnError  bool
//		Parallel         bool
//		HasWaitFor       bool // wait-for was written, possibly as []
//		Detach           bool // background processes of the step outlive the run
//		RunCondition     *Text
//		WaitFor          []Text // valid if HasWaitFor is set
//		ErrorHandling    ErrorHandling
//		Repeat           *Repeat       // nil = the step runs once
//		Timeout          time.Duration // of each attempt; 0 = none
//		Output           Output
//		Input            *Text
//		Environment      Environment
//		EnvFiles         []EnvFile // read when an attempt starts
//		WorkingDirectory *Text
//		Strict           *bool // nil = that of the tool
//		Interactive      *bool // nil = that of the tool
//		OnInterrupt      string
//		Idempotent       *bool // nil = that of the tool
//		Cache            *Cache
//		Outputs          []*DeclaredOutput // values that the step writes, in the order of the file
//		Claim            *Claim            // nil = its attempts hold nothing
//		Artifacts        []*Artifact       // files that are kept with the run
//		SSH              *SSH              // nil = the step runs on this machine
//		Container        *Container        // nil = the command runs on this machine, or as security.isolation says
//
//		InteractiveOptions InteractiveOptions // unset fields default to those of the tool
//	}
//
//	// Command returns the text of the step's command.
//	func (s *Step) Command() Text
//
//	// DeclaredOutputs returns the outputs of a step itself, without those of a tool that it uses.
//	func (s *Step) DeclaredOutputs() []*DeclaredOutput
//
//	// Kind returns the kind of the step's body, or "" if the step has no body.
//	func (s *Step) Kind() Kind
//
//	// Script returns the step's JavaScript, or nil for other kinds of step.
//	func (s *Step) Script() *JSCode
//
//	// Steps returns the steps of a group, or nil for other kinds of step.
//	func (s *Step) Steps() []*Step
type Step = tool.Step

// Handlers are steps that run after a tool or a step has ended.
//
//	type Handlers struct{ OnSuccess, OnFailure, Finally []*Step }
//
//	// Each calls visit for every step of the handlers, in the order in which they run.
//	func (h *Handlers) Each(visit func(*Step))
//
//	// Empty reports whether there are no handlers.
//	func (h *Handlers) Empty() bool
type Handlers = tool.Handlers

// Command is the body of a step that starts a program or a shell.
//
//	type Command struct {
//		Key  Kind // Bash, Sh, Cmd, Pwsh, Run, Python or Script
//		Text Text
//	}
//
//	func (c *Command) Kind() Kind
//
//	// Posix reports whether the command is a script for sh, which is any shell of POSIX.
//	func (c *Command) Posix() bool
//
//	// Unix reports whether the command is a script for bash or sh.
//	func (c *Command) Unix() bool
type Command = tool.Command

// BashCommand returns the body of a step that runs a script with bash.
func BashCommand(text Text) *Command { return tool.BashCommand(text) }

// Text is a text of a definition, with its position. It may have placeholders.
//
//	type Text struct {
//		S   string
//		Pos Pos // of the first character of the content
//		// contains filtered or unexported fields
//	}
//
//	// At returns the position of byte offset off of S. An offset outside S becomes the nearest valid one.
//	func (t Text) At(off int) Pos
//
//	// Rename returns the edit that replaces old, which is at byte offset off of the text.
//	func (t Text) Rename(off int, old, new string) []Edit
type Text = diagnostic.Text

// Plain returns a Text without a position.
func Plain(s string) Text { return diagnostic.Plain(s) }

// Pos is a position in a file. Line and Col count from 1; Col counts characters. The zero Pos is an unknown position.
//
//	type Pos struct {
//		File string
//		Line int
//		Col  int
//	}
//
//	// String returns file:line:col without the parts that are unknown.
//	func (p Pos) String() string
//
//	// Units converts a column that counts characters to one that counts UTF-16 code units, as editors and SARIF do.
//	func (p Pos) Units(file []byte) int
type Pos = diagnostic.Pos

// Diagnostic is one problem in a definition: what is wrong, where, what was expected, and how to fix it. Its Code is
// stable across releases.
//
//	type Diagnostic struct {
//		Code     string   `json:"code"`
//		Severity Severity `json:"severity"`
//		Pos      Pos      `json:"-"`
//		Len      int      `json:"-"`              // number of characters to underline; 0 = 1
//		Path     string   `json:"path,omitempty"` // the key path, such as steps[2].run-condition
//		Message  string   `json:"message"`
//		Hint     string   `json:"hint,omitempty"`
//
//		More    int     `json:"-"` // how many further problems of its severity this one stands for; 0 for all others
//		Related []Place `json:"-"` // further positions, such as the first of two duplicates
//		Fix     []Edit  `json:"-"` // edits that fix the problem; none if it needs a decision by a person
//	}
//
//	// String returns the diagnostic on one line: file:line:col: severity[code]: message; hint.
//	func (d Diagnostic) String() string
type Diagnostic = diagnostic.Diagnostic

// Diagnostics is a list of problems, sorted by position. It is an error if it contains at least one Diagnostic of
// severity Error; see Err.
//
//	type Diagnostics []Diagnostic
//
//	// Err returns d as an error, or nil if no diagnostic has severity Error.
//	func (d Diagnostics) Err() error
//
//	// Error returns one line for each diagnostic of a report: see Reported.
//	func (d Diagnostics) Error() string
//
//	// MarshalDocument returns d as the JSON document flowrun/diagnostics.v1.
//	func (d Diagnostics) MarshalDocument() ([]byte, error)
//
//	// Sorted returns d sorted by position and without duplicates.
//	func (d Diagnostics) Sorted() Diagnostics
type Diagnostics = diagnostic.Diagnostics

// Resources are limits of each step, and what to clean up after a run.
//
//	type Resources struct {
//		// Limits of each step; 0 = none.
//		MaxMemory    int64 // bytes
//		MaxProcesses int
//		MaxCPU       time.Duration // CPU time
//		CPU          float64       // processors
//		MaxFileSize  int64         // bytes
//		MaxOpenFiles int
//		MaxOutput    int64 // bytes of stdout and stderr
//
//		DeleteTempFiles bool
//		FinalCommands   []Text
//	}
type Resources = tool.Resources

// Loader reads definitions of another format for a library.Library: see Library.Handle.
//
//	type Loader func(file string, src []byte) (*Definition, Diagnostics)
type Loader = tool.Loader
