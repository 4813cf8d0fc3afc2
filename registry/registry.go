package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/funcschema"
	"github.com/flowrun/flowrun/internal/outcome"
	"github.com/flowrun/flowrun/tool"
)

// DefaultTimeout bounds a call that comes from a model.
const DefaultTimeout = 60 * time.Second

// Options is how a Registry treats calls. The zero Options finds, reads and describes
// tools, and refuses to run any: nobody says that it may.
type Options struct {
	// Engine runs the tools. nil: one of its own, which keeps nothing.
	Engine *flowrun.Engine
	// Run answers options of the run that a call is about to begin; nil: there are none.
	Run func(*Invocation) []flowrun.RunOption
	// World is what calls live in: directory, environment.
	World flowrun.RunEnv
	// Files lets a tool be named by the path of its file too. Who may write a file may then
	// make a tool: let Judge see to that.
	Files bool
	// Timeout bounds the execution of a call; 0 is DefaultTimeout, less than 0 is none. The
	// time a person takes to decide does not count.
	Timeout time.Duration
	// Decide says whether a call goes ahead, is refused, or needs a person's word. nil: each
	// needs one.
	Decide func(*Invocation) Decision
	// Confirm asks a person. It must return soon after ctx is done. nil: there is
	// nobody, and what needs a person's word is refused.
	Confirm func(ctx context.Context, call *Invocation, shown *flowrun.Confirmation) (Decision, error)
	// Rewrite are asked in turn for the text that is read in place of what a model wrote:
	// for habits of a model that nothing here knows of.
	Rewrite []func(tool, arguments string) string
	// Trace, where set, is told of every state that a call comes to, in order.
	Trace func(State)
}

// Registry is the tools that a model may call. Its methods are safe for several
// goroutines; what Options hold must be, too.
type Registry struct {
	library *tool.Library
	options Options
}

// New offers the tools of a library.
func New(lib *tool.Library, o Options) *Registry {
	if o.Engine == nil {
		o.Engine = flowrun.New(flowrun.Config{})
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return &Registry{lib, o}
}

// Get finds a tool by its name, or by the name that Declarations shows it under where no
// tool has it itself. Errors: a *tool.NotFoundError, which names similar ones; that it is a
// path; and tool.Diagnostics where the definition is not valid.
func (r *Registry) Get(name string) (*Tool, error) {
	if !r.options.Files && isPath(name) {
		return nil, fmt.Errorf("%q %w", name, errPath)
	}
	plan, err := flowrun.Compile(r.library, name)
	if err != nil && unknown(outcome.Of(err), name) {
		if shown := r.shownAs(name); shown != "" {
			plan, err = flowrun.Compile(r.library, shown)
		}
	}
	if err != nil {
		return nil, err
	}
	return r.tool(plan), nil
}

// errPath is why a path is no name.
var errPath = errors.New("is a path; call tools by name")

// isPath says whether a name would be taken for that of a file.
func isPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json", ".md", ".js", ".ts"}, filepath.Ext(name))
}

// shownAs is the tool that is declared under a name; "" where none is, or several are.
func (r *Registry) shownAs(name string) (found string) {
	for _, own := range r.names() {
		if own == name || !slices.ContainsFunc(funcschema.Formats(), func(f string) bool { return funcschema.Name(own, funcschema.Format(f)) == name }) {
			continue
		}
		if found != "" && found != own {
			return ""
		}
		found = own
	}
	return found
}

// names are those of all tools, sorted; some may not compile.
func (r *Registry) names() (list []string) {
	for _, e := range r.library.List() {
		list = append(list, e.Name)
	}
	for _, d := range r.library.Provided() {
		list = append(list, d.Name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// List is every tool that is valid and runs on this platform, in order of their names. The
// diagnostics say why others are not in it.
func (r *Registry) List() ([]*Tool, tool.Diagnostics) {
	var list []*Tool
	problems := r.library.Unreadable("")
	for _, name := range r.names() {
		plan, err := flowrun.Compile(r.library, name)
		switch {
		case err != nil:
			found := outcome.Of(err).Diagnostics
			if found == nil {
				found = tool.Diagnostics{{Code: "unreadable", Severity: tool.Error, Message: fmt.Sprintf("tool %s: %v", name, err)}}
			}
			problems = append(problems, found...)
		case plan.Supported() == nil:
			list = append(list, r.tool(plan))
		}
	}
	return list, problems.Sorted()
}

// Declarations are the declarations of every tool in a dialect: json-schema, openai,
// anthropic, gemini or mcp. The diagnostics tell of tools that are not among them,
// and of those that models cannot tell apart.
func (r *Registry) Declarations(format string) ([]json.RawMessage, tool.Diagnostics) {
	tools, problems := r.List()
	var functions []*funcschema.Function
	list := []json.RawMessage{}
	for _, t := range tools {
		fn, found := t.function(format)
		problems = append(problems, found...)
		if found.Err() != nil {
			continue
		}
		text, err := fn.MarshalJSON()
		if err != nil {
			continue
		}
		functions, list = append(functions, fn), append(list, text)
	}
	return list, append(problems, funcschema.Collisions(functions)...).Sorted()
}
