package ui

import (
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/builtin"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/netclient"
	"github.com/flowrun/flowrun/library"
)

// addBuiltInAndDiscovered adds the tools that are in no file. They are created only when a name is
// not found in files.
func (env *Env) addBuiltInAndDiscovered(lib *library.Library) {
	lib.Provide(tool.ScopeBuiltin, env.BuiltIn)
	lib.Provide(tool.ScopeDiscovered, env.discovered)
	lib.ProvideFrom(tool.ScopeMCP, serverTools{env})
	lib.ExplainMissing(env.missingNote)
}

// BuiltIn returns the built-in tools.
func (env *Env) BuiltIn() []*tool.Definition {
	c := builtin.Config{Fetch: netclient.Fetch}
	c.StateDir, c.ConfigDir = engine.DefaultStateDir(), config.UserDir()
	s, err := env.currentSettings()
	if err != nil { // invalid settings are reported where they are used
		s = nil
	}
	for _, v := range s.Get("roots") {
		c.Roots = append(c.Roots, v.Text())
	}
	toolSettings(&c.Settings, s)
	return builtin.Tools(c)
}
