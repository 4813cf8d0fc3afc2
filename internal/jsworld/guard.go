package jsworld

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// guard ends a child that holds more memory than it may. What is held is asked for every
// few milliseconds; a single allocation that is far too large fails before that, by a
// limit of the system where there is one.
type guard struct {
	limit uint64        // bytes
	base  atomic.Uint64 // what the child held before the call

	calls atomic.Uint64 // that have begun or ended: odd while one is under way
	rests atomic.Bool   // watch waits for wake
	wake  chan struct{}
}

const (
	watchEvery = 4 * time.Millisecond
	// restAfter is for how many looks nothing may happen before the watching stops.
	restAfter = 25
	// tidyOver is how much a call may leave to the collector, in bytes.
	tidyOver = 32 << 20
)

func newGuard(limit int64) *guard {
	g := &guard{limit: uint64(limit), wake: make(chan struct{}, 1)}
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

// begin says that a call begins.
func (g *guard) begin() {
	g.calls.Add(1)
	if g.rests.CompareAndSwap(true, false) {
		g.wake <- struct{}{}
	}
}

// end says that the call has ended.
func (g *guard) end() { g.calls.Add(1) }

// watch looks at the memory of calls again and again, and tells of those that last. It
// goes on for a while when there are none: to begin and to end costs more than a call.
func (g *guard) watch(lasts func()) {
	tick := time.NewTicker(watchEvery)
	last, same := g.calls.Load(), 0
	for range tick.C {
		now := g.calls.Load()
		if now != last {
			last, same = now, 0
			continue // begun since the last look
		}
		if now%2 == 1 {
			if held() > g.base.Load()+g.limit {
				os.Exit(ExitMemory)
			}
			lasts()
			continue
		}
		if same++; same < restAfter {
			continue
		}
		tick.Stop()
		g.rests.Store(true)
		if g.calls.Load() == now || !g.rests.CompareAndSwap(true, false) {
			<-g.wake
		}
		last, same = now, 0
		tick.Reset(watchEvery)
	}
}

// tidy gives back what a large call has left.
func (g *guard) tidy() {
	if held() > g.base.Load()+tidyOver {
		debug.FreeOSMemory()
		g.base.Store(held()) // programs that are kept
	}
}
