package history

import (
	"crypto/rand"
	"time"
)

// idAlphabet has no letters that look like digits. It is in ASCII order, so that ids sort
// as text.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns an id for a run: nine characters for the time in milliseconds, then four
// random ones. Ids sort by start time, and two runs of the same millisecond get different
// ids.
func NewID(now time.Time) string {
	var id [13]byte
	ms := uint64(now.UnixMilli())
	for i := 8; i >= 0; i-- {
		id[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	var chance [4]byte
	rand.Read(chance[:]) // never returns an error
	for i, c := range chance {
		id[9+i] = idAlphabet[c&31]
	}
	return string(id[:])
}
