//go:build !linux || race

package hooks

// limitData does nothing: other systems do not bound what Go takes, and the race detector
// takes a multiple of it.
func limitData(int64) {}
