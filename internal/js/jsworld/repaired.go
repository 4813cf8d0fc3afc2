package jsworld

import (
	"strings"

	"github.com/dop251/goja"
)

// This file replaces functions of goja that fail with some values.

// setReplaceAll replaces String.prototype.replaceAll: goja searches an empty text forever in a text that is not ASCII.
func setReplaceAll(vm *goja.Runtime) {
	regExp := vm.Get("RegExp")
	replaceIn(vm, "String", "replaceAll", func(native method, call goja.FunctionCall) goja.Value {
		search := call.Argument(0)
		if o, ok := search.(*goja.Object); ok && o.GetSymbol(goja.SymReplace) != nil {
			return native(call.This, call.Arguments...)
		}
		if _, ok := search.(*goja.Symbol); ok || search.String() != "" || goja.IsUndefined(call.This) || goja.IsNull(call.This) {
			return native(call.This, call.Arguments...)
		}
		between, err := vm.New(regExp, vm.ToValue("(?:)"), vm.ToValue("g"))
		if err != nil {
			panic(err)
		}
		return native(call.This, between, call.Argument(1))
	})
}

// setFind replaces find and its siblings in Array.prototype: goja gives a function that is not JavaScript no value at all
// for an element that is missing, and the process fails.
func setFind(vm *goja.Runtime) {
	for _, name := range []string{"find", "findIndex", "findLast", "findLastIndex"} {
		replaceIn(vm, "Array", name, func(native method, call goja.FunctionCall) goja.Value {
			test, callable := goja.AssertFunction(call.Argument(0))
			if !callable || !strings.HasSuffix(call.Argument(0).String(), "[native code] }") {
				return native(call.This, call.Arguments...)
			}
			return native(call.This, vm.ToValue(func(element goja.FunctionCall) goja.Value {
				for i, v := range element.Arguments {
					if v == nil {
						element.Arguments[i] = goja.Undefined()
					}
				}
				result, err := test(call.Argument(1), element.Arguments...)
				if err != nil {
					panic(err)
				}
				return result
			}))
		})
	}
}

// method is a function of JavaScript that is called from Go. It panics with what is thrown.
type method func(this goja.Value, args ...goja.Value) goja.Value

// replaceIn replaces a method in the prototype of a class by a function that gets the method.
func replaceIn(vm *goja.Runtime, class, name string, by func(native method, call goja.FunctionCall) goja.Value) {
	prototype := vm.Get(class).ToObject(vm).Get("prototype").ToObject(vm)
	callable, _ := goja.AssertFunction(prototype.Get(name))
	native := func(this goja.Value, args ...goja.Value) goja.Value {
		result, err := callable(this, args...)
		if err != nil {
			panic(err) // what the script's own functions threw
		}
		return result
	}
	length := prototype.Get(name).ToObject(vm).Get("length")
	function := vm.ToValue(func(call goja.FunctionCall) goja.Value { return by(native, call) }).ToObject(vm)
	function.DefineDataProperty("length", length, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	function.DefineDataProperty("name", vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	prototype.DefineDataProperty(name, function, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE) // cannot fail on an object of the engine
}
