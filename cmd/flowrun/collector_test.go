package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

func TestLimitHeapGrowth(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	limitHeapGrowth()
	runtime.GC()
	live := make([]byte, 2*largeHeap)
	waittest.Until(t, "a lower limit", func() bool {
		runtime.GC()
		return percent() == largePercent
	}, func() any { return percent() })
	runtime.KeepAlive(live)
}

// percent returns by how much the heap may grow.
func percent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}
