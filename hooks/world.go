package hooks

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"

	"github.com/dop251/goja"
)

// maxDepth is how many calls of functions a script may nest.
const maxDepth = 10_000

// world is where one call runs: the language, made anew, without what makes code of
// text. It belongs to one goroutine.
type world struct {
	vm       *goja.Runtime
	parse    goja.Callable   // JSON.parse, as it was before any script ran
	adopt    goja.Callable   // makes a promise of a thenable
	isArray  goja.Callable   // Array.isArray
	rejected []*goja.Promise // with nobody to handle it
	loop     *loop
	asker    asker      // of a wide world
	require  goja.Value // of a wide world
}

//go:embed pure.js
var pureCode string

// pureProgram takes from a world what makes code of text.
var pureProgram = sync.OnceValue(func() *goja.Program { return goja.MustCompile("flowrun:pure.js", pureCode, true) })

// newWorld makes a world.
func newWorld() (*world, error) {
	w := &world{vm: goja.New()}
	w.vm.SetMaxCallStackSize(maxDepth)
	made, err := w.vm.RunProgram(pureProgram())
	if err != nil {
		return nil, err
	}
	o := made.ToObject(w.vm)
	w.parse, _ = goja.AssertFunction(o.Get("parse"))
	w.isArray, _ = goja.AssertFunction(o.Get("isArray"))
	w.adopt, _ = goja.AssertFunction(o.Get("adopt"))
	w.vm.SetPromiseRejectionTracker(w.track)
	w.loop = newLoop(w.vm)
	return w, nil
}

// track keeps the rejected promises that nobody has handled.
func (w *world) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		w.rejected = append(w.rejected, p)
		return
	}
	w.rejected = slices.DeleteFunc(w.rejected, func(known *goja.Promise) bool { return known == p })
}

// value brings JSON into the world.
func (w *world) value(raw json.RawMessage) (goja.Value, error) {
	if len(raw) == 0 {
		return goja.Undefined(), nil
	}
	return w.parse(goja.Undefined(), w.vm.ToValue(string(raw)))
}

// pureNames and wideNames are the globals of worlds.
var (
	pureNames = sync.OnceValue(func() []string { return globals(false) })
	wideNames = sync.OnceValue(func() []string { return globals(true) })
)

func globals(wide bool) []string {
	w, err := newWorld()
	if err == nil && wide {
		err = w.widen(nil)
	}
	if err != nil {
		return nil
	}
	return w.vm.GlobalObject().GetOwnPropertyNames()
}
