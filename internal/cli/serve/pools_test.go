package serve

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/observe/measure"
)

func TestPoolLoads(t *testing.T) {
	entry := func(held bool, demands ...flowrun.LockDemand) flowrun.QueueEntry {
		var e flowrun.QueueEntry
		e.Held, e.Demands = held, demands
		return e
	}
	gpu := flowrun.LockDemand{Kind: flowrun.DemandPool, Name: "gpu", Slots: 4}
	two := gpu
	two.Count = 2
	lock := flowrun.LockDemand{Kind: flowrun.DemandLock, Name: "gpu", Slots: 1}
	got := loadsOf(map[string]flowrun.Pool{"gpu": {Slots: 4}, "db": {Slots: 1}},
		flowrun.Queue{entry(true, gpu), entry(true, two, lock), entry(false, gpu), entry(false, lock)})
	want := []measure.Pool{{Name: "db", Slots: 1}, {Name: "gpu", Slots: 4, Used: 3, Waiting: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
