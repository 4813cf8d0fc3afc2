package history

import (
	"crypto/rand"
	"time"
)

// idAlphabet has no letters that are easily taken for digits; its order is that
// of ASCII, so that ids sort as text.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID is a run id: nine characters of time in milliseconds, then four of
// chance, so that ids sort by start and two of the same millisecond differ.
func NewID(now time.Time) string {
	var id [13]byte
	ms := uint64(now.UnixMilli())
	for i := 8; i >= 0; i-- {
		id[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	var chance [4]byte
	rand.Read(chance[:]) // never fails
	for i, c := range chance {
		id[9+i] = idAlphabet[c&31]
	}
	return string(id[:])
}
