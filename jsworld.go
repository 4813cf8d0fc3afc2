package flowrun

import (
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/call"
)

// scripts has a world run JavaScript for the time of a run: with the Engine's Runtime
// where it has one, else with one that lasts until done is called.
func (e *Engine) scripts(w *call.World) (done func()) {
	w.Fetch, w.MayCall = e.config.Fetch, e.config.MayCall
	if w.JavaScript == nil {
		w.JavaScript = e.config.JavaScript
	}
	return w.Scripts(hooks.Config{Helper: e.config.Helper})
}
