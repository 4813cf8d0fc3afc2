package hooks

import (
	"bytes"
	"encoding/json"
	"testing"
)

// A value that is no JSON gets no further than the wire's end in the program; a frame
// that is none does not either end.
func TestWireDistrusts(t *testing.T) {
	for _, c := range []struct {
		name    string
		trusts  bool
		frame   func(b []byte) []byte
		refused bool
	}{
		{"a value", false, func(b []byte) []byte { return b }, false},
		{"half a value, for the program", false, half, true},
		{"a head that is cut off, for the child", true, func(b []byte) []byte { return append([]byte{0, 0, 0, 20}, b[4:24]...) }, true},
		{"a part longer than the frame, for the child", true, func(b []byte) []byte { b[22] = 0xff; return b }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := (&frame{Kind: frameResult, Body: json.RawMessage(`{"a":1}`)}).bytes()
			if err != nil {
				t.Fatal(err)
			}
			w := newWire(bytes.NewReader(c.frame(b)), nil)
			w.trusts = c.trusts
			if f, err := w.receive(); (err != nil) != c.refused {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// half takes the last byte off a frame's value.
func half(b []byte) []byte {
	b[3]--
	return b[:len(b)-1]
}
