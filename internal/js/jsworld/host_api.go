package jsworld

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
)

//go:embed host_api.js
var hostAPICode string

// hostAPIProgram is the compiled code that defines require in a world.
var hostAPIProgram = sync.OnceValue(func() *goja.Program { return goja.MustCompile("flowrun:host_api.js", hostAPICode, true) })

// maxLog is how many bytes of one line that a script logs are passed on.
const maxLog = 64 << 10

// addHostAPI adds the host API to the world: what scripts have in addition to the language. It
// does nothing if the world has it already.
func (w *World) addHostAPI() error {
	if w.require != nil {
		return nil
	}
	var err error
	if w.require, err = w.loader(); err != nil {
		return err
	}
	return w.defineLazyGlobals(shimGlobals)
}

// loader returns require, which loads built-in modules. A script without the host API cannot
// reach it.
func (w *World) loader() (goja.Value, error) {
	if w.loadShim != nil {
		return w.loadShim, nil
	}
	setup, err := w.function(hostAPIProgram())
	if err != nil {
		return nil, err
	}
	o := w.vm.NewObject()
	for name, v := range map[string]func(goja.FunctionCall) goja.Value{"ask": w.hostCall, "askNow": w.hostCallSync, "shim": w.shim, "own": w.shimInternals} {
		if err := o.Set(name, v); err != nil {
			return nil, err
		}
	}
	w.loadShim, err = setup(goja.Undefined(), o)
	return w.loadShim, err
}

// defineHidden defines a global that for..in does not list.
func (w *World) defineHidden(name string, v goja.Value) error {
	return w.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// shimInternals implements __lent(): the Go functions that the built-in modules use.
func (w *World) shimInternals(goja.FunctionCall) goja.Value {
	lent := nativeFunctions(w.vm)
	lent["log"], lent["setTimer"], lent["clearTimer"] = w.log, w.setTimer, w.loop.clearTimer
	return w.vm.ToValue(lent)
}

// defineLazyGlobals defines globals that are implemented in built-in modules as accessors, so that
// a module is loaded only when one of its globals is first used.
func (w *World) defineLazyGlobals(globals map[string]string) error {
	global := w.vm.GlobalObject()
	for name, module := range globals {
		get := func(goja.FunctionCall) goja.Value { return w.loadGlobal(name, module) }
		set := func(call goja.FunctionCall) goja.Value { return w.setGlobal(name, call.Argument(0)) }
		if err := global.DefineAccessorProperty(name, w.vm.ToValue(get), w.vm.ToValue(set), goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}

// loadGlobal loads the module of a global and turns the accessor into an ordinary property.
func (w *World) loadGlobal(name, module string) goja.Value {
	require, _ := goja.AssertFunction(w.loadShim)
	exports, err := require(goja.Undefined(), w.vm.ToValue(module))
	if err != nil {
		panic(err)
	}
	return w.setGlobal(name, exports.ToObject(w.vm).Get(name))
}

func (w *World) setGlobal(name string, v goja.Value) goja.Value {
	if err := w.defineHidden(name, v); err != nil {
		panic(err)
	}
	return v
}

// hostCall implements __ask(op, args): it returns a promise of the answer.
func (w *World) hostCall(call goja.FunctionCall) goja.Value {
	op, args := w.hostCallArgs(call)
	promise, resolve, reject := w.vm.NewPromise()
	w.sendHostCall(op, args, func(a Answer) error {
		if a.Error != nil {
			return reject(w.errorValue(a.Error))
		}
		return resolve(fromJSON(w.vm, a.Value))
	})
	return w.vm.ToValue(promise)
}

// hostCallSync implements __askNow(op, args): it blocks until the answer arrives and returns it.
func (w *World) hostCallSync(call goja.FunctionCall) goja.Value {
	op, args := w.hostCallArgs(call)
	id := w.sendHostCall(op, args, nil)
	defer delete(w.loop.pending, id)
	a, _, why := w.loop.await(id, nil)
	if why != nil {
		return nil // goja stops the script at its next instruction
	}
	if a.Error != nil {
		panic(w.errorValue(a.Error))
	}
	return fromJSON(w.vm, a.Value)
}

// hostCallArgs reads the arguments of a host call.
func (w *World) hostCallArgs(call goja.FunctionCall) (op string, args json.RawMessage) {
	const whole = "the argument"
	op = call.Argument(0).String()
	args, refused := toJSON(w.vm, call.Argument(1), whole)
	if refused != nil { // an argument that JSON does not support, such as a function at key[2]
		panic(w.vm.NewTypeError(op + ": " + strings.TrimPrefix(refused.Message, whole+".")))
	}
	return op, args
}

// sendHostCall sends a host call and returns its id. then is called with the answer.
func (w *World) sendHostCall(op string, args json.RawMessage, then func(Answer) error) uint64 {
	id := w.loop.addPending(then)
	if w.hostCaller == nil {
		w.Answer(Answer{ID: id, Error: Failed(KindThrown, "%s is not available here", op)})
	} else {
		w.hostCaller(id, op, args)
	}
	return id
}

// log sends a line that the script logs. Without host calls the line is dropped.
func (w *World) log(level, message string) {
	if w.hostCaller == nil {
		return
	}
	if len(message) > maxLog {
		message = strings.ToValidUTF8(message[:maxLog], "") + "…"
	}
	args, _ := json.Marshal(map[string]string{"level": level, "message": message}) // cannot fail: only strings
	w.hostCaller(0, "log", args)
}

// setTimer calls a function after ms milliseconds, at most 24 hours.
func (w *World) setTimer(f goja.Callable, ms float64, repeat bool) int64 {
	const longest = float64(24 * time.Hour / time.Millisecond)
	return w.loop.setTimer(f, time.Duration(min(ms, longest)*float64(time.Millisecond)), repeat)
}

// errorValue returns the Error that a script gets for a failure.
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

// compiledShims holds the compiled built-in modules by name, for all worlds of the process.
var compiledShims sync.Map

// shim returns the function that evaluates a built-in module. For a module that does not exist
// it returns one that gives a placeholder.
func (w *World) shim(call goja.FunctionCall) goja.Value {
	name := call.Argument(0).String()
	p, ok := compiledShims.Load(name)
	if !ok {
		code, ok := Shim(name)
		if !ok {
			code = missingModule(name, w.declaredBy(name), w.describing)
		}
		if p = compileShim(name, code); ok {
			p, _ = compiledShims.LoadOrStore(name, p)
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

// AddShim adds a built-in module to all worlds of this process. For tests.
func AddShim(name, code string) { compiledShims.Store(name, compileShim(name, code)) }
