package enginetest

import (
	"slices"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// TestPaths checks that the paths of a plan are those of the events of a run: of nested tools, loops, groups, handlers and
// cleanups.
func TestPaths(t *testing.T) {
	b := newBed(t)
	b.file("inner.yaml", "name: inner\ndescription: Inner\nsteps:\n  - {name: one, bash: 'true'}\n  - {name: two, bash: 'true'}\n")
	p := b.compile(`
steps:
  - {name: first, bash: 'true'}
  - {name: uses, use-tool: ./inner.yaml}
  - {name: loop, for-each: {items: [x, 'y/z']}, bash: 'true'}
  - {name: uses-each, for-each: {items: [x, y]}, use-tool: ./inner.yaml}
  - {name: skipped, run-condition: 'false', bash: 'true'}
  - {name: bad, bash: 'exit 1', continue-on-error: true, error-handling: {retry: {attempts: 2, delay: 1ms}}}
finally: [{name: tidy, bash: 'true'}]
on-failure: [{name: alarm, bash: 'true'}]
resources: {cleanup: [{final-command: 'true'}]}
`)
	seen := map[string]bool{}
	sink := dag.SinkFunc(func(e dag.Event) {
		if e.Node != "" {
			seen[string(e.Node.WithoutKeys())] = true
		}
	})
	if _, err := engine.New(b.config).Run(t.Context(), p, nil, engine.WithRunEnv(b.world), engine.WithSink(sink)); err != nil {
		t.Fatal(err)
	}
	paths := engine.Paths(p, 1000)
	for path := range seen {
		if !slices.Contains(paths, path) {
			t.Errorf("%s has events, but is not in %q", path, paths)
		}
	}
	for _, path := range paths {
		if !seen[path] {
			t.Errorf("%s has no events: %v", path, seen)
		}
	}
	if few := engine.Paths(p, 3); len(few) != 3 {
		t.Errorf("at most 3 are %q", few)
	}
}
