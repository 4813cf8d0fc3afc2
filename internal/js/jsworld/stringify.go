package jsworld

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/dop251/goja"
)

// maxGap is the longest indentation of JSON.stringify.
const maxGap = 10

// setStringify replaces JSON.stringify by a function that indents: goja indents everything after an empty object or
// list once more.
func setStringify(vm *goja.Runtime) {
	namespace := vm.Get("JSON").ToObject(vm)
	compact, _ := goja.AssertFunction(namespace.Get("stringify"))
	stringify := func(call goja.FunctionCall) goja.Value {
		text, err := compact(goja.Undefined(), call.Argument(0), call.Argument(1))
		if err != nil {
			panic(err) // what the script's own functions threw
		}
		gap := gapOf(call.Argument(2))
		if gap == "" || goja.IsUndefined(text) {
			return text
		}
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text.String()), "", gap); err != nil {
			panic(vm.NewGoError(err)) // a bug: compact writes JSON
		}
		return vm.ToValue(b.String())
	}
	namespace.DefineDataProperty("stringify", vm.ToValue(stringify), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE) // cannot fail on an object of the engine
}

// gapOf returns the indentation that the third argument of JSON.stringify means.
func gapOf(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		switch o.ClassName() {
		case "Number":
			v = o.ToNumber()
		case "String":
			v = o.ToString()
		}
	}
	switch {
	case goja.IsString(v):
		gap := []rune(v.String())
		return string(gap[:min(len(gap), maxGap)])
	case goja.IsNumber(v):
		return strings.Repeat(" ", int(max(0, min(v.ToInteger(), maxGap))))
	}
	return ""
}
