// Package heaptest measures the memory that a program holds on to, so that a test can limit it.
package heaptest

import "runtime"

// InUse returns how many bytes of the heap are in use. What a pool or a finalizer keeps for one collection more is
// not counted: it would be there or not as the collections of the program happen to fall.
func InUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
