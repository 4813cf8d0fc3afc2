package tool

import (
	"slices"
	"strings"
	"sync"
)

// provider gives tools that stand in no file. It is asked once, when somebody needs it.
type provider struct {
	scope Scope
	tools func() []*Definition
}

// Provide adds tools that stand in no file and that the program need not make before
// somebody asks for one: those that are built in, or that another program tells of. A
// name is looked for there when no file has it, with the first provider first. tools is
// called at most once, perhaps from several goroutines at once; its definitions must not
// be changed afterwards, and those whose name is not valid are left out.
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

// Provided are the tools of every provider, in order of their names; one whose name
// another provider or file has first is among them, as in List.
func (l *Library) Provided() (list []*Definition) {
	for _, p := range l.providers() {
		list = append(list, p.tools()...)
	}
	slices.SortStableFunc(list, func(x, y *Definition) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// ListAll is List with the tools of the providers, which stand behind all files.
func (l *Library) ListAll() []Listed {
	all := l.List()
	for _, def := range l.Provided() {
		all = append(all, listed(def, nil))
	}
	return shadowed(all)
}

// Missed has f asked what else there is to say of a name that is found nowhere: where
// tools could have come from and did not. It is asked after the providers, perhaps from
// several goroutines at once; "" is nothing.
func (l *Library) Missed(f func() string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed = f
}

// discoveredPrefix stands before the names of tools that a program told of, in calls of models that
// know them from elsewhere.
const discoveredPrefix = "discovered_tool_"

// given is the first tool of that name of a provider; nil for none. One that is told of
// under the name of another tool keeps the prefix as part of its own: who has approved that
// name has approved the other tool.
func (l *Library) given(name string, from *Definition) *Definition {
	if def := l.provides(name, ""); def != nil {
		return def
	}
	bare, ok := strings.CutPrefix(name, discoveredPrefix)
	if !ok || !ValidName(bare) {
		return nil
	}
	def := l.provides(bare, ScopeDiscovered)
	if def == nil {
		return nil
	}
	if first, _, err := l.Lookup(bare, from); err == nil && first == def {
		return def
	}
	return def.renamed(name)
}

// renamed is a tool of a provider under another name.
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

// provides is the first tool of that name of a provider, where scope is not "" of that
// scope.
func (l *Library) provides(name string, scope Scope) *Definition {
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
