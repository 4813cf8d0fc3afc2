package ui

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/tool"
)

// readScripts has a library read .tool.js and .tool.ts files. Completion runs none of
// them: whoever presses Tab has not asked for that.
func (env *Env) readScripts(lib *tool.Library) {
	if env.load == nil {
		env.load = env.scriptLoader()
	}
	for _, extension := range hooks.Extensions {
		lib.Handle(extension, env.load)
	}
}

// scriptLoader reads them for every library of a command, so that what fails is asked once.
func (env *Env) scriptLoader() tool.Loader {
	c := hooks.LoaderConfig{Runtime: env.JavaScript(), Ahead: env.Completing, Bundle: bundled, Context: env.loading.context()}
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
