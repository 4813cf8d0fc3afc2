package hooks

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// guard ends a child that holds more memory than it may. What is held is asked for every
// few milliseconds; a single allocation that is far too large fails before that, by a
// limit of the system where there is one.
type guard struct {
	limit uint64 // bytes
	base  uint64 // what the child held before the call
}

const (
	watchEvery = 4 * time.Millisecond
	// tidyOver is how much a call may leave to the collector, in bytes.
	tidyOver = 32 << 20
)

func newGuard(limit int64) *guard {
	g := &guard{limit: uint64(limit)}
	// Collecting becomes the more diligent the nearer the limit is.
	debug.SetMemoryLimit(int64(held()) + limit)
	debug.SetGCPercent(200)
	limitData(limit)
	return g
}

// held is the memory of objects, dead ones that were not collected yet included, and of
// stacks, in bytes.
func held() (sum uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

// watch watches a call until the function that it answers is called.
func (g *guard) watch() (end func()) {
	stop, most := make(chan struct{}), g.base+g.limit
	t := time.AfterFunc(watchEvery, func() { watchUntil(stop, most) })
	return func() {
		t.Stop()
		close(stop)
	}
}

// watchUntil looks at the memory again and again.
func watchUntil(stop <-chan struct{}, most uint64) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if held() > most {
			os.Exit(exitMemory)
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// tidy gives back what a large call has left.
func (g *guard) tidy() {
	if held() > g.base+tidyOver {
		debug.FreeOSMemory()
		g.base = held() // programs that are kept
	}
}
