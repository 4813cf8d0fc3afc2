// Package processor limits the Go scheduler to one processor before the rest of the program
// is initialized. flowrun itself needs microseconds per step. With several processors its
// threads wake each other just when the steps need the CPUs: 1,000 short steps on two CPUs
// take 1.6 times as long as bare process creation, against 1.35 times with one processor.
//
// The limit is set here and not in main, because the change hands the memory spans of every
// processor that goes away, or that the main goroutine leaves, back to the heap. After the
// initialization of 250 packages that costs 180 page faults, before it a third of that or none. Packages
// that are ready to be initialized are initialized in the order of their import paths, so
// this package must import as little as possible.
package processor

import (
	"runtime"
	"syscall"
)

func init() {
	if n, _ := syscall.Getenv("GOMAXPROCS"); n == "" {
		runtime.GOMAXPROCS(1)
	}
}
