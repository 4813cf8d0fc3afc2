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
	for name, reference := range map[string]string{"the same": "{prev_step.output}", "others": "{other%d.output}"} {
		bytes := func(n int) float64 {
			var b strings.Builder
			b.WriteString("steps:\n")
			for i := range n {
				fmt.Fprintf(&b, "  - {name: s%d, run: 'echo %s'}\n", i, strings.Replace(reference, "%d", fmt.Sprint(i), 1))
			}
			file := define(t, dir, fmt.Sprint("many", n), b.String())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := compileIn(dir, file); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		if few, many := bytes(500), bytes(2000); many > 6*few {
			t.Errorf("%s: %.0f bytes for 500 steps, %.0f for 2000", name, few, many)
		}
	}
}
