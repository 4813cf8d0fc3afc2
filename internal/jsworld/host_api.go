package jsworld

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
)

//go:embed wide.js
var wideCode string

// wideProgram gives a world require.
var wideProgram = sync.OnceValue(func() *goja.Program { return goja.MustCompile("flowrun:wide.js", wideCode, true) })

// maxLog is how much of one line that a script prints is passed on, in bytes.
const maxLog = 64 << 10

// widen gives the world what a Step and a Module have beside the language, where it has not
// got it yet.
func (w *World) widen() error {
	if w.require != nil {
		return nil
	}
	setup, err := w.function(wideProgram())
	if err != nil {
		return err
	}
	o := w.vm.NewObject()
	for name, v := range map[string]func(goja.FunctionCall) goja.Value{"ask": w.ask, "askNow": w.askNow, "shim": w.shim, "own": w.own} {
		if err := o.Set(name, v); err != nil {
			return err
		}
	}
	if w.require, err = setup(goja.Undefined(), o); err != nil {
		return err
	}
	if err := w.hide("require", w.require); err != nil {
		return err
	}
	return w.late()
}

// hide makes a global that for..in does not show.
func (w *World) hide(name string, v goja.Value) error {
	return w.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// own is __lent(): what the modules of the world's own console and timers are made of.
func (w *World) own(goja.FunctionCall) goja.Value {
	return w.vm.ToValue(map[string]any{"log": w.log, "setTimer": w.setTimer, "clearTimer": w.loop.clearTimer})
}

// late makes the globals that live in a module, which cost little until they are used.
func (w *World) late() error {
	global := w.vm.GlobalObject()
	for name, module := range shimGlobals {
		get := func(goja.FunctionCall) goja.Value { return w.arrive(name, module) }
		set := func(call goja.FunctionCall) goja.Value { return w.replace(name, call.Argument(0)) }
		if err := global.DefineAccessorProperty(name, w.vm.ToValue(get), w.vm.ToValue(set), goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}

// arrive makes a late global an ordinary one.
func (w *World) arrive(name, module string) goja.Value {
	require, _ := goja.AssertFunction(w.require)
	exports, err := require(goja.Undefined(), w.vm.ToValue(module))
	if err != nil {
		panic(err)
	}
	return w.replace(name, exports.ToObject(w.vm).Get(name))
}

func (w *World) replace(name string, v goja.Value) goja.Value {
	if err := w.hide(name, v); err != nil {
		panic(err)
	}
	return v
}

// ask is __ask(op, args): a promise of the answer.
func (w *World) ask(call goja.FunctionCall) goja.Value {
	op, args := w.question(call)
	promise, resolve, reject := w.vm.NewPromise()
	w.send(op, args, func(a Answer) error {
		if a.Error != nil {
			return reject(w.errorValue(a.Error))
		}
		return resolve(valueOf(w.vm, a.Value))
	})
	return w.vm.ToValue(promise)
}

// askNow is __askNow(op, args): the answer itself, for which the script waits.
func (w *World) askNow(call goja.FunctionCall) goja.Value {
	op, args := w.question(call)
	id := w.send(op, args, nil)
	defer delete(w.loop.asks, id)
	a, _, why := w.loop.await(id, nil)
	if why != nil {
		return nil // the interrupt comes with the next instruction
	}
	if a.Error != nil {
		panic(w.errorValue(a.Error))
	}
	return valueOf(w.vm, a.Value)
}

// question is what a script asks.
func (w *World) question(call goja.FunctionCall) (op string, args json.RawMessage) {
	const whole = "the argument"
	op = call.Argument(0).String()
	args, refused := jsonOf(w.vm, call.Argument(1), whole)
	if refused != nil { // value.key[2] is a function, and no JSON
		panic(w.vm.NewTypeError(op + ": " + strings.TrimPrefix(refused.Message, whole+".")))
	}
	return op, args
}

// send sends a question.
func (w *World) send(op string, args json.RawMessage, then func(Answer) error) uint64 {
	id := w.loop.ask(then)
	if w.asker == nil {
		w.Answer(Answer{ID: id, Error: Failed(KindThrown, "%s is not available here", op)})
	} else {
		w.asker(id, op, args)
	}
	return id
}

// log passes on a line that the script prints.
func (w *World) log(level, message string) {
	if w.asker == nil {
		return
	}
	if len(message) > maxLog {
		message = strings.ToValidUTF8(message[:maxLog], "") + "…"
	}
	args, _ := json.Marshal(map[string]string{"level": level, "message": message}) // text alone
	w.asker(0, "log", args)
}

// setTimer calls a function after some milliseconds.
func (w *World) setTimer(f goja.Callable, ms float64, repeat bool) int64 {
	const longest = float64(24 * time.Hour / time.Millisecond)
	return w.loop.setTimer(f, time.Duration(min(ms, longest)*float64(time.Millisecond)), repeat)
}

// errorValue is the Error that a script sees for a failure.
func (w *World) errorValue(f *Failure) goja.Value {
	o, err := w.vm.New(w.vm.Get("Error"), w.vm.ToValue(f.Message))
	if err != nil {
		return w.vm.ToValue(f.Message)
	}
	if f.Name != "" {
		o.DefineDataProperty("name", w.vm.ToValue(f.Name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return o
}

// shims are the built-in modules that have been compiled, by name.
var shims sync.Map

// shim is the function around a built-in module, or around what stands for one that is
// not there.
func (w *World) shim(call goja.FunctionCall) goja.Value {
	name := call.Argument(0).String()
	p, ok := shims.Load(name)
	if !ok {
		code, ok := Shim(name)
		if !ok {
			code = lacking(name, w.describing)
		}
		if p = compileShim(name, code); ok {
			p, _ = shims.LoadOrStore(name, p)
		}
	}
	v, err := w.vm.RunProgram(p.(*goja.Program))
	if err != nil {
		panic(err)
	}
	return v
}

func compileShim(name, code string) *goja.Program {
	return goja.MustCompile("flowrun:"+name, "(function (exports, require, module, __ask, __askNow, __lent) {"+code+"\n})", false)
}

// AddShim gives the worlds of this process one more built-in module. Tests ask with it.
func AddShim(name, code string) { shims.Store(name, compileShim(name, code)) }
