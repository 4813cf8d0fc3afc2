package ui

import (
	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/builtin"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/netclient"
	"github.com/flowrun/flowrun/tool"
)

// provide adds the tools that stand in no file; they are made when a name is in none.
func (env *Env) provide(lib *tool.Library) {
	lib.Provide(tool.ScopeBuiltin, env.BuiltIn)
	lib.Provide(tool.ScopeDiscovered, env.discovered)
	lib.Missed(env.whyUndiscovered)
}

// BuiltIn are the tools that come with the program.
func (env *Env) BuiltIn() []*tool.Definition {
	c := builtin.Config{Fetch: netclient.Fetch}
	c.StateDir, c.ConfigDir = flowrun.DefaultStateDir(), config.UserDir()
	s, err := env.currentSettings()
	if err != nil { // which is told by what needs more of them
		s = nil
	}
	for _, v := range s.Get("roots") {
		c.Roots = append(c.Roots, v.Text())
	}
	toolSettings(&c.Settings, s)
	return builtin.Tools(c)
}
