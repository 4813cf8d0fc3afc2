// Package tool has the definition of a tool, and reads it from YAML and JSON. It turns a document into a Definition, or into a
// list of all problems in it. Package decode reads the other formats.
//
// A document is read in three stages. The loader parses the bytes into YAML nodes. The decoder walks the nodes against one
// table of keys (keys.go) and fills a Definition. Then checks look at the definition as a whole. No stage stops at the
// first problem. Each adds a Diagnostic with file, line, column and a hint, and the caller gets all of them, sorted.
//
// A Definition holds what the author wrote, normalized: durations, sizes, one body for each step. Texts that are parsed
// later, such as commands, conditions and defaults of parameters, keep their position. This package does not interpret
// them: placeholders, references and quoting are parsed by package expr. Package dag runs the steps, and the root
// package connects the two.
//
// Package library finds definitions by path, or by name in the scopes local, user and global.
package tool

import (
	"time"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Definition is one tool as its author wrote it. It has the same form for every file format and for tools registered
// from Go. Optional texts are nil if the author wrote none.
type Definition struct {
	Name        string
	DisplayName string // the name to show, in formats that have an id and a name; "" = Name
	Description string
	Author      string
	Pos         Pos    // position of the document
	File        string // path of the file; empty for tools registered from Go
	Scope       Scope  // the scope in which the tool was found; ScopeFile if it was named by path
	Source      []byte // contents of the file, for snippets and for history
	Files       []Part // further files that the definition was made of; if one of them changes, the definition is read again
	// SourceTrusted reports that the user trusts where the tool comes from as a whole, such as an MCP server. No key of a
	// file sets it.
	SourceTrusted bool
	HistoryText   []byte // what history stores if the file alone does not determine what runs, in the loader's own format; nil = Source
	Format        Format // the format of the file
	// Cacheable reports that a Loader made the definition from nothing but the name and the contents of the file. Listings
	// cache such a definition as long as the file does not change.
	Cacheable bool

	Version           string // version of the tool itself, a semantic version
	MinVersion        *Text  // min-cycod-version: the compatibility level
	MinFlowrun        *Text  // min-flowrun-version: the version of flowrun
	Changelog         []Change
	Deprecated        bool
	DeprecatedMessage string

	// Alias is set for type: alias. An alias has no steps of its own.
	Alias    bool
	BaseTool Text
	AliasOf  []string // set when an alias is compiled: the tools that it resolves to, nearest first
	// MadeOf is set when an alias is compiled: its own definition, then those of the tools it resolves to, the base
	// tool last.
	MadeOf            []*Definition
	DefaultParameters []Entry // keys are parameters of the base tool

	// Steps are in the order of the file. A tool that is one command (bash: ..., run: ...) has one step with the name
	// of the tool, and Single is set.
	Steps  []*Step
	Single bool

	Handlers   Handlers
	Parameters []*Parameter       // in the order of the file
	Schema     *dataschema.Schema // JSON Schema of all parameters, if the author wrote one; otherwise nil
	// OutputSchema describes the output, which is then one JSON object; nil = the author wrote none.
	OutputSchema *dataschema.Schema

	Environment        Environment
	EnvFiles           []EnvFile // read when the run starts
	WorkingDirectory   *Text
	FilePaths          FilePaths
	Timeout            time.Duration     // of the whole run: the smaller of timeout and resources.timeout; 0 = none
	Platforms          []string          // empty = all
	Prompt             bool              // clients of the Model Context Protocol see the tool as a prompt too
	Resource           *Resource         // clients of the Model Context Protocol can read the output; nil = they cannot
	Tags               []string          // top-level tags; only these affect approvals
	Labels             map[string]string // labels of each run of the tool, see package label
	IgnoreErrors       bool              // sets continue-on-error on every step
	FailFast           bool              // the first failure that is not tolerated cancels the running steps
	Input              *Text             // standard input of the steps
	Outputs            []*DeclaredOutput // declared outputs of the run, in the order of the file
	Output             *Text             // output of the run, a template with references to steps
	ErrorHandling      ErrorHandling     // default for steps
	RetryRun           *RetryRun         // retries of a whole run; nil = none
	Strict             bool              // set -euo pipefail in bash, set -eu in sh
	Interactive        bool
	InteractiveOptions InteractiveOptions
	OnInterrupt        string // "", retry, ask or fail
	Idempotent         bool
	MaxActiveRuns      int // maximum number of active runs of the tool; 0 = no limit
	Locks              []Lock
	State              []*StateKey // values that it keeps between its runs, in the order of the file
	TextInBraces       []string    // x-allow: names in braces that are text

	Resources       Resources
	Security        Security
	Metadata        Metadata
	FunctionCalling FunctionCalling
	Notify          []Notify
	Tests           []Test
	Schedules       []*Schedule
	Triggers        []*Trigger // of the key on
}

// Rename is Text.Rename for a word at a position in the definition's file, such as a key. It returns nil if the
// position is not in this file.
func (d *Definition) Rename(at Pos, old, new string) []Edit {
	if at.File != d.File || at.Line == 0 || d.Source == nil {
		return nil
	}
	return diagnostic.NewSource(d.File, d.Source).Rename(at, old, new)
}

// Format is the format of a definition. The zero Format is YAML, JSON or Go.
type Format string

const (
	Markdown   Format = "markdown"   // front matter and code blocks
	JavaScript Format = "javascript" // a .tool.js or .tool.ts file
)

// AllowsUndeclared reports whether values for undeclared parameters are passed on with a warning instead of being rejected:
// scripts may read parameters that the front matter does not name.
func (f Format) AllowsUndeclared() bool { return f != "" }

// Role is the role of a script in its tool. It determines what the script sees and may return.
type Role string

const (
	RoleStep Role = "step"        // js: in a YAML tool; sees params, steps and env
	RolePre  Role = "preprocess"  // sees input; returns an object
	RolePost Role = "postprocess" // sees output, outputText and input; returns any value
	RoleTool Role = "tool"        // the execute function of a .tool.js
)

// Module is the program of a .tool.js file, and what the file declares about itself.
type Module struct {
	File  string // the file that the author wrote, for positions in errors
	Code  []byte // CommonJS; includes the dependencies if there are any
	Map   []byte // source map from Code to the files it was made of; nil if Code is the text of File
	Node  bool   // runtime: node (runs under Node.js, in a supervised process)
	Files []Part // further files that Code was made of
	// Packages is a node_modules folder beside those that Node.js searches; "" = none.
	Packages string

	Dependencies []Dependency
	Errors       []BusinessError
	Environment  *dataschema.Schema // schema of the environment variables; nil = none declared
}

// Dependency is an npm package and the range of versions that are acceptable.
type Dependency struct{ Name, Range string }

// BusinessError is an entry of getBusinessErrors. The JavaScript runtime decides which errors it matches.
type BusinessError struct {
	Code, Description string
	Solution          string
	Retryable         bool
}

// Step is one step as its author wrote it.
type Step struct {
	Name     string
	Pos      Pos    // of the step's name, or of the step if it has none
	Body     Body   // what the step does; nil if there is no valid body
	Shell    *Text  // interpreter of script, commands and fallback; nil = bash (cmd on Windows)
	Previous string // the step that prev_step refers to; Markdown only
	Loop     *Loop  // for-each or matrix; nil = the step runs once
	Handlers Handlers

	ContinueOnError  bool
	Parallel         bool
	HasWaitFor       bool // wait-for was written, possibly as []
	Detach           bool // background processes of the step outlive the run
	RunCondition     *Text
	WaitFor          []Text // valid if HasWaitFor is set
	ErrorHandling    ErrorHandling
	Repeat           *Repeat       // nil = the step runs once
	Timeout          time.Duration // of each attempt; 0 = none
	Output           Output
	Input            *Text
	Environment      Environment
	EnvFiles         []EnvFile // read when an attempt starts
	WorkingDirectory *Text
	Strict           *bool // nil = that of the tool
	Interactive      *bool // nil = that of the tool
	OnInterrupt      string
	Idempotent       *bool // nil = that of the tool
	Cache            *Cache
	Outputs          []*DeclaredOutput // values that the step writes, in the order of the file
	Claim            *Claim            // nil = its attempts hold nothing
	Artifacts        []*Artifact       // files that are kept with the run
	SSH              *SSH              // nil = the step runs on this machine
	Container        *Container        // nil = the command runs on this machine, or as security.isolation says

	InteractiveOptions InteractiveOptions // unset fields default to those of the tool
}

// Loop is for-each or matrix: the step runs once for each item.
type Loop struct {
	Pos         Pos
	Items       *Value  // for-each: a list of templates, one placeholder, or an expression
	As          *Text   // for-each: name of the item in the step; nil = item
	Key         *Text   // for-each: a template that names an item; nil = its number
	Axes        []Entry // matrix: names with a list of values, or with a placeholder
	Include     []Value // matrix: mappings, in the order of the file
	Exclude     []Value
	MaxParallel int  // 0 = limited only by the concurrency slots
	MinSuccess  int  // 0 = all
	FailFast    bool // stop the other items once the loop can no longer succeed
}

// Matrix reports whether the loop is a matrix.
func (l *Loop) Matrix() bool { return l.Items == nil }

// Handlers are steps that run after a tool or a step has ended.
type Handlers struct{ OnSuccess, OnFailure, Finally []*Step }

// ErrorHandling is the retry and the fallback of a step.
type ErrorHandling struct {
	Retry    *Retry
	Fallback *Text
}

// Retry specifies how a failed step is retried.
type Retry struct {
	Pos          Pos
	Attempts     int           // retries after the first attempt
	Delay        time.Duration // before the first retry; default 1 s
	Backoff      string        // exponential (default), linear, constant
	MaxDelay     time.Duration // 0 = no limit
	Jitter       string        // none (default) or full
	ExitCodes    []int         // retry only after these; empty = all
	NotExitCodes []int         // never retry after these
	When         *Text         // condition over {last.exit-code}, ...
}

// Repeat specifies that a step runs in rounds, until a condition on its own result holds.
type Repeat struct {
	Pos      Pos
	Until    *Text         // the condition for the end; nil if While is set
	While    *Text         // the condition for another round
	Every    time.Duration // between two rounds
	Backoff  string        // constant (default), linear, exponential
	MaxDelay time.Duration // 0 = no limit
	Jitter   string        // none (default) or full
	Max      int           // number of rounds; 0 = no limit
	Timeout  time.Duration // of all rounds together; 0 = none
}

// Condition returns the condition of the repetition and its key.
func (r *Repeat) Condition() (key string, cond *Text) {
	if r.While != nil {
		return "while", r.While
	}
	return "until", r.Until
}

// Output specifies how the output of a step is captured.
type Output struct {
	Mode           string // "", buffer or stream
	BufferLimit    int64  // how many bytes references and JSON documents contain; 0 = default 10 MB
	Truncation     *bool  // nil = true; if false, longer output fails the step with output-too-large
	StreamCallback string // "", console, file or function
	StreamPos      Pos    // of stream-callback
	File           *Text
	MaskedValues   []Text
}

// Environment is the environment section of a tool or step.
type Environment struct {
	Variables []Entry // the values are templates
	Inherit   *bool   // nil = true
	Secrets   []Secret
}

// Secret is one entry of environment.secrets: the name of a variable or parameter whose value is masked, or a variable
// together with the source of its value.
type Secret struct {
	Name Text
	// At most one of these is set. Env names another variable, File is a path, and Command prints the value. File and
	// Command are templates.
	Env, File, Command *Text
}

// Sourced reports whether the secret has a source.
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
	// Limits of each step; 0 = none.
	MaxMemory    int64 // bytes
	MaxProcesses int
	MaxCPU       time.Duration // CPU time
	CPU          float64       // processors
	MaxFileSize  int64         // bytes
	MaxOpenFiles int
	MaxOutput    int64 // bytes of stdout and stderr

	DeleteTempFiles bool
	FinalCommands   []Text
}

// DefaultImage is the container image for definitions that name none. It has bash and the usual commands of a Linux
// system.
const DefaultImage = "docker.io/library/debian:stable-slim"

// Security is the security section.
type Security struct {
	ExecutionPrivilege  string // "", same-as-user, reduced, elevated
	Isolation           string // "", none, process, container
	IsolationPos        Pos
	Image               string // of the container; "" = DefaultImage
	ImagePos            Pos
	RequiredPermissions []Text
	Enforce             bool // the steps get what RequiredPermissions lists and nothing else
	EnforcePos          Pos
	Justification       string
}

// InteractiveOptions is the interactive-options section.
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

// FunctionCalling is the function-calling.schema-generation section. Nil pointers mean the default.
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
	Environment       []Entry // variables of the process, by name; Value.Text
	Platforms         []string
	Files             []Text // relative to the definition's folder, and inside it
	Expected          Expected
	Cleanup           []Text
}

// Expected holds the expectations of a test.
type Expected struct {
	ExitCode          *int
	OutputContains    []Text
	OutputContainsAny []Text
	OutputEquals      *Text
	OutputMatches     *Text // RE2
	StderrContains    []Text
	FileExists        []Text
	DirectoryExists   []Text
	Steps             []Entry // path of a step to its expected state
	Outputs           []Entry // name of an output to its expected value
}

// Change is one changelog entry.
type Change struct {
	Version, Changes string
	Pos              Pos // of the version, or of the entry if it has none
}

// Parameter is one declared parameter.
type Parameter struct {
	Name                  string
	Pos                   Pos
	Type                  string // string (default), number, boolean, array, object; for a property of Definition.Schema also integer and any
	Description           string
	Required              bool
	Default               *Value // nil = none
	Validation            Validation
	Transform             *Text
	Format                *Text
	Delimiter             *Text // between the elements of an array inside quotes; default: one space
	Examples              []Value
	DetailedHelp          string
	EscapeShell           *bool // security.escape-shell; nil = true
	AllowDash             bool
	Path                  bool // the value, or each element, is a path
	Deprecated            bool
	DeprecatedAlternative Text // the name of another parameter
}

// Validation holds the rules for the value of a parameter.
type Validation struct {
	MinLength, MaxLength *int
	Pattern              *Text
	Minimum, Maximum     *float64
	Enum                 []Value
}
