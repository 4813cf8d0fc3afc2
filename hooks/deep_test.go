package hooks

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/tool"
)

// However deep a script is nested, Compile answers: a Go program whose stack is full dies.
func TestDeep(t *testing.T) {
	for _, unit := range []string{"!", "-", "- ", "(", "[", "{", "a=", "a=>", "a?", "a?b:", "new ", "if(1)", "for(;;)", "x:", "`${", "a**", "typeof ", "await ", "function(){", "class extends ", "a.", "a?.b", "a(", "try{", "do ", "while(1)", "else ", "...", "yield ", "async ", "case ", "/*", "'", "a,"} {
		text := strings.Repeat(unit, MaxScript/8/len(unit))
		for _, form := range []Form{Body, Expression} {
			for _, code := range []string{text, text + "1", "return " + text + "1"} {
				Compile(tool.Plain(code[:min(len(code), MaxScript)]), form)
			}
		}
	}
}

// FuzzWire: whatever comes over a wire is a frame or an error, and a frame that is sent
// arrives as it was.
func FuzzWire(f *testing.F) {
	for _, seed := range []*frame{{Kind: frameReady}, {Kind: frameCall, Digest: "d", Body: json.RawMessage(`{"a":{"b":"<ä>"}}`)}, {Kind: frameResult, rare: rare{Error: failed(KindThrown, "x")}}} {
		var b bytes.Buffer
		if err := newWire(nil, &b).send(seed); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 'x'})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := newWire(bytes.NewReader(data), nil).receive()
		if err != nil {
			return
		}
		var b bytes.Buffer
		w := newWire(&b, &b)
		if err := w.send(got); err != nil {
			t.Fatal(err)
		}
		again, err := w.receive()
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(frame{})); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

// FuzzValue: JSON that goes into a world comes out of it as JSON.parse and
// JSON.stringify have it.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`null`, `[1,-0,1e400,0.1,true]`, `{"a":{"__proto__":[],"constructor":1},"a":2}`, `"\ud800\u0000\n<é>"`, ` [ { } , [ ] ] `, `{"2":1,"1":2,"b":3}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || strings.Contains(text, "toJSON") {
			return
		}
		w := newWorld()
		raw, refused := jsonOf(w.vm, valueOf(w.vm, json.RawMessage(text)), "the value")
		if refused != nil {
			t.Fatal(refused.Message)
		}
		w.vm.Set("text", text)
		want, err := w.vm.RunProgram(throughJSON)
		if err != nil {
			return // what the language itself does not take, 1e400 for one
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
