package jsworld

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// BenchmarkParts measures the parts of a call of 1 KB, in a world and on the way to it.
func BenchmarkParts(b *testing.B) {
	b.Run("world", func(b *testing.B) {
		for b.Loop() {
			NewWorld()
		}
	})
	b.Run("widen", func(b *testing.B) {
		for b.Loop() {
			w := NewWorld()
			if err := w.addHostAPI(); err != nil {
				b.Fatal(err)
			}
		}
	})
	vars, err := json.Marshal(map[string]any{"input": map[string]any{"url": "https://example.com/search", "query": strings.Repeat("q", 200), "limit": 20,
		"tags":    []any{"a", "b", "c", map[string]any{"deep": true, "n": 1.5}},
		"headers": map[string]any{"accept": "application/json", "agent": strings.Repeat("x", 300)},
		"body":    strings.Repeat("text ", 70)}})
	if err != nil {
		b.Fatal(err)
	}
	w := NewWorld()
	b.Run("value in", func(b *testing.B) {
		for b.Loop() {
			fromJSON(w.vm, vars)
		}
	})
	v := fromJSON(w.vm, vars)
	b.Run("value out", func(b *testing.B) {
		for b.Loop() {
			toJSON(w.vm, v, "the result")
		}
	})
	call := &Frame{Kind: FrameCall, Digest: strings.Repeat("d", 64), Body: vars, Limit: 5 * time.Second}
	b.Run("frame out", func(b *testing.B) {
		out := NewWire(nil, io.Discard)
		for b.Loop() {
			out.Send(call)
		}
	})
	var sent bytes.Buffer
	NewWire(nil, &sent).Send(call)
	for what, trusts := range map[string]bool{"frame in": false, "frame in, trusted": true} {
		b.Run(what, func(b *testing.B) {
			in := bytes.NewReader(nil)
			w := NewWire(in, nil)
			w.trusted = trusts
			for b.Loop() {
				in.Reset(sent.Bytes())
				if _, err := w.Receive(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
