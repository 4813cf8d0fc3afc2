//go:build !linux || race

package jsworld

// limitData does nothing here: other systems cannot limit the memory that Go reserves, and the
// race detector needs a multiple of it.
func limitData(int64) {}
