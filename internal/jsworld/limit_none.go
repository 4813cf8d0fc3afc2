//go:build !linux || race

package jsworld

// limitData does nothing: other systems do not bound what Go takes, and the race detector
// takes a multiple of it.
func limitData(int64) {}
