package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/flowrun/flowrun/internal/os/startup"
)

// A heap that may grow to largeHeap before the next collection may grow only by largePercent of
// what is in use from then on. By default it may double: a definition of 10,000 steps then takes
// 14 MB more, for 0.3 % less CPU time. In a small heap there is nothing to save.
const (
	largeHeap    = 16 << 20
	largePercent = 50
)

// limitHeapGrowth limits how much a large heap grows between collections, unless GOGC is set. Most
// commands end before their first collection, so nothing is measured until then.
func limitHeapGrowth() {
	if os.Getenv("GOGC") == "" {
		afterCollection(checkHeap)
	}
}

// checkHeap changes the limit and gives back the code of the start if the heap has become large, or else checks it again after the next
// collection. It does not use runtime.ReadMemStats, which stops the program and takes 170 page faults.
func checkHeap() {
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	if goal[0].Value.Uint64() > largeHeap {
		debug.SetGCPercent(largePercent)
		startup.ReturnCode() // a short command does not come here
		return
	}
	afterCollection(checkHeap)
}

// afterCollection calls f after the next collection.
func afterCollection(f func()) {
	runtime.AddCleanup(new([4]*byte), func(struct{}) { f() }, struct{}{})
}
