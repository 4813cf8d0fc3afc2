package jsworld

import (
	"slices"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/jscheck"
)

// maxDepth is how deep function calls of a script may be nested.
const maxDepth = 4_000

// World is the JavaScript environment of one call. It is created for that call and cannot turn
// text into code. Only one goroutine may use it, except for Answer and Abort.
type World struct {
	vm       *goja.Runtime
	rejected []*goja.Promise // rejected promises without a handler
	loop     *loop
	asker    Asker         // only with the host API; nil: host calls fail
	require  goja.Value    // only with the host API
	atEnd    goja.Callable // cleans up if the script was stopped early; may be nil

	describing bool // the module only describes itself, so missing modules are not errors
}

// NewWorld returns a new world. goja creates most of the language when it is first used, so this
// is cheap.
func NewWorld() *World {
	w := &World{vm: goja.New()}
	w.vm.SetMaxCallStackSize(maxDepth)
	w.vm.SetParserOptions(jscheck.RefuseText(func() {
		panic(w.vm.NewTypeError("eval and Function are not available: scripts cannot run text as code"))
	}))
	w.vm.SetPromiseRejectionTracker(w.track)
	w.loop = newLoop(w.vm)
	return w
}

// Answer delivers the answer to a host call. Safe for concurrent use.
func (w *World) Answer(a Answer) { w.loop.answer(a) }

// Abort stops the script, which fails with f. Safe for concurrent use.
func (w *World) Abort(f *Failure) { w.loop.abort(f) }

// track maintains the list of rejected promises without a handler.
func (w *World) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		w.rejected = append(w.rejected, p)
		return
	}
	w.rejected = slices.DeleteFunc(w.rejected, func(known *goja.Promise) bool { return known == p })
}

// GlobalsOf returns the names of the globals in the world of a form.
func GlobalsOf(f jscheck.Form) []string {
	if jscheck.Wide(f) {
		return wideNames()
	}
	return pureNames()
}

var (
	pureNames = sync.OnceValue(func() []string { return globals(false) })
	wideNames = sync.OnceValue(func() []string { return globals(true) })
)

func globals(wide bool) []string {
	w := NewWorld()
	if wide {
		if err := w.widen(); err != nil {
			panic(err) // a bug: the code is part of this program
		}
	}
	return w.vm.GlobalObject().GetOwnPropertyNames()
}
