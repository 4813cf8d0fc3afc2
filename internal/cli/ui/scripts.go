package ui

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/tool"
)

// scripts are what runs and reads scripts, made when it is first asked for.
type scripts struct {
	runtime *hooks.Runtime
	load    tool.Loader // of .tool.js files
	loading loading     // ends load
}

// JavaScript is what runs scripts for this program, with the limits of the settings. Main
// ends it. Settings that cannot be read are told by what needs more of them.
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

// EndScripts ends the processes that ran scripts.
func (env *Env) EndScripts() {
	if env.scripts.runtime != nil {
		env.scripts.runtime.Close() // there is nobody to tell of a process that is gone already
	}
}

// readScripts has a library read .tool.js and .tool.ts files. Completion runs none of
// them: whoever presses Tab has not asked for that.
func (env *Env) readScripts(lib *tool.Library) {
	if env.scripts.load == nil {
		env.scripts.load = env.scriptLoader()
	}
	for _, extension := range hooks.Extensions {
		lib.Handle(extension, env.scripts.load)
	}
}

// scriptLoader reads them for every library of a command, so that what fails is asked once.
func (env *Env) scriptLoader() tool.Loader {
	c := hooks.LoaderConfig{Runtime: env.JavaScript(), Ahead: env.Completing, Bundle: bundled, Context: env.scripts.loading.context()}
	if dir := flowrun.DefaultStateDir(); dir != "" {
		c.Cache = filepath.Join(dir, "descriptions")
	}
	return hooks.Loader(c)
}

// loading is the context that definitions are read in.
type loading struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (l *loading) context() context.Context {
	l.once.Do(func() { l.ctx, l.cancel = context.WithCancelCause(context.Background()) })
	return l.ctx
}

// stop ends the reading: what has not been read by then is not.
func (l *loading) stop(why error) {
	l.context()
	l.cancel(why)
}
