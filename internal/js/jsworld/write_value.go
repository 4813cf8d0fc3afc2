package jsworld

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// maxValueDepth is how deep a result may be nested. encoding/json reads no deeper.
const maxValueDepth = 10_000

// initialBuffer is the initial size of the buffer in bytes, which is enough for most results.
const initialBuffer = 2 << 10

// jsonWriter writes a value of a script as JSON, like JSON.stringify. Where JSON.stringify leaves
// something out, writer returns a failure with its path: functions, symbols, BigInts, promises,
// Maps and Sets, and values that contain themselves. As in JSON.stringify, NaN and the
// infinities become null, and undefined members of an object are left out.
//
// Numbers are those of the language: exact up to 2^53, rounded to the nearest 64-bit float
// beyond that.
type jsonWriter struct {
	vm   *goja.Runtime
	out  bytes.Buffer
	path []string // from the result to the value: .items, [2]
	open map[*goja.Object]bool
	text *json.Encoder
}

// toJSON converts a value of a script to JSON; nil stands for undefined. what names the value in
// failures. It panics with what the script's own getters throw, so it must run inside goja's
// Try.
func toJSON(vm *goja.Runtime, v goja.Value, what string) (json.RawMessage, *Failure) {
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	o := &jsonWriter{vm: vm, path: []string{what}, open: map[*goja.Object]bool{}}
	o.out.Grow(initialBuffer)
	o.text = json.NewEncoder(&o.out)
	o.text.SetEscapeHTML(false)
	f := o.value(v, "")
	if f == nil && o.out.Len() > MaxResult {
		f = o.tooLarge()
	}
	if f != nil {
		return nil, f
	}
	return o.out.Bytes(), nil
}

func (w *jsonWriter) refuse(format string, args ...any) *Failure {
	return Failed(KindResult, "%s %s", strings.Join(w.path, ""), fmt.Sprintf(format, args...))
}

// value writes one value. key is its key in the value that contains it.
func (w *jsonWriter) value(v goja.Value, key string) *Failure {
	if w.out.Len() > MaxResult {
		return w.tooLarge()
	}
	switch v := v.(type) {
	case nil:
		w.out.WriteString("null")
	case *goja.Object:
		return w.object(v, key)
	case goja.String:
		return w.string(v.String())
	case *goja.Symbol:
		return w.refuse("is a symbol, which JSON does not support")
	default:
		return w.primitive(v)
	}
	return nil
}

func (w *jsonWriter) primitive(v goja.Value) *Failure {
	switch {
	case goja.IsUndefined(v) || goja.IsNull(v):
		w.out.WriteString("null")
	case goja.IsBigInt(v):
		return w.refuse("is a BigInt, which JSON does not support: convert it to a Number or a String")
	case goja.IsNumber(v):
		w.number(v)
	case goja.IsString(v):
		return w.string(v.String())
	default:
		w.out.WriteString(strconv.FormatBool(v.ToBoolean()))
	}
	return nil
}

func (w *jsonWriter) number(v goja.Value) {
	f := v.ToFloat()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.out.WriteString("null")
		return
	}
	if f == 0 { // also -0
		w.out.WriteString("0")
		return
	}
	w.out.WriteString(v.String())
}

func (w *jsonWriter) string(s string) *Failure {
	if len(s) > MaxResult {
		return w.tooLarge()
	}
	if needsNoEscape(s) {
		w.out.WriteByte('"')
		w.out.WriteString(s)
		w.out.WriteByte('"')
		return nil
	}
	w.text.Encode(s)                // cannot fail: writes to memory
	w.out.Truncate(w.out.Len() - 1) // removes the newline that Encode adds
	return nil
}

// needsNoEscape reports whether a string needs no escaping in JSON.
func needsNoEscape(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

func (w *jsonWriter) tooLarge() *Failure {
	w.path = w.path[:1]
	return w.refuse("is larger than %d MiB", MaxResult>>20)
}

// object writes a value that is not primitive.
func (w *jsonWriter) object(o *goja.Object, key string) *Failure {
	if call, ok := goja.AssertFunction(o.Get("toJSON")); ok {
		v, err := call(o, w.vm.ToValue(key))
		if err != nil {
			panic(err) // caught by Try
		}
		if inner, ok := v.(*goja.Object); !ok {
			return w.value(v, key)
		} else {
			o = inner
		}
	}
	if _, ok := goja.AssertFunction(o); ok {
		return w.refuse("is a function, which JSON does not support")
	}
	switch o.ClassName() { // new Number(1)
	case "Number", "Boolean", "BigInt":
		return w.value(w.vm.ToValue(o.Export()), key)
	case "String":
		return w.string(o.String())
	}
	if tag := o.GetSymbol(goja.SymToStringTag); tag != nil {
		switch tag.String() {
		case "Promise":
			return w.refuse("is a promise: await it")
		case "Map":
			return w.refuse("is a Map, which JSON does not support: convert it with Object.fromEntries")
		case "Set":
			return w.refuse("is a Set, which JSON does not support: convert it with Array.from")
		}
	}
	return w.members(o)
}

// members writes an array or an object.
func (w *jsonWriter) members(o *goja.Object) *Failure {
	if w.open[o] {
		return w.refuse("contains itself, which JSON does not support")
	}
	if len(w.open) == maxValueDepth {
		w.path = w.path[:1]
		return w.refuse("is nested deeper than %d levels", maxValueDepth)
	}
	w.open[o] = true
	defer delete(w.open, o)
	if w.isArray(o) {
		return w.array(o)
	}
	w.out.WriteByte('{')
	first := true
	for _, key := range o.Keys() {
		v := o.Get(key)
		if v == nil || goja.IsUndefined(v) {
			continue
		}
		if !first {
			w.out.WriteByte(',')
		}
		first = false
		if f := w.string(key); f != nil {
			return f
		}
		w.out.WriteByte(':')
		if f := w.member(v, key, "."+key); f != nil {
			return f
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w *jsonWriter) isArray(o *goja.Object) bool {
	for o != nil && o.ExportType() == reflect.TypeFor[goja.Proxy]() {
		o = o.Export().(goja.Proxy).Target()
	}
	return o != nil && o.ClassName() == "Array"
}

func (w *jsonWriter) array(o *goja.Object) *Failure {
	w.out.WriteByte('[')
	for i := range o.Get("length").ToInteger() {
		if i > 0 {
			w.out.WriteByte(',')
		}
		index := strconv.FormatInt(i, 10)
		if f := w.member(o.Get(index), index, "["+index+"]"); f != nil {
			return f
		}
	}
	w.out.WriteByte(']')
	return nil
}

func (w *jsonWriter) member(v goja.Value, key, step string) *Failure {
	w.path = append(w.path, step)
	if f := w.value(v, key); f != nil {
		return f
	}
	w.path = w.path[:len(w.path)-1]
	return nil
}
