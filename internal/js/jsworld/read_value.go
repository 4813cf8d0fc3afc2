package jsworld

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// jsonReader converts JSON to values of a script. The JSON must be valid: it comes from
// encoding/json, in this process or at the other end of a wire. Members keep their order.
// Numbers become those of the language: exact up to 2^53, rounded to the nearest 64-bit float
// beyond that.
//
// goja's own JSON.parse takes three times as long, which is a third of a whole call.
type jsonReader struct {
	vm   *goja.Runtime
	text string
	at   int
}

// fromJSON converts JSON to a value of a script. Empty JSON becomes undefined.
func fromJSON(vm *goja.Runtime, raw json.RawMessage) goja.Value {
	if len(raw) == 0 {
		return goja.Undefined()
	}
	r := &jsonReader{vm: vm, text: string(raw)}
	return r.value()
}

func (r *jsonReader) value() goja.Value {
	switch r.skip(); r.text[r.at] {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.vm.ToValue(r.string())
	}
	begin := r.at
	if n := strings.IndexAny(r.text[begin:], ",]} \t\r\n"); n >= 0 {
		r.at += n
	} else {
		r.at = len(r.text)
	}
	switch word := r.text[begin:r.at]; word {
	case "null":
		return goja.Null()
	case "true", "false":
		return r.vm.ToValue(word == "true")
	default:
		f, _ := strconv.ParseFloat(word, 64) // a number that is too large becomes infinity, as in JSON.parse
		return r.vm.ToValue(f)
	}
}

// skip moves past spaces.
func (r *jsonReader) skip() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next moves past spaces and one character, and returns the character.
func (r *jsonReader) next() byte {
	r.skip()
	r.at++
	return r.text[r.at-1]
}

// openBracket moves past an opening bracket. It reports whether the closing bracket follows, and
// then moves past that too.
func (r *jsonReader) openBracket(end byte) bool {
	r.at++
	r.skip()
	if r.text[r.at] == end {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) object() goja.Value {
	o := r.vm.NewObject()
	if r.openBracket('}') {
		return o
	}
	for {
		r.skip()
		key := r.string()
		r.next() // the colon
		v := r.value()
		if key == "__proto__" { // Set would change the prototype
			o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		} else {
			o.Set(key, v)
		}
		if r.next() == '}' {
			return o
		}
	}
}

func (r *jsonReader) array() goja.Value {
	var items []any
	if r.openBracket(']') {
		return r.vm.NewArray()
	}
	for {
		items = append(items, r.value())
		if r.next() == ']' {
			return r.vm.NewArray(items...)
		}
	}
}

// string reads a string; the reader is at its first quote.
func (r *jsonReader) string() string {
	begin := r.at
	r.at++
	for plain := true; ; r.at++ {
		switch r.text[r.at] {
		case '\\':
			plain = false
			r.at++
		case '"':
			r.at++
			if plain {
				return r.text[begin+1 : r.at-1]
			}
			var s string
			json.Unmarshal([]byte(r.text[begin:r.at]), &s)
			return s
		}
	}
}
