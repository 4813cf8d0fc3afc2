package cli

import (
	"github.com/flowrun/flowrun/internal/builtin"
	"github.com/flowrun/flowrun/internal/fetch"
	"github.com/flowrun/flowrun/tool"
)

// provide adds the tools that stand in no file; they are made when a name is in none.
func (a *app) provide(lib *tool.Library) {
	lib.Provide(tool.ScopeBuiltin, a.builtIn)
	lib.Provide(tool.ScopeDiscovered, a.discovered)
	lib.Missed(a.undiscovered)
}

// builtIn are the tools that come with the program.
func (a *app) builtIn() []*tool.Definition {
	c := builtin.Config{Fetch: fetch.Do}
	if s, err := a.configuration(false); err == nil { // what is wrong with settings is told by what needs more of them
		for _, v := range s.Get("roots") {
			c.Roots = append(c.Roots, v.Text())
		}
	}
	return builtin.Tools(c)
}
