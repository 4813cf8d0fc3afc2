package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// TestPlanNeeds checks that a plan takes the locks of all its tools, each once with the fewest slots, and one concurrent
// run of the outermost tool.
func TestPlanNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"inner.yaml": "name: inner\ndescription: d\nmax-active-runs: 5\nlocks: [{name: db, slots: 3}, disk]\nbash: echo\n",
		"base.yaml":  "name: base\ndescription: d\nmax-active-runs: 2\nlocks: [{name: db, slots: 4}]\nsteps:\n  - {name: a, use-tool: ./inner.yaml}\n  - {name: b, use-tool: ./inner.yaml}\n",
		"other.yaml": "name: other\ndescription: d\ntype: alias\nbase-tool: ./base.yaml\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	titles := func(file string) string {
		p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, n := range p.LockDemands() {
			words = append(words, n.Title())
		}
		return strings.Join(words, ", ")
	}
	const base = "one of 2 concurrent runs of base (max-active-runs), lock db (3 slots), lock disk"
	for file, want := range map[string]string{"base.yaml": base, "other.yaml": base,
		"inner.yaml": "one of 5 concurrent runs of inner (max-active-runs), lock db (3 slots), lock disk"} {
		if got := titles(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
