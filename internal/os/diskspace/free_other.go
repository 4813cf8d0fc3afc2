//go:build !linux && !darwin

package diskspace

// Free returns ok false: it is not known here.
func Free(string) (free, size int64, ok bool) { return 0, 0, false }
