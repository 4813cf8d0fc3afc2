package serve

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/measure"
)

func TestPoolLoads(t *testing.T) {
	entry := func(held bool, demands ...history.LockDemand) history.QueueEntry {
		var e history.QueueEntry
		e.Held, e.Demands = held, demands
		return e
	}
	gpu := history.LockDemand{Kind: history.DemandPool, Name: "gpu", Slots: 4}
	two := gpu
	two.Count = 2
	lock := history.LockDemand{Kind: history.DemandLock, Name: "gpu", Slots: 1}
	got := loadsOf(map[string]history.Pool{"gpu": {Slots: 4}, "db": {Slots: 1}},
		history.Queue{entry(true, gpu), entry(true, two, lock), entry(false, gpu), entry(false, lock)})
	want := []measure.Pool{{Name: "db", Slots: 1}, {Name: "gpu", Slots: 4, Used: 3, Waiting: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
