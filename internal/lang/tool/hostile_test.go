package tool

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

// TestHostileShapes decodes large texts that are cheap to write and, done
// carelessly, expensive to read. The bound is far over what any takes: it
// catches work that grows with the square of the file.
func TestHostileShapes(t *testing.T) {
	const n = 100_000
	for name, src := range map[string]string{
		"open brackets":      strings.Repeat("- [a\n", n),
		"nested braces":      strings.Repeat("{", n),
		"nested keys":        strings.Repeat("? ", n),
		"nested dashes":      strings.Repeat("- ", n),
		"comments":           strings.Repeat("# x\n", n) + "a: b\n",
		"colons":             strings.Repeat("a: b: c\n", n),
		"repaired commands":  start + "steps:\n" + strings.Repeat("  - bash: b: c\n", n/2),
		"quotes":             strings.Repeat("'", n),
		"quotes on lines":    strings.Repeat("\"\n", n),
		"anchors on a line":  "tags: [" + strings.Repeat("&a é,", n) + "]",
		"aliases":            "x: &a [1]\ny: [" + strings.Repeat("*a,", n) + "]",
		"merges":             "x: &a {b: 1}\ny: {<<: [" + strings.Repeat("*a,", n) + "]}",
		"long key":           strings.Repeat("k", n) + ": 1",
		"keys on a line":     "{" + strings.Repeat("a,", n) + "}",
		"block":              "bash: |\n" + strings.Repeat("  é x\n", n),
		"blank lines":        strings.Repeat("\n", 10*n) + "x",
		"open quote":         "bash: \"\n" + strings.Repeat(" b\n", n),
		"open list":          "bash: [\n" + strings.Repeat(" b,\n", n),
		"documents":          strings.Repeat("---\n", n),
		"holes":              start + "bash: " + strings.Repeat("{A} é ", n),
		"parameters":         start + "bash: x\nparameters:\n" + numbered("  p%d: {}\n", n/4),
		"unknown parameters": start + "bash: x\ntests:\n" + numbered("  - {name: a, parameters: {x%d: 1}}\n", n/4),
		"enum and examples":  start + "bash: x\nparameters:\n  A:\n    validation: {enum: [" + numbered("a%d,", n/2) + "]}\n    examples: [" + numbered("a%d,", n/2) + "]\n",
		"JSON escapes":       `{"bash": "` + strings.Repeat(`\/é`, n) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, found := DecodeDocument("t.yaml", []byte(src))
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("took %v", took)
			}
			diagnostictest.Check(t, []byte(src), found)
		})
	}
}
