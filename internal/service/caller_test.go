package service_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// TestCallerGone checks that a run which was interrupted together with the model's call
// that started it is left to people: the model may have called again.
func TestCallerGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, map[string]string{"job": "name: job\ntags: [read]\nbash: " + gate(dir, "b") + "\n"})
	state := b.onDisk()
	first := b.store.(*sqlite.Store)
	plan, err := engine.Compile(b.library(), "job")
	if err != nil {
		t.Fatal(err)
	}
	var over sync.WaitGroup
	for _, origin := range []string{"api", engine.OriginCall} {
		over.Go(func() {
			engine.New(engine.Config{Store: first, Grace: time.Second}).Run(context.Background(), plan, nil, engine.WithID("of-"+origin), engine.WithOrigin(origin))
		})
	}
	b.begun(dir, "b", 2)
	kill(t, first)
	b.let(dir, "b")
	over.Wait()
	killed(t, state)
	second := b.open(state)
	b.store = second
	b.serve(another(second))
	b.becomes("of-api", dag.Succeeded)
	b.becomes("of-call", dag.Interrupted)
	if n := b.log.count("run resumed after an interruption"); n != 1 {
		t.Errorf("%d runs were resumed\n%s", n, b.log)
	}
}
