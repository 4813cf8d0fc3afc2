package recorded

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// countedDefinitions counts how many runs are loaded.
type countedDefinitions struct {
	lib   *library.Library
	loads int
}

func (d *countedDefinitions) Library() *library.Library { return d.lib }
func (d *countedDefinitions) Compiled(string) []*engine.Plan {
	d.loads++
	return nil
}

// TestRecentBounds checks that the runs which are kept are bounded in bytes, that those which were
// read last are kept, and that none is kept for long.
func TestRecentBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "one.yaml")
	if err := os.WriteFile(file, []byte("name: one\nsteps:\n  - {name: a, bash: 'true'}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir, Getenv: func(string) string { return "" }})
	plan, err := engine.Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	store := history.NewMemory()
	eng := engine.New(engine.Config{Store: store})
	definitions := &countedDefinitions{lib: lib}
	c := New(store, definitions)
	const runs = 12
	for i := range runs {
		if _, err := eng.Run(t.Context(), plan, nil, engine.WithID(fmt.Sprint("run", i))); err != nil {
			t.Fatal(err)
		}
	}
	read := func(i int) {
		t.Helper()
		if _, err := c.RecordedRun(t.Context(), fmt.Sprint("run", i)); err != nil {
			t.Fatal(err)
		}
	}
	read(0)
	c.max = 4 * c.bytes // all runs are alike
	for i := range runs {
		read(i)
		read(0) // the page of this one stays open
	}
	if len(c.runs) != 4 || c.bytes > c.max || definitions.loads != runs || c.runs["run0"] == nil {
		t.Errorf("%d runs of %d bytes are kept, %d were loaded", len(c.runs), c.bytes, definitions.loads)
	}
	c.max = c.bytes/4 - 1 // less than one
	read(1)
	if len(c.runs) != 0 || c.bytes != 0 {
		t.Errorf("%d runs of %d bytes are kept", len(c.runs), c.bytes)
	}
	c.max = maxRecentBytes
	read(2)
	c.RemoveUnused(time.Now())
	if len(c.runs) != 1 {
		t.Errorf("%d runs are kept", len(c.runs))
	}
	c.RemoveUnused(time.Now().Add(maxRecentAge + time.Second))
	if len(c.runs) != 0 || c.bytes != 0 {
		t.Errorf("%d runs of %d bytes are kept", len(c.runs), c.bytes)
	}
}
