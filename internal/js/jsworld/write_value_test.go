package jsworld

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"
)

// FuzzValue checks that JSON which passes through a world is as JSON.parse and JSON.stringify
// would return it.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`null`, `[1,-0,1e400,0.1,true]`, `{"a":{"__proto__":[],"constructor":1},"a":2}`, `"\ud800\u0000\n<é>"`, ` [ { } , [ ] ] `, `{"2":1,"1":2,"b":3}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || strings.Contains(text, "toJSON") {
			return
		}
		w := NewWorld()
		raw, refused := toJSON(w.vm, fromJSON(w.vm, json.RawMessage(text)), "the value")
		if refused != nil {
			t.Fatal(refused.Message)
		}
		w.vm.Set("text", text)
		want, err := w.vm.RunProgram(throughJSON)
		if err != nil {
			return // not representable in JavaScript, such as 1e400
		}
		var a, b any
		if json.Unmarshal(raw, &a) != nil || json.Unmarshal([]byte(want.String()), &b) != nil {
			t.Fatalf("%q became %q", text, raw)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	})
}

var throughJSON = goja.MustCompile("test", "JSON.stringify(JSON.parse(text))", false)
