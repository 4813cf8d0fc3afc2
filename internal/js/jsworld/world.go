package jsworld

import (
	"slices"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// maxDepth is how deep function calls of a script may be nested.
const maxDepth = 4_000

// World is the JavaScript environment of one call. It is created for that call and cannot turn
// text into code. Only one goroutine may use it, except for Answer and Abort.
type World struct {
	vm          *goja.Runtime
	rejected    []*goja.Promise // rejected promises without a handler
	loop        *loop
	hostCaller  HostCaller   // only with the host API; nil: host calls fail
	require     goja.Value   // loads built-in modules; nil until it is needed
	stoppedTool *goja.Object // the tool that must clean up if the script is stopped now; may be nil

	dependencies dependencies
	describing   bool // the module only describes itself, so missing modules are not errors

	loadShim goja.Value // require for built-in modules, also without the host API; nil until it is needed
}

// NewWorld returns a new world. goja creates most of the language when it is first used, so this
// is cheap.
func NewWorld() *World {
	w := &World{vm: goja.New()}
	w.vm.SetMaxCallStackSize(maxDepth)
	w.vm.SetParserOptions(jscheck.ForbidEval(func() {
		panic(w.vm.NewTypeError("eval and Function are not available: scripts cannot run text as code"))
	}))
	w.vm.SetPromiseRejectionTracker(w.trackRejection)
	w.loop = newLoop(w.vm)
	return w
}

// Answer delivers the answer to a host call. Safe for concurrent use.
func (w *World) Answer(a Answer) { w.loop.answer(a) }

// Abort stops the script, which fails with f. Safe for concurrent use.
func (w *World) Abort(f *Failure) { w.loop.abort(f) }

// trackRejection maintains the list of rejected promises without a handler.
func (w *World) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		w.rejected = append(w.rejected, p)
		return
	}
	w.rejected = slices.DeleteFunc(w.rejected, func(known *goja.Promise) bool { return known == p })
}

// GlobalsOf returns the names of the globals in the world of a form.
func GlobalsOf(f jscheck.Form) []string {
	switch {
	case jscheck.CanRequire(f):
		return slices.Concat(hostAPIGlobals(), []string{"require"})
	case jscheck.HasHostAPI(f):
		return hostAPIGlobals()
	}
	return languageGlobals()
}

var (
	languageGlobals = sync.OnceValue(func() []string { return globals(false) })
	hostAPIGlobals  = sync.OnceValue(func() []string { return globals(true) })
)

func globals(withHostAPI bool) []string {
	w := NewWorld()
	if !withHostAPI {
		return append(w.vm.GlobalObject().GetOwnPropertyNames(), "Intl") // see addLanguage
	}
	if err := w.addHostAPI(); err != nil {
		panic(err) // a bug: the code is part of this program
	}
	return w.vm.GlobalObject().GetOwnPropertyNames()
}
