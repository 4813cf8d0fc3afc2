package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/funcschema"
	"github.com/flowrun/flowrun/library"
)

// defaultTimeout limits a call that comes from a model.
const defaultTimeout = 60 * time.Second

// Options set how a Registry treats calls.
type Options struct {
	// Engine runs the tools. nil means a new one, which stores nothing.
	Engine *flowrun.Engine
	// RunEnv returns the run environment of the calls of a tool: directory and environment variables. nil means the
	// environment of the process.
	RunEnv func(*flowrun.Plan) flowrun.RunEnv
	// Files lets a call name a tool by the path of its file too. Anyone who can write a file can then define a tool,
	// so whoever decides about a call must check for that.
	Files bool
	// Timeout limits the execution of a call; 0 is 60 seconds, a negative value means no limit. The time in which
	// a person decides does not count.
	Timeout time.Duration
	// Rewrite functions are called in turn to replace the text that a model wrote before it is parsed: for habits of
	// a model that this package does not know.
	Rewrite []func(tool, arguments string) string
	// Refused functions are called in turn with the refusal of a call whose arguments were rejected, and may change
	// it: for another language, or a link to the documentation.
	Refused []func(tool string, r *Refusal)
	// Trace, if set, is called with every state that a call reaches, in order.
	Trace func(State)
}

// runEnv returns the run environment of the calls of a tool.
func (r *Registry) runEnv(p *flowrun.Plan) flowrun.RunEnv {
	if r.options.RunEnv == nil {
		return flowrun.RunEnv{}
	}
	return r.options.RunEnv(p)
}

// Registry holds the tools that a model may call. It is safe for concurrent use; the functions in Options must be,
// too.
type Registry struct {
	library *library.Library
	options Options
	kept    kept
}

// New returns a Registry with the tools of a library.
func New(lib *library.Library, o Options) *Registry {
	if o.Engine == nil {
		o.Engine = flowrun.New(flowrun.Config{})
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	return &Registry{library: lib, options: o}
}

// Get finds a tool by its name, or by the name under which Declarations shows it, if no other tool has that name.
// Errors: a *tool.NotFoundError with similar names; an error that name is a path; tool.Diagnostics if the definition
// is not valid.
func (r *Registry) Get(name string) (*Tool, error) {
	if !r.options.Files && isPath(name) {
		return nil, fmt.Errorf("%q %w", name, errPath)
	}
	t, err := r.compiled(name)
	if err != nil && unknown(outcome.Of(err), name) {
		if shown := r.shownAs(name); shown != "" {
			t, err = r.compiled(shown)
		}
	}
	return t, err
}

// errPath reports that a path was given instead of a name.
var errPath = errors.New("is a path; call tools by name")

// isPath reports whether a name would be taken for that of a file.
func isPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json", ".md", ".js", ".ts"}, filepath.Ext(name))
}

// shownAs returns the tool that is declared under a name; "" if there is none, or more than one.
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

// names returns the names of all tools, sorted; some may not compile.
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

// List returns every tool that is valid and runs on this platform, sorted by name. The diagnostics say why other
// tools are missing.
func (r *Registry) List() ([]*Tool, []tool.Diagnostic) {
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

// Declarations returns the declarations of every tool in a dialect: json-schema, openai, anthropic, gemini or mcp.
// The diagnostics report tools that are missing, and those that models cannot tell apart.
func (r *Registry) Declarations(format string) ([]json.RawMessage, []tool.Diagnostic) {
	tools, missing := r.List()
	problems := tool.Diagnostics(missing)
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
