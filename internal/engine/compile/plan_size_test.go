package compile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/library"
)

// TestPlanSize: a plan counts its steps with those of tools as often as they are used, and
// of loops as often as is known.
func TestPlanSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"leaf":   "bash: echo x",
		"twice":  "steps:\n  - {name: a, use-tool: leaf}\n  - {name: b, use-tool: leaf}",
		"list":   "steps:\n  - {name: a, for-each: {items: [x, y, z]}, bash: 'echo {item}'}",
		"matrix": "steps:\n  - {name: a, matrix: {os: [x, y], go: [1, 2, 3]}, use-tool: leaf}",
		"group":  "steps:\n  - name: g\n    for-each: {items: 1..4}\n    steps:\n      - {name: a, bash: echo x}\n      - {name: b, bash: echo x}",
		"later":  "steps:\n  - {name: l, bash: ls}\n  - {name: a, for-each: {items: '{l.output}'}, bash: 'echo {item}'}",
	} {
		define(t, dir, name, text)
	}
	for name, want := range map[string]int{"leaf": 1, "twice": 4, "list": 4, "matrix": 13, "group": 13, "later": 3} {
		for most, ok := range map[int]bool{want: true, want - 1: false} {
			if most == 0 {
				continue
			}
			plan, err := compile.Tool(library.New(library.Config{WorkingDirectory: dir, MaxPlanSteps: most}), "", filepath.Join(dir, name+".yaml"))
			switch {
			case ok && (err != nil || int(plan.Size) != want):
				t.Errorf("%s: %v, expected %d steps", name, err, want)
			case !ok && (err == nil || !strings.Contains(err.Error(), "steps, at most")):
				t.Errorf("%s with at most %d: %v", name, most, err)
			}
		}
	}
}
