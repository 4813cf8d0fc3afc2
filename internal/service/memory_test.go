package service_test

import (
	"log/slog"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestMemoryLevels checks that a service keeps only the bounded feed of runs that have
// ended: once it is full, further runs take no more memory.
func TestMemoryLevels(t *testing.T) {
	sizetest.Need(t, sizetest.Gate, "compares the memory of a service after thousands of runs; TestFeedBounds and TestRecentBounds count what it keeps")
	b := newBench(t, map[string]string{"script": "name: script\nsteps:\n  - {name: one, js: 'return {text: params.WHO}'}\nparameters:\n  WHO: {type: string}\n"})
	store := b.open(t.TempDir())
	b.store = store
	scripts := hooks.New(hooks.Config{})
	t.Cleanup(func() { scripts.Close() })
	s := b.serve(func(c *service.Config) {
		c.Log = slog.New(slog.DiscardHandler) // the test's own keeps every line
		c.Engine = engine.New(engine.Config{Store: store, Grace: time.Second, JavaScript: scripts})
	})
	const atOnce = 20
	run := func(runs int) {
		for range runs / atOnce {
			var ids []string
			for range atOnce {
				ids = append(ids, b.start(s, service.Request{Tool: "script", Params: map[string]any{"WHO": "you"}}))
			}
			for _, id := range ids {
				b.becomes(id, dag.Succeeded)
			}
			waittest.Until(t, "end of all runs", func() bool { return s.Health().Running == 0 }, func() any { return s.Health() })
		}
	}
	// held is what is held after some runs more, in bytes: the least of some measurements, because on a busy machine
	// the last runs are still held until others take their places.
	held := func(runs int) int {
		run(runs)
		least := math.MaxInt
		for range sizetest.Of(6, 10, 10) {
			run(atOnce)
			runtime.GC()
			runtime.GC() // what the first one found to finalize
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			least = min(least, int(m.HeapAlloc))
		}
		return least
	}
	many := sizetest.Of(160, 300, 300)
	begun := held(many / 3) // what is made once has been made
	grown := held(many) - begun
	s.Feed.Limit(many) // less than the runs so far have reported
	const times = 5    // what leaks grows each time, what is only being moved does not
	full := held(many)
	level := (held(times*many) - full) / times
	t.Logf("%d runs take %d bytes while the row fills, and %d when it is full", many, grown, level)
	// grown may be small, even negative, if a collection of the first runs comes late. 512 bytes a
	// run are less than what any record of a run takes.
	if level > max(grown/2, many*512) {
		t.Error("they hold on to something for ever")
	}
}
