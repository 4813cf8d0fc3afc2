package jsworld

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// Task is one call of a script.
type Task struct {
	Program *Program
	Entry   string
	Vars    json.RawMessage // an object
	Limit   time.Duration
	Ask     HostCaller
}

// HostCaller sends a host call; World.Answer delivers the answer. A call with id 0 has no answer.
type HostCaller func(id uint64, op string, args json.RawMessage)

// Run runs the task. A world runs only one task. onOverdue is called if the script cannot be
// interrupted; if it is nil, Run then waits for the script.
func (w *World) Run(t *Task, onOverdue func()) (json.RawMessage, *Failure) {
	result, f := w.runLimited(t.Limit, onOverdue, t.Program, func() (goja.Value, error) { return w.start(t) })
	if f != nil && w.stoppedTool != nil {
		f.State = w.toolState(onOverdue)
	}
	return result, f
}

// runLimited runs a function of the script and everything it starts, for at most limit.
func (w *World) runLimited(limit time.Duration, onOverdue func(), p *Program, begin func() (goja.Value, error)) (result json.RawMessage, f *Failure) {
	stop := func() { w.loop.abort(Failed(KindTimeout, "the script ran longer than %v", limit)) }
	w.loop.clock = NewClock(limit, stop, onOverdue)
	defer w.loop.clock.Pause()
	defer func() {
		if x := recover(); x != nil {
			f = p.panicFailure(w.vm, x)
		}
	}()
	v, err := begin()
	if err != nil {
		return nil, p.failureOf(w.vm, err)
	}
	return w.finish(v, p)
}

// start calls the script. The value it returns may be a promise.
func (w *World) start(t *Task) (goja.Value, error) {
	form := t.Program.source.Form
	if err := w.defineHidden(jscheck.RewordFunction, w.rewordFunction(t.Program)); err != nil {
		return nil, err
	}
	if jscheck.HasHostAPI(form) {
		if err := w.addHostAPI(); err != nil {
			return nil, err
		}
		w.hostCaller = t.Ask
	}
	if err := w.addLanguage(t.Program.lacks); err != nil {
		return nil, err
	}
	if jscheck.CanRequire(form) {
		if err := w.defineHidden("require", w.require); err != nil {
			return nil, err
		}
	}
	if form == jscheck.Module {
		return w.startModule(t)
	}
	vars := fromJSON(w.vm, t.Vars).ToObject(w.vm)
	names := vars.Keys()
	for _, name := range names {
		if err := w.vm.Set(name, vars.Get(name)); err != nil {
			return nil, err
		}
	}
	f, err := w.function(t.Program.main)
	if err != nil {
		return nil, err
	}
	v, err := f(goja.Undefined())
	if err != nil || form != jscheck.Expression || len(names) != 1 {
		return v, err
	}
	if f, ok := goja.AssertFunction(v); ok { // the expression Math.floor is short for Math.floor(value)
		return f(goja.Undefined(), vars.Get(names[0]))
	}
	return v, nil
}

// function evaluates a program whose value is a function.
func (w *World) function(p *goja.Program) (goja.Callable, error) {
	v, err := w.vm.RunProgram(p)
	if err != nil {
		return nil, err
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		return nil, errors.New("the script is not a function")
	}
	return f, nil
}

// finish waits until the script has ended and converts its result to JSON.
func (w *World) finish(v goja.Value, p *Program) (json.RawMessage, *Failure) {
	v, f := w.resolve(v, p)
	if f != nil {
		return nil, f
	}
	// Host calls are completed even if the script does not await them, so that a value that it
	// stores is really stored.
	if f := w.wait(func() bool { return len(w.loop.pending) == 0 }, p); f != nil {
		return nil, f
	}
	if len(w.rejected) > 0 {
		return nil, p.thrownFailure(w.vm, w.rejected[0].Result(), nil)
	}
	var raw json.RawMessage
	if ex := w.vm.Try(func() { raw, f = toJSON(w.vm, v, "the result") }); ex != nil {
		return nil, p.failureOf(w.vm, ex)
	}
	return raw, f
}

// resolve returns the value itself, or the result of the promise or thenable that it is.
func (w *World) resolve(v goja.Value, p *Program) (goja.Value, *Failure) {
	o, ok := v.(*goja.Object)
	if !ok {
		return v, nil
	}
	var promise *goja.Promise
	if o.ExportType() == reflect.TypeFor[*goja.Promise]() {
		promise = o.Export().(*goja.Promise)
	} else {
		thenable := false
		if ex := w.vm.Try(func() { _, thenable = goja.AssertFunction(o.Get("then")) }); ex != nil {
			return nil, p.failureOf(w.vm, ex)
		}
		if !thenable {
			return v, nil
		}
		adopting, resolve, _ := w.vm.NewPromise()
		if err := resolve(v); err != nil {
			return nil, p.failureOf(w.vm, err)
		}
		promise = adopting
	}
	if f := w.wait(func() bool { return promise.State() != goja.PromiseStatePending }, p); f != nil {
		return nil, f
	}
	if promise.State() == goja.PromiseStateRejected {
		return nil, p.thrownFailure(w.vm, promise.Result(), nil)
	}
	return promise.Result(), nil
}

func (w *World) wait(done func() bool, p *Program) *Failure {
	why, thrown := w.loop.run(done)
	if thrown != nil {
		return p.failureOf(w.vm, thrown)
	}
	return why
}
