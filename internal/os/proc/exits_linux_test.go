package proc

import (
	"context"
	"os"
	"testing"
)

// Groups share one exitQueue, which lasts from the first start to the last Close.
func TestExitQueueIsShared(t *testing.T) {
	ctx := context.Background()
	a, b := Open("exits-a", 0), Open("exits-b", 0)
	start(t, a, "exits-a", "s", "true").Wait(ctx)
	p := start(t, b, "exits-b", "s", "exit 3")
	if a.exits == nil || a.exits != b.exits {
		t.Errorf("queues: %p, %p", a.exits, b.exits)
	}
	a.Close(ctx, 0)
	if e, err := p.Wait(ctx); err != nil || e.Code != 3 {
		t.Error(e, err)
	}
	b.Close(ctx, 0)
	if exits.queue != nil {
		t.Error("the queue is still open")
	}
}

// What starting a process and waiting for it allocates here, most of it for the system calls.
func TestAllocations(t *testing.T) {
	ctx := context.Background()
	g := Open("allocations", 0)
	defer g.Close(ctx, 0)
	null := devNull(t)
	spec := Spec{Path: "/bin/true", Args: []string{"true"}, Files: [3]*os.File{null, null, null}}
	n := testing.AllocsPerRun(20, func() {
		p, err := g.Start(spec)
		if err == nil {
			_, err = p.Wait(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v allocations", n)
	if n > 10 {
		t.Errorf("%v allocations, at most 10 are expected", n)
	}
}
