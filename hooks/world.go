package hooks

import (
	"reflect"
	"slices"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// maxDepth is how many calls of functions a script may nest.
const maxDepth = 4_000

// world is where one call runs: the language, made anew, without what makes code of
// text. It belongs to one goroutine.
type world struct {
	vm       *goja.Runtime
	rejected []*goja.Promise // with nobody to handle it
	loop     *loop
	asker    asker         // of a wide world
	require  goja.Value    // of a wide world
	atEnd    goja.Callable // cleans up after a script that did not come to its end; nil: nothing does

	describing bool // a module only says what it is: what it lacks is no error
}

// newWorld makes a world. Most of the language is made when it is first used.
func newWorld() *world {
	w := &world{vm: goja.New()}
	w.vm.SetMaxCallStackSize(maxDepth)
	w.vm.SetParserOptions(w.refuseText())
	w.vm.SetPromiseRejectionTracker(w.track)
	w.loop = newLoop(w.vm)
	return w
}

// refuseText is an option of the parser that throws. All that makes code of text while a
// script runs parses it with the options of its world: eval, Function and the hidden
// constructors beside it, whichever way a script gets hold of them. Programs of the host
// are parsed before there is a world. The option's own parameter has no name outside of
// its package, so that the function has to be made.
func (w *world) refuseText() parser.Option {
	throw := func([]reflect.Value) []reflect.Value {
		panic(w.vm.NewTypeError("eval and Function are not available here: text is not run as code"))
	}
	return reflect.MakeFunc(reflect.TypeFor[parser.Option](), throw).Interface().(parser.Option)
}

// track keeps the rejected promises that nobody has handled.
func (w *world) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		w.rejected = append(w.rejected, p)
		return
	}
	w.rejected = slices.DeleteFunc(w.rejected, func(known *goja.Promise) bool { return known == p })
}

// pureNames and wideNames are the globals of worlds.
var (
	pureNames = sync.OnceValue(func() []string { return globals(false) })
	wideNames = sync.OnceValue(func() []string { return globals(true) })
)

func globals(wide bool) []string {
	w := newWorld()
	if wide {
		if err := w.widen(nil); err != nil {
			panic(err) // its code is a part of this program
		}
	}
	return w.vm.GlobalObject().GetOwnPropertyNames()
}
