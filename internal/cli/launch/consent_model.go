package launch

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/builtin"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/library"
)

// decideModelCall returns the decision of the policy about a call of a model. written is how the
// model named the tool, or "" if by its name.
func (f *ConsentFlags) decideModelCall(tools []plan.UsedTool, written string, canAsk bool) policy.Decision {
	r := policy.Request{EntryPoint: f.entryPoint(), Rules: f.Rules(), CanAsk: canAsk, Tools: f.ModelFacts(tools, written)}
	for i, p := range r.Rules.Allow {
		tagged := func(t policy.Tool) bool { return t.File == "" && slices.Contains(t.Tags, p.Tag()) }
		if slices.ContainsFunc(r.Tools, tagged) && f.isTool(p.Tag()) {
			r.Rules.Allow[i] = p.ByName()
		}
	}
	return policy.Decide(r)
}

// ModelFacts returns what the policy needs to know about the tools that a model calls.
func (f *ConsentFlags) ModelFacts(tools []plan.UsedTool, written string) (list []policy.Tool) {
	for i, u := range tools {
		t := describeTool(u, f.pathOnly)
		if i == 0 && written != "" && sourcesOf(u.Definition)[0].Scope == tool.ScopeFile {
			t.Written = written
		}
		list = append(list, t)
	}
	return list
}

// pathOnly returns the path of a tool, with the reason, if only its path identifies it. Name and
// tags of a tool do not count if the tool was called by its path, because the caller may have
// written the file; if the project of the tool is not trusted, or was trusted with another definition; or
// if a project's tool has the name of a built-in tool, because a person who approved that name did not
// mean the project's tool.
func (f *ConsentFlags) pathOnly(def *tool.Definition) (file, why string) {
	switch {
	case def.Scope == tool.ScopeFile:
		return def.File, "it is called by its path"
	case def.Scope == tool.ScopeLocal && !f.trusts(def):
		return def.File, "its project is not trusted"
	case def.Scope == tool.ScopeLocal && !f.Settings.Trust.Pins(def):
		return def.File, definitionChanged
	case def.Scope == tool.ScopeLocal && slices.Contains(builtInNames(), def.Name):
		return def.File, "it has the name of a built-in tool"
	}
	return "", ""
}

// definitionChanged is why the name and tags of a tool do not count whose definition the user has not trusted.
const definitionChanged = "it, or a file in its folder that it imports, is new or has changed since its project was trusted"

// trusts reports whether the project of a tool is trusted.
func (f *ConsentFlags) trusts(def *tool.Definition) bool {
	return f.Settings != nil && f.Settings.Trust.Covers(library.ProjectOf(filepath.Dir(def.File)))
}

// isTool reports whether there is a tool with that name, even an invalid one.
func (f *ConsentFlags) isTool(name string) bool {
	if f.Library == nil {
		return false
	}
	_, _, err := f.Library().Lookup(name, nil)
	return !errors.As(err, new(*library.NotFoundError))
}

// builtInNames are the names of the built-in tools. A server decides about many calls, so they are
// made only once.
var builtInNames = sync.OnceValue(func() (names []string) {
	for _, def := range builtin.Tools(builtin.Config{}) {
		names = append(names, def.Name)
	}
	return names
})
