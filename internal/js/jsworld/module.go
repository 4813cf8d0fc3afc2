package jsworld

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// moduleProgram runs a Module. It is the body of an async function that returns the result and
// has these names in scope:
//
//	entry, args     the method of the module to call, and its arguments
//	__load()        evaluates the module and returns its module.exports or its default export
//	__require(name) returns a built-in module
//	__require.packages  after __load: a function for each package that the tool depends on,
//	                which returns a promise of the package
//	__ask(op, args), __askNow(op, args)  host calls, asynchronous and synchronous
//	__atEnd(f, tool) calls f if the module is stopped under Node.js; in a world, whoever made
//	                the call then calls the method "cleanup" in another world, with the data
//	                members of the tool as args.state. Null ends this.
//	__reword(error) gives an error of the engine the wording of Node.js
//	__where(error)  "file:line:col" in the author's file where error was thrown, or ""
var moduleProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("flowrun:module.js", "(async function (entry, args, __load, __require, __ask, __askNow, __where, __reword, __atEnd) {"+Prelude()+"\n})", false)
})

// startModule calls a method of a module.
func (w *World) startModule(t *Task) (goja.Value, error) {
	args := fromJSON(w.vm, t.Vars)
	f, err := w.function(moduleProgram())
	if err != nil {
		return nil, err
	}
	w.describing = t.Entry == "describe"
	for _, name := range []string{"global", "self"} { // packages look for the global object under all its names
		if err := w.defineHidden(name, w.vm.GlobalObject()); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(t.Vars, &w.dependencies); err != nil {
		return nil, err
	}
	load := func(goja.FunctionCall) goja.Value { return w.load(t.Program) }
	where := func(call goja.FunctionCall) goja.Value {
		return w.vm.ToValue(w.errorPosition(call.Argument(0), t.Program))
	}
	atEnd := func(call goja.FunctionCall) goja.Value {
		w.stoppedTool, _ = call.Argument(1).(*goja.Object)
		return goja.Undefined()
	}
	return f(goja.Undefined(), w.vm.ToValue(t.Entry), args, w.vm.ToValue(load), w.require,
		w.vm.ToValue(w.hostCall), w.vm.ToValue(w.hostCallSync), w.vm.ToValue(where), w.rewordFunction(t.Program), w.vm.ToValue(atEnd))
}

// dependencies is what the arguments of a module say about its packages.
type dependencies struct {
	Tool         struct{ ID string }
	Dependencies []string
}

// declaredBy returns the id of the tool if it declares the package that a module is part of, else "".
func (w *World) declaredBy(module string) string {
	within := func(name string) bool { return module == name || strings.HasPrefix(module, name+"/") }
	if slices.ContainsFunc(w.dependencies.Dependencies, within) {
		return w.dependencies.Tool.ID
	}
	return ""
}

// load evaluates the module and returns its module.exports, or its default export.
func (w *World) load(p *Program) goja.Value {
	f, err := w.function(p.main)
	if err != nil {
		panic(err)
	}
	module, exports := w.vm.NewObject(), w.vm.NewObject()
	module.Set("exports", exports) // cannot fail on a plain object
	if _, err := f(exports, exports, w.require, module); err != nil {
		panic(err)
	}
	if err := w.require.ToObject(w.vm).Set("packages", module.Get("packages")); err != nil {
		panic(err)
	}
	v := module.Get("exports")
	o, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	if d := o.Get("default"); d != nil && !goja.IsUndefined(d) && o.Get("__esModule") != nil {
		return d
	}
	return v
}

// errorPosition returns the position in the author's file at which an Error was thrown, or "" if
// it is not known.
func (w *World) errorPosition(v goja.Value, p *Program) string {
	f := &Failure{}
	p.readThrown(w.vm, f, v)
	if f.Pos == nil {
		return ""
	}
	return f.Pos.String()
}
