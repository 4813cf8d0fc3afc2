package flowrun

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// checkRuntime refuses what this machine or this version cannot run.
func (c *compiler) checkRuntime(def *tool.Definition) {
	if v := def.MinVersion; v != nil && newer(v.S, CompatibilityLevel) {
		c.errorf("min-version", *v, "update flowrun, or lower min-cycod-version",
			"tool %s needs version %s; this is compatibility level %s", def.Name, v.S, CompatibilityLevel)
	}
}

// CompatibilityLevel is what min-cycod-version is compared with (S1-013).
const CompatibilityLevel = "1.2.0"

// newer says whether version a is above b, number by number.
func newer(a, b string) bool {
	as, bs := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := part(as, i), part(bs, i)
		if x != y {
			return x > y
		}
	}
	return false
}

func part(list []string, i int) (n int) {
	if i < len(list) {
		fmt.Sscanf(list[i], "%d", &n)
	}
	return n
}
