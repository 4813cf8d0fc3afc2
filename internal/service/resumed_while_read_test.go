package service_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// heldLists is a Store that lists open runs when the test lets it, so that a list can be old when the service gets it.
type heldLists struct {
	history.Store
	list, listed, use chan struct{} // a value for each list that may be made, was made, and may be used
	free              chan struct{} // closed to hold back nothing any more
}

func (h *heldLists) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	if !q.Open {
		return h.Store.Runs(ctx, q)
	}
	h.pass(h.list)
	list, err := h.Store.Runs(ctx, q)
	h.pass(h.listed)
	h.pass(h.use)
	return list, err
}

func (h *heldLists) pass(c chan struct{}) {
	select {
	case <-c:
	case <-h.free:
	}
}

// TestResumedWhileItIsRead checks that a service that reads a waiting run while another process resumes it does not
// keep what it has read: the run had no question at that time, and has one afterwards, under the same owner.
func TestResumedWhileItIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"gates": `
name: gates
steps:
  - {name: one, approve: {prompt: first}}
  - {name: between, bash: 'until test -e go; do sleep 0.01; done'}
  - {name: two, approve: {prompt: second, timeout: 2s, on-timeout: approve}}
`})
	b.onDisk()
	store := b.store.(*sqlite.Store)
	first := b.serve(another(store))
	id := b.start(first, service.Request{Tool: "gates", Origin: "api"})
	b.becomes(id, dag.Waiting)

	held := &heldLists{store, make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})}
	allow := func(steps ...chan struct{}) {
		for _, c := range steps {
			c <- struct{}{}
		}
	}
	go allow(held.list, held.listed, held.use) // by New
	b.serve(another(store), func(c *service.Config) { c.Store, c.Changes = held, nil })
	allow(held.list, held.listed)
	if err := first.Control.Answer(t.Context(), id, "", service.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	b.becomes(id, dag.Running)
	allow(held.use) // the list has a waiting run, but now it is running
	if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.becomes(id, dag.Waiting)
	stop(first) // nobody else approves it when its time is over
	close(held.free)
	b.becomes(id, dag.Succeeded)
}
