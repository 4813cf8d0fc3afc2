// Package tool is the vocabulary people write: it turns a definition file into
// a Definition, or into every problem the file has.
//
// The way of a file is straight. A loader reads bytes into YAML nodes, the
// decoder walks the nodes against one table of keys (keys.go) and fills a
// Definition, and checks look at the whole. Nothing stops at the first problem:
// each adds a Diagnostic with file, line, column and a hint, and the caller gets
// them all, sorted. A Definition holds what was written, normalised (durations,
// sizes, one body per step) and with the place of every text that is looked at
// again later: commands, conditions, parameter defaults. What the texts mean
// (holes, references, shells) is none of this package's business; see package
// expr. What runs is package dag's; the root package joins the two.
//
// A Library finds definitions by name in three scopes (local, user, global) or
// by path.
package tool

import (
	"time"

	"github.com/flowrun/flowrun/internal/diagnostic"
)

// Definition is one tool as written, in one form for every file format and for
// tools registered from Go. Optional texts are nil where the author wrote none.
type Definition struct {
	Name        string
	DisplayName string // what people call it, where its format has a name beside the id; "" for the Name
	Description string
	Author      string
	Pos         Pos      // of the document
	File        string   // path it was loaded from; empty for tools registered from Go
	Scope       Scope    // the scope it was found in; ScopeFile when named by path
	Source      []byte   // the bytes of the file, for snippets and for history
	Files       []string // others that it was made of: where one changes, it is read again
	Kept        []byte   // what history keeps where the file alone does not say what runs, readable for its loader; nil: Source
	Format      Format   // how it was written
	// Whole says of a definition that a Loader made that nothing but the file's name and bytes
	// went into it: listings remember it as long as the file is the same.
	Whole bool

	Version           string // version of the tool itself, semver
	MinVersion        *Text  // min-cycod-version: the compatibility level
	MinFlowrun        *Text  // min-flowrun-version: of flowrun itself
	Changelog         []Change
	Deprecated        bool
	DeprecatedMessage string

	// Alias tools (type: alias): no steps of their own.
	Alias     bool
	BaseTool  Text
	StandsFor []string // of an alias once it is compiled: the tools it stands for, the nearest first
	// MadeOf are the definitions of an alias once it is compiled: its own first, then
	// those of the tools it stands for, the base tool last.
	MadeOf            []*Definition
	DefaultParameters []Entry // keys are parameters of the base tool

	// Steps in declaration order. A tool with one command (bash: ..., run: ...)
	// has one step, named like the tool, and Single set.
	Steps  []*Step
	Single bool

	Handlers   Handlers
	Parameters []*Parameter // in declaration order
	Schema     *JSONSchema  // all the parameters as JSON Schema, where they were written so; nil elsewhere

	Environment        Environment
	EnvFiles           []EnvFile // read when the run starts
	WorkingDirectory   *Text
	FilePaths          FilePaths
	Timeout            time.Duration // of the whole run; the smaller of timeout and resources.timeout; 0 = none
	Platforms          []string      // empty = all
	Tags               []string      // top-level tags, the only ones with security meaning
	IgnoreErrors       bool          // every step counts as continue-on-error
	FailFast           bool          // the first untolerated failure cancels what still runs
	Input              *Text         // data on the standard input of the steps
	Output             *Text         // the run's output, a template over step references
	ErrorHandling      ErrorHandling // default for steps
	Strict             bool          // set -euo pipefail in bash, set -eu in sh
	Interactive        bool
	InteractiveOptions InteractiveOptions
	OnInterrupt        string // "", retry, ask or fail
	Idempotent         bool
	MaxActiveRuns      int // runs of the tool at once; 0 = any number
	Locks              []Lock

	Resources       Resources
	Security        Security
	Metadata        Metadata
	FunctionCalling FunctionCalling
	Notify          []Notify
	Tests           []Test
	Schedules       []*Schedule
}

// Rename is Text.Rename for a word that stands at a place of the definition's file, such
// as a key.
func (d *Definition) Rename(at Pos, old, new string) []Edit {
	if at.File != d.File || at.Line == 0 || d.Source == nil {
		return nil
	}
	return diagnostic.NewSource(d.File, d.Source).Rename(at, old, new)
}

// Format is how a definition is written; the zero Format is YAML, JSON, or Go.
type Format string

const (
	Markdown   Format = "markdown"   // S0: front matter and blocks
	JavaScript Format = "javascript" // S2: a .tool.js or .tool.ts file
)

// Loose says whether values for parameters that are not declared are handed on, with a
// warning, and not refused: scripts may read what no front matter names.
func (f Format) Loose() bool { return f != "" }

// Role says what a Script is to its tool, and with that what it sees and may return.
type Role string

const (
	RoleStep Role = "step"        // js: of a YAML tool: sees params, steps and env
	RolePre  Role = "preprocess"  // sees input; returns an object
	RolePost Role = "postprocess" // sees output, outputText and input; returns any value
	RoleTool Role = "tool"        // execute of a .tool.js
)

// Module is a .tool.js file as it is run, and what it said of itself when it was read.
type Module struct {
	File  string   // as the author wrote it, for places in errors
	Code  []byte   // CommonJS; bundled with what it depends on where it depends on anything
	Map   []byte   // source map from Code back to the files it was made of; nil: Code is File
	Node  bool     // runtime: node (it runs under Node.js, as a supervised process)
	Files []string // that Code was made of beside File
	// Packages is a node_modules folder beside those that Node.js looks into itself; "": none.
	Packages string

	Dependencies []Dependency
	Errors       []BusinessError
	Environment  *JSONSchema // nil: it asks for no variables
}

// Dependency is an npm package and the versions of it that will do.
type Dependency struct{ Name, Range string }

// BusinessError is an entry of getBusinessErrors. How it matches is decided
// where the script runs.
type BusinessError struct {
	Code, Description string
	Solution          string
	Retryable         bool
}

// Step is one step as written.
type Step struct {
	Name     string
	Pos      Pos    // of the step's name, else of the step
	Body     Body   // what it does; nil where what is written is none
	Shell    *Text  // of script, commands and fallback; nil = bash (cmd on Windows)
	Previous string // the step that prev_step stands for; Markdown only
	Loop     *Loop  // for-each or matrix; nil runs the step once
	Handlers Handlers

	ContinueOnError  bool
	RunCondition     *Text
	Parallel         bool
	WaitFor          []Text // meaningful when HasWaitFor
	HasWaitFor       bool   // wait-for was written, perhaps as []
	ErrorHandling    ErrorHandling
	Timeout          time.Duration // per try; 0 = none
	Output           Output
	Input            *Text
	Environment      Environment
	EnvFiles         []EnvFile // read when a try starts
	WorkingDirectory *Text
	Strict           *bool // nil = the tool's
	Interactive      *bool // nil = the tool's
	Detach           bool  // background processes of the step outlive the run
	OnInterrupt      string
	Idempotent       *bool // nil = the tool's
	Cache            *Cache

	InteractiveOptions InteractiveOptions // what is absent is the tool's
}

// Loop is for-each or matrix: the step runs once for every item.
type Loop struct {
	Pos         Pos
	Items       *Value  // for-each: a list of templates, one hole, or an expression
	As          *Text   // for-each: the name of the item in the step; nil = item
	Key         *Text   // for-each: a template that names an item; nil = its number
	Axes        []Entry // matrix: names with a list of values, or a hole
	Include     []Value // matrix: mappings, in their order
	Exclude     []Value
	MaxParallel int  // 0 = as many as there are slots
	MinSuccess  int  // 0 = all
	FailFast    bool // too many failures cancel the rest
}

// Matrix says whether the loop is a matrix.
func (l *Loop) Matrix() bool { return l.Items == nil }

// Handlers are steps that run once a tool, or a step, has ended.
type Handlers struct{ OnSuccess, OnFailure, Finally []*Step }

// ErrorHandling is retry and fallback of a step.
type ErrorHandling struct {
	Retry    *Retry
	Fallback *Text
}

// Retry says how a failed step is tried again.
type Retry struct {
	Pos          Pos
	Attempts     int           // retries after the first try
	Delay        time.Duration // before the first retry; default 1 s
	Backoff      string        // exponential (default), linear, constant
	MaxDelay     time.Duration // 0 = no bound
	Jitter       string        // none (default) or full
	ExitCodes    []int         // retry only these; empty = all
	NotExitCodes []int         // never these
	When         *Text         // condition over {last.exit-code}, ...
}

// Output is how a step's output is captured.
type Output struct {
	Mode           string // "", buffer or stream
	BufferLimit    int64  // bytes references and JSON see; 0 = default 10 MB
	Truncation     *bool  // nil = true; false fails the step output-too-large
	StreamCallback string // "", console, file or function
	StreamPos      Pos    // of stream-callback
	File           *Text
	MaskedValues   []Text
}

// Environment is the environment section of a tool or step.
type Environment struct {
	Variables []Entry // string values, templates
	Inherit   *bool   // nil = true
	Secrets   []Secret
}

// Secret is one entry of environment.secrets: the name of a variable or parameter
// whose value is masked, or a variable with one source of its value.
type Secret struct {
	Name Text
	// At most one of these is set. Env names another variable, File is a path, and
	// Command prints the value; the last two are templates.
	Env, File, Command *Text
}

// Sourced says whether the secret has a source.
func (s Secret) Sourced() bool { return s.Env != nil || s.File != nil || s.Command != nil }

// EnvFile is one entry of env-files.
type EnvFile struct {
	Path     Text // a template
	Optional bool // the file may be missing
}

// FilePaths is the file-paths section.
type FilePaths struct {
	Pos              Pos
	Normalize        bool
	WorkingDirectory *Text
	TempDirectory    *Text
	WindowsSeparator string
	UnixSeparator    string
	AutoConvert      bool
}

// Resources is the resources section.
type Resources struct {
	MaxMemory       int64 // bytes, for each step; 0 = none
	DeleteTempFiles bool
	FinalCommands   []Text
}

// DefaultImage is the image of a container whose definition names none. It
// has bash and the usual commands of a Linux system.
const DefaultImage = "docker.io/library/debian:stable-slim"

// Security is the security section.
type Security struct {
	ExecutionPrivilege  string // "", same-as-user, reduced, elevated
	Isolation           string // "", none, process, container
	IsolationPos        Pos
	Image               string // of the container; "" is DefaultImage
	ImagePos            Pos
	RequiredPermissions []Text
	Justification       string
}

// InteractiveOptions is interactive-options.
type InteractiveOptions struct {
	Pos             Pos
	Timeout         time.Duration
	DefaultResponse *Text
}

// Metadata is the metadata section.
type Metadata struct {
	Category, Subcategory string
	Tags, SearchKeywords  []string
}

// FunctionCalling is function-calling.schema-generation. Nil
// pointers mean the default.
type FunctionCalling struct {
	ParameterMapping    map[string]string
	IncludeDescriptions *bool
	IncludeDefaults     *bool
	ExampleGeneration   *bool
	SanitizeSchemas     *bool
}

// Test is one test in a definition.
type Test struct {
	Name, Description string
	Pos               Pos
	Parameters        []Entry
	Platforms         []string
	Files             []Text // paths from the definition's folder, below it
	Expected          Expected
	Cleanup           []Text
}

// Expected is what a test demands.
type Expected struct {
	ExitCode          *int
	OutputContains    []Text
	OutputContainsAny []Text
	OutputEquals      *Text
	OutputMatches     *Text // RE2
	StderrContains    []Text
	FileExists        []Text
	DirectoryExists   []Text
	Steps             []Entry // path of a step to the word of its state
}

// Change is one changelog entry.
type Change struct {
	Version, Changes string
	Pos              Pos // of the version, else of the entry
}

// Parameter is one declared parameter.
type Parameter struct {
	Name                  string
	Pos                   Pos
	Type                  string // string (default), number, boolean, array, object; of a property of Definition.Schema also integer and any
	Description           string
	Required              bool
	Default               *Value // nil = none
	Validation            Validation
	Transform             *Text
	Format                *Text
	Delimiter             *Text // between array elements inside quotes; default one space
	Examples              []Value
	DetailedHelp          string
	EscapeShell           *bool // security.escape-shell; nil = true
	AllowDash             bool
	Path                  bool // the value, or each element, is a path
	Deprecated            bool
	DeprecatedAlternative string
}

// Validation is a parameter's validation rules.
type Validation struct {
	MinLength, MaxLength *int
	Pattern              *Text
	Minimum, Maximum     *float64
	Enum                 []Value
}
