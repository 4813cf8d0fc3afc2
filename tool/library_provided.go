package tool

import (
	"slices"
	"strings"
	"sync"
)

// provider supplies tools that are not in files. It is called once, when its tools are first needed.
type provider struct {
	scope Scope
	tools func() []*Definition
}

// Provide adds tools that are not in files and that are created only when one is needed: built-in tools, and those that
// a discovery command lists. A name is looked up there if no file has it, in the order in which the providers were
// added. tools is called at most once, on any goroutine. Do not modify its definitions afterwards. Definitions with
// invalid names are ignored.
func (l *Library) Provide(scope Scope, tools func() []*Definition) {
	once := sync.OnceValue(func() []*Definition {
		list := slices.DeleteFunc(slices.Clone(tools()), func(d *Definition) bool { return !ValidName(d.Name) })
		for _, d := range list {
			d.Scope = scope
		}
		return list
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.provided = append(l.provided, &provider{scope, once})
}

// Provided returns the tools of all providers, sorted by name. As in List, it includes tools that another provider or a
// file shadows.
func (l *Library) Provided() (list []*Definition) {
	for _, p := range l.providers() {
		list = append(list, p.tools()...)
	}
	slices.SortStableFunc(list, func(x, y *Definition) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// ListAll is List including the tools of the providers, which all files shadow.
func (l *Library) ListAll() []Listed {
	all := l.List()
	for _, def := range l.Provided() {
		all = append(all, listed(def, nil))
	}
	return markShadowed(all)
}

// ExplainMissing sets a function that explains why tools may be missing, for the error about a name that cannot be found. It is
// called after the providers and must be safe for concurrent use. It returns "" if there is nothing to explain.
func (l *Library) ExplainMissing(f func() string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.explainMissing = f
}

// discoveredPrefix is a prefix that models may put before the names of discovered tools, because other programs name
// them so.
const discoveredPrefix = "discovered_tool_"

// lookupProvided returns the first tool with the given name that a provider has, or nil. If a name with
// discoveredPrefix leads to a tool whose own name belongs to another tool, the prefix stays part of its name: otherwise
// an approval of the other tool would also apply to this one.
func (l *Library) lookupProvided(name string, from *Definition) *Definition {
	if def := l.findProvided(name, ""); def != nil {
		return def
	}
	bare, ok := strings.CutPrefix(name, discoveredPrefix)
	if !ok || !ValidName(bare) {
		return nil
	}
	def := l.findProvided(bare, ScopeDiscovered)
	if def == nil {
		return nil
	}
	if first, _, err := l.Lookup(bare, from); err == nil && first == def {
		return def
	}
	return def.renamed(name)
}

// renamed returns a copy of a provider's tool with another name.
func (d *Definition) renamed(name string) *Definition {
	if d.Single {
		if call, ok := d.Steps[0].Body.(*ProgramCall); ok {
			return ProgramTool(name, d.Description, d.Schema, *call)
		}
	}
	other := *d
	other.Name = name
	return &other
}

// findProvided returns the first tool with the given name that a provider has, or nil. If scope is not "", only
// providers of that scope are searched.
func (l *Library) findProvided(name string, scope Scope) *Definition {
	for _, p := range l.providers() {
		if scope != "" && p.scope != scope {
			continue
		}
		for _, def := range p.tools() {
			if def.Name == name {
				return def
			}
		}
	}
	return nil
}

func (l *Library) providers() []*provider {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.provided)
}
