package jsworld

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The program rejects values that are not JSON; both ends reject invalid frames.
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
			b, err := (&Frame{Kind: FrameResult, Body: json.RawMessage(`{"a":1}`)}).encode()
			if err != nil {
				t.Fatal(err)
			}
			w := NewWire(bytes.NewReader(c.frame(b)), nil)
			w.trusted = c.trusts
			if f, err := w.Receive(); (err != nil) != c.refused {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// half removes the last byte of a frame's value.
func half(b []byte) []byte {
	b[3]--
	return b[:len(b)-1]
}

// FuzzWire checks that any input is decoded to a frame or an error, and that a frame that is
// sent is received unchanged.
func FuzzWire(f *testing.F) {
	for _, seed := range []*Frame{{Kind: frameReady}, {Kind: FrameCall, Digest: "d", Body: json.RawMessage(`{"a":{"b":"<ä>"}}`)}, {Kind: FrameResult, Rare: Rare{Error: Failed(KindThrown, "x")}}} {
		var b bytes.Buffer
		if err := NewWire(nil, &b).Send(seed); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 'x'})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := NewWire(bytes.NewReader(data), nil).Receive()
		if err != nil {
			return
		}
		var b bytes.Buffer
		w := NewWire(&b, &b)
		if err := w.Send(got); err != nil {
			t.Fatal(err)
		}
		again, err := w.Receive()
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(Frame{})); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
