package ui

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// scripts has the runtime of scripts and the loader of script files, which are created on first
// use.
type scripts struct {
	runtime *hooks.Runtime
	load    tool.Loader // loads .tool.js files
	loading loading     // cancels load
}

// JavaScript returns the runtime of scripts, with the limits from the settings. Main closes it.
// Invalid settings are reported where they are used.
func (env *Env) JavaScript() *hooks.Runtime {
	if env.scripts.runtime == nil {
		var c hooks.Config
		if s := env.limits(); s != nil {
			c.Timeout, c.Memory = s.Duration("limits.js-timeout"), s.Number("limits.js-memory")
		}
		env.scripts.runtime = hooks.New(c)
	}
	return env.scripts.runtime
}

// EndPrograms stops the processes that ran scripts, and MCP servers.
func (env *Env) EndPrograms() {
	env.servers.close()
	if env.scripts.runtime != nil {
		env.scripts.runtime.Close() // an error means that the process has already ended
	}
}

// readScripts makes a library read .tool.js and .tool.ts files. Completion does not execute them,
// because pressing Tab must not run code.
func readScripts(env *Env, lib *library.Library) {
	if env.scripts.load == nil {
		env.scripts.load = env.scriptLoader()
	}
	for _, extension := range hooks.Extensions() {
		lib.Handle(extension, env.scripts.load)
	}
}

// scriptLoader returns the loader for all libraries of a command, so that a file that fails to load
// is executed only once.
func (env *Env) scriptLoader() tool.Loader {
	c := hooks.LoaderConfig{Runtime: env.JavaScript(), Ahead: env.Completing, Bundle: bundleTool, Context: env.scripts.loading.context()}
	if dir := engine.DefaultStateDir(); dir != "" {
		c.Cache = filepath.Join(dir, "descriptions")
	}
	return hooks.Loader(c)
}

// loading is the context in which definitions are loaded.
type loading struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (l *loading) context() context.Context {
	l.once.Do(func() { l.ctx, l.cancel = context.WithCancelCause(context.Background()) })
	return l.ctx
}

// stop cancels loading. Definitions that have not been loaded by then fail.
func (l *loading) stop(why error) {
	l.context()
	l.cancel(why)
}
