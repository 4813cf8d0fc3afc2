package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// A heap that may grow to largeHeap before the next collection may grow only by largePercent of
// what is in use from then on. By default it may double: a definition of 10,000 steps then takes
// 14 MB more, for 0.3 % less CPU time. In a small heap there is nothing to save.
const (
	largeHeap    = 16 << 20
	largePercent = 50
)

// limitHeapGrowth limits how much a large heap grows between collections, unless GOGC is set.
func limitHeapGrowth() {
	if os.Getenv("GOGC") == "" {
		afterCollection()
	}
}

// afterCollection changes the limit if the heap has become large, or else looks again after the
// next collection.
func afterCollection() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.NextGC > largeHeap {
		debug.SetGCPercent(largePercent)
		return
	}
	runtime.AddCleanup(new([4]*byte), func(struct{}) { afterCollection() }, struct{}{})
}
