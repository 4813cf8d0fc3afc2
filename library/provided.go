package library

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Provider supplies tools that are not in files. It must be safe for concurrent use. Its definitions have their Scope,
// and valid names. Do not modify them.
type Provider interface {
	// Find returns the tool that a name means, or nil. The error says why the name is not clear, such as an
	// *AmbiguousNameError.
	Find(name string) (*tool.Definition, error)
	// Tools returns all tools.
	Tools() []*tool.Definition
	// Known returns those tools that are known without any more work.
	Known() []*tool.Definition
}

// AmbiguousNameError reports that a name could mean several tools.
type AmbiguousNameError struct {
	Name       string
	Candidates []string // the names that are clear, sorted
}

func (e *AmbiguousNameError) Error() string {
	return fmt.Sprintf("the name %s means more than one tool: use one of %s", diagnostic.Quote(e.Name), strings.Join(e.Candidates, ", "))
}

// provider is a Provider of a scope.
type provider struct {
	scope tool.Scope
	Provider
}

// listProvider is a Provider with a list that is created once, when a tool is first needed.
type listProvider func() []*tool.Definition

func (p listProvider) Tools() []*tool.Definition { return p() }
func (p listProvider) Known() []*tool.Definition { return p() }

func (p listProvider) Find(name string) (*tool.Definition, error) {
	for _, def := range p() {
		if def.Name == name {
			return def, nil
		}
	}
	return nil, nil
}

// providers are the Providers of a Library; earlier ones take precedence. Safe for concurrent use.
type providers struct {
	mu   sync.Mutex
	list []*provider
}

func (ps *providers) add(p *provider) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.list = append(ps.list, p)
}

func (ps *providers) all() []*provider {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Clone(ps.list)
}

// find returns the first tool with the given name that a provider has, or nil. If scope is not "", only providers of
// that scope are searched.
func (ps *providers) find(name string, scope tool.Scope) (*tool.Definition, error) {
	for _, p := range ps.all() {
		if scope != "" && p.scope != scope {
			continue
		}
		if def, err := p.Find(name); def != nil || err != nil {
			return def, err
		}
	}
	return nil, nil
}

// Provide adds tools that are not in files and that are created only when one is needed: built-in tools, and those that
// a discovery command lists. A name is looked up there if no file has it, in the order in which the providers were
// added. tools is called at most once, on any goroutine. Do not modify its definitions afterwards. Definitions with
// invalid names are ignored.
func (l *Library) Provide(scope tool.Scope, tools func() []*tool.Definition) {
	once := sync.OnceValue(func() []*tool.Definition {
		list := slices.DeleteFunc(slices.Clone(tools()), func(d *tool.Definition) bool { return !tool.ValidName(d.Name) })
		for _, d := range list {
			d.Scope = scope
		}
		return list
	})
	l.ProvideFrom(scope, listProvider(once))
}

// ProvideFrom is Provide for tools that can be found one by one.
func (l *Library) ProvideFrom(scope tool.Scope, p Provider) {
	l.providers.add(&provider{scope, p})
}

// Provided returns the tools of all providers, sorted by name. As in List, it includes tools that another provider or a
// file shadows.
func (l *Library) Provided() (list []*tool.Definition) {
	for _, p := range l.providers.all() {
		list = append(list, p.Tools()...)
	}
	slices.SortStableFunc(list, func(x, y *tool.Definition) int { return strings.Compare(x.Name, y.Name) })
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
func (l *Library) ExplainMissing(f func() string) { l.explainMissing.Store(&f) }

// discoveredPrefix is a prefix that models may put before the names of discovered tools, because other programs name
// them so.
const discoveredPrefix = "discovered_tool_"

// lookupProvided returns the first tool with the given name that a provider has, or nil. If a name with
// discoveredPrefix leads to a tool whose own name belongs to another tool, the prefix stays part of its name: otherwise
// an approval of the other tool would also apply to this one.
func (l *Library) lookupProvided(name string, from *tool.Definition) (*tool.Definition, error) {
	if def, err := l.providers.find(name, ""); def != nil || err != nil {
		return def, err
	}
	bare, ok := strings.CutPrefix(name, discoveredPrefix)
	if !ok || !tool.ValidName(bare) {
		return nil, nil
	}
	def, err := l.providers.find(bare, tool.ScopeDiscovered)
	if def == nil {
		return nil, err
	}
	if first, _, err := l.Lookup(bare, from); err == nil && first == def {
		return def, nil
	}
	return renamed(def, name), nil
}

// renamed returns a copy of a provider's tool with another name.
func renamed(d *tool.Definition, name string) *tool.Definition {
	if d.Single {
		if call, ok := d.Steps[0].Body.(*tool.ProgramCall); ok {
			return tool.ProgramTool(name, d.Description, d.Schema, *call)
		}
	}
	other := *d
	other.Name = name
	return &other
}
