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
	limit  uint64 // bytes
	base   uint64 // what the child held before the call
	sample []metrics.Sample
}

const (
	watchEvery = 4 * time.Millisecond
	// tidyOver is how much a call may leave to the collector, in bytes.
	tidyOver = 32 << 20
)

func newGuard(limit int64) *guard {
	g := &guard{limit: uint64(limit), sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}}
	held := g.held()
	// Collecting becomes the more diligent the nearer the limit is.
	debug.SetMemoryLimit(int64(held) + limit)
	debug.SetGCPercent(200)
	limitData(limit)
	return g
}

// held is the memory of objects, dead ones that were not collected yet included, and of stacks.
func (g *guard) held() (sum uint64) {
	metrics.Read(g.sample)
	for _, s := range g.sample {
		sum += s.Value.Uint64()
	}
	return sum
}

// watch watches a call until the function that it answers is called.
func (g *guard) watch() (end func()) {
	stop := make(chan struct{})
	t := time.AfterFunc(watchEvery, func() { g.watchUntil(stop) })
	return func() {
		t.Stop()
		close(stop)
	}
}

// watchUntil looks at the memory again and again.
func (g *guard) watchUntil(stop <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	sample := *g
	sample.sample = []metrics.Sample{{Name: g.sample[0].Name}, {Name: g.sample[1].Name}}
	for {
		if sample.held() > g.base+g.limit {
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
	if g.held() > g.base+tidyOver {
		debug.FreeOSMemory()
		g.base = g.held() // programs that are kept
	}
}
