package costtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history/sqlite"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/heaptest"
	"github.com/flowrun/flowrun/library"
)

// TestHeap counts the bytes of the heap that are in use for each step of a large definition: as long as there is its plan,
// and in addition at the end of a run of it, with the state of every step.
func TestHeap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates itself")
	}
	const layers, width = 10, 50
	file := filepath.Join(t.TempDir(), "layers.yaml")
	writeLayers(t, file, layers, width)
	got := counts{}
	for range rounds {
		dir := t.TempDir()
		store, err := sqlite.Open(context.Background(), dir)
		if err != nil {
			t.Fatal(err)
		}
		empty := heaptest.InUse()
		plan, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), file)
		if err != nil {
			t.Fatal(err)
		}
		compiled := heaptest.InUse()
		var ended int64
		atEnd := dag.SinkFunc(func(e dag.Event) {
			if e.Kind == dag.RunFinished {
				ended = heaptest.InUse()
			}
		})
		res, err := engine.New(engine.Config{Parallel: 4, Store: store, StateDir: dir}).Run(context.Background(), plan, nil, engine.WithSink(atEnd))
		if err != nil || res.Status != dag.Succeeded {
			t.Fatal(err, res)
		}
		runtime.KeepAlive(plan)
		got.add("a step of a plan, bytes", float64(compiled-empty)/(layers*width))
		got.add("a step of a run, bytes", float64(ended-compiled)/(layers*width))
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "heap", got)
}

// writeLayers writes a definition whose steps each wait for three of the layer before.
func writeLayers(t *testing.T, file string, layers, width int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("name: layers\ndescription: a workload\nsteps:\n")
	for l := range layers {
		for i := range width {
			fmt.Fprintf(&b, "  - name: n%d_%d\n    run: /bin/true\n", l, i)
			if l == 0 {
				b.WriteString("    parallel: true\n")
				continue
			}
			fmt.Fprintf(&b, "    wait-for: [n%d_%d, n%d_%d, n%d_%d]\n", l-1, i, l-1, (i+1)%width, l-1, (i+2)%width)
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
