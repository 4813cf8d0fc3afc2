package jsworld

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// guard ends the child when a call exceeds its memory limit. It samples the memory in use every
// few milliseconds. A single allocation that is far too large fails earlier, on systems where
// limitData sets a limit.
type guard struct {
	limit    uint64        // bytes
	baseline atomic.Uint64 // memory in use before the call

	mu     sync.Mutex    // held while a call ends and while the process exits because of one
	calls  atomic.Uint64 // number of calls that began plus those that ended: odd during a call
	paused atomic.Bool   // watch has paused and waits for wake
	wake   chan struct{}
}

const (
	sampleInterval = 4 * time.Millisecond
	// pauseAfterTicks is after how many ticks without a call the watching pauses.
	pauseAfterTicks = 25
	// freeAbove is how many bytes of garbage a call may leave to the normal garbage collection.
	freeAbove = 32 << 20
)

func newGuard(limit int64) *guard {
	g := &guard{limit: uint64(limit), wake: make(chan struct{}, 1)}
	// The collector works harder the closer the memory in use is to the limit.
	debug.SetMemoryLimit(int64(memoryInUse()) + limit)
	debug.SetGCPercent(200)
	limitData(limit)
	return g
}

// memoryInUse returns the bytes used by objects, including garbage that was not collected yet,
// and by stacks.
func memoryInUse() (sum uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

// begin marks the beginning of a call and resumes the watching.
func (g *guard) begin() {
	g.calls.Add(1)
	if g.paused.CompareAndSwap(true, false) {
		g.wake <- struct{}{}
	}
}

// end marks the end of a call. Its result may be sent only after end returned: a process that has
// sent a result is used for further calls, and must not exit because of that one.
func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls.Add(1)
}

// exceeded ends the process because a call exceeds the memory limit, unless that call has ended.
func (g *guard) exceeded(call uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls.Load() == call {
		os.Exit(ExitMemory)
	}
}

// watch samples the memory during calls and ends the process when a call exceeds the limit. It
// calls onLongCall on every tick for a call that was already running at the tick before. Between
// calls it continues for pauseAfterTicks ticks, because stopping and starting the ticker costs more
// than a short call.
func (g *guard) watch(onLongCall func()) {
	tick := time.NewTicker(sampleInterval)
	last, same := g.calls.Load(), 0
	for range tick.C {
		now := g.calls.Load()
		if now != last {
			last, same = now, 0
			continue // a call began or ended since the last tick
		}
		if now%2 == 1 {
			if memoryInUse() > g.baseline.Load()+g.limit {
				g.exceeded(now)
			}
			onLongCall()
			continue
		}
		if same++; same < pauseAfterTicks {
			continue
		}
		tick.Stop()
		g.paused.Store(true)
		if g.calls.Load() == now || !g.paused.CompareAndSwap(true, false) {
			<-g.wake
		}
		last, same = now, 0
		tick.Reset(sampleInterval)
	}
}

// freeMemory returns memory to the system after a large call.
func (g *guard) freeMemory() {
	if memoryInUse() > g.baseline.Load()+freeAbove {
		debug.FreeOSMemory()
		g.baseline.Store(memoryInUse()) // compiled programs stay in memory
	}
}
