package library

import (
	"fmt"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// goTools are the definitions made in Go. Safe for concurrent use.
type goTools struct {
	mu   sync.Mutex
	list []*tool.Definition
}

// Add registers a definition made in Go. It takes precedence over files with the same name. Do not modify the
// definition afterwards. Add fails if the name is invalid or already registered.
func (l *Library) Add(def *tool.Definition) error { return l.goTools.add(def) }

func (g *goTools) add(def *tool.Definition) error {
	if !tool.ValidName(def.Name) {
		return fmt.Errorf("cannot add the tool: %q cannot be the name of a tool", def.Name)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.ContainsFunc(g.list, func(d *tool.Definition) bool { return d.Name == def.Name }) {
		return fmt.Errorf("cannot add the tool: a tool named %q already exists", def.Name)
	}
	def.Scope = tool.ScopeGo
	g.list = append(g.list, def)
	return nil
}

// named returns the definition with a name, or nil.
func (g *goTools) named(name string) *tool.Definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, def := range g.list {
		if def.Name == name {
			return def
		}
	}
	return nil
}

func (g *goTools) all() []*tool.Definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.list)
}
