//go:build unix

package dag_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// TestLoopIsLinear: an item of a long loop costs about what one of a short loop costs.
// What is compared is the processor's time, which no other process is in; five times is
// room for caches and the collector, and far below what a look at every item for each
// item would be.
func TestLoopIsLinear(t *testing.T) {
	const all = 100_000
	cost := func(n int) time.Duration { // of an item
		g, began := loopOf(t, n), processorTime(t)
		for range all / n {
			runs(t, g, dag.Options{Slots: dag.NewSlots(8)})
		}
		return (processorTime(t) - began) / all
	}
	var short, long time.Duration
	for range 3 {
		short, long = cost(1000), cost(all)
		if long <= 5*short {
			t.Logf("%v, %v", short, long)
			return
		}
	}
	t.Errorf("an item of %d costs %v, one of 1,000 %v", all, long, short)
}

// processorTime is what this process has used up.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
