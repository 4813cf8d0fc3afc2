package jsworld

import (
	"slices"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/jscheck"
)

// maxDepth is how many calls of functions a script may nest.
const maxDepth = 4_000

// World is where one call runs: the language, made anew, without what makes code of
// text. It belongs to one goroutine.
type World struct {
	vm       *goja.Runtime
	rejected []*goja.Promise // with nobody to handle it
	loop     *loop
	asker    Asker         // of a wide world; nil: there are no answers
	require  goja.Value    // of a wide world
	atEnd    goja.Callable // cleans up after a script that did not come to its end; nil: nothing does

	describing bool // a module only says what it is: what it lacks is no error
}

// NewWorld makes a world. Most of the language is made when it is first used.
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

// Answer brings the answer to a question into the world. Safe for concurrent use.
func (w *World) Answer(a Answer) { w.loop.answer(a) }

// Abort stops the script, which fails with f. Safe for concurrent use.
func (w *World) Abort(f *Failure) { w.loop.abort(f) }

// track keeps the rejected promises that nobody has handled.
func (w *World) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		w.rejected = append(w.rejected, p)
		return
	}
	w.rejected = slices.DeleteFunc(w.rejected, func(known *goja.Promise) bool { return known == p })
}

// GlobalsOf are the names of the globals in the world of a form.
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
			panic(err) // its code is a part of this program
		}
	}
	return w.vm.GlobalObject().GetOwnPropertyNames()
}
