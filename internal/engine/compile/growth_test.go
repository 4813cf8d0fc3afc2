package compile_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestUnknownReferencesCost: what an unknown reference costs does not depend on the number of names.
func TestUnknownReferencesCost(t *testing.T) {
	dir := t.TempDir()
	for name, key := range map[string]string{
		"the same": "run: 'echo {prev_step.output}'", "others": "run: 'echo {other%d.output}'", "in scripts": "js: return steps.other%d.output",
	} {
		bytes := func(n int) float64 {
			var b strings.Builder
			b.WriteString("steps:\n")
			for i := range n {
				fmt.Fprintf(&b, "  - {name: s%d, %s}\n", i, strings.Replace(key, "%d", fmt.Sprint(i), 1))
			}
			file := define(t, dir, fmt.Sprint("many", n), b.String())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = compileIn(dir, file) // in a script, it is an error
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		if few, many := bytes(500), bytes(2000); many > 6*few {
			t.Errorf("%s: %.0f bytes for 500 steps, %.0f for 2000", name, few, many)
		}
	}
}
