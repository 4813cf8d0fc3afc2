package sqlite

import (
	"bytes"
	"compress/flate"
	"io"
)

// minPacked is the size in bytes from which a definition is stored compressed.
const minPacked = 4 << 10

// pack returns a definition as it is stored. It is never nil, which would be NULL.
func pack(text []byte) (stored []byte, packed bool) {
	if len(text) < minPacked {
		return append([]byte{}, text...), false
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // fails for other levels only
	w.Write(text)                                // cannot fail, like Close: a Buffer takes everything
	w.Close()
	return b.Bytes(), true
}

// unpack returns the text of a compressed definition. That of a damaged one does not have the
// digest of the definition.
func unpack(stored []byte) []byte {
	text, _ := io.ReadAll(flate.NewReader(bytes.NewReader(stored)))
	return text
}
