package keytable

import (
	"bytes"
	"encoding/json"

	"github.com/flowrun/flowrun/internal/lang/value"
)

// JSON returns the value as JSON. Mappings keep their order, and texts have no HTML escapes.
func (v Value) JSON() []byte {
	var b bytes.Buffer
	v.writeJSON(&b)
	return b.Bytes()
}

func (v Value) writeJSON(b *bytes.Buffer) {
	switch {
	case v.Map != nil:
		b.WriteByte('{')
		for i, e := range v.Map {
			comma(b, i)
			writeString(b, e.Key)
			b.WriteByte(':')
			e.Value.writeJSON(b)
		}
		b.WriteByte('}')
	case v.List != nil:
		b.WriteByte('[')
		for i, item := range v.List {
			comma(b, i)
			item.writeJSON(b)
		}
		b.WriteByte(']')
	case v.Text != nil:
		writeString(b, v.Text.S)
	case v.Scalar == nil:
		b.WriteString("null")
	default:
		b.WriteString(value.Plain(v.Scalar))
	}
}

func comma(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

// writeString writes a JSON string without HTML escapes.
func writeString(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // encoding a string into a buffer cannot fail
	b.Truncate(b.Len() - 1)
}
