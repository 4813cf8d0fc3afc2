package compile

import "github.com/flowrun/flowrun/tool"

// CompatibilityLevel is what min-cycod-version is compared with.
const CompatibilityLevel = "1.2.0"

// checkRuntime refuses what this version cannot run.
func (c *compiler) checkRuntime(def *tool.Definition) {
	if v := def.MinVersion; v != nil && newer(v.S, CompatibilityLevel) {
		c.errorf("min-version", *v, "update flowrun, or lower min-cycod-version",
			"tool %s needs version %s; this is compatibility level %s", def.Name, v.S, CompatibilityLevel)
	}
	if v := def.MinFlowrun; v != nil && c.release != "" && newer(v.S, c.release) {
		c.errorf("min-version", *v, "update flowrun, or lower min-flowrun-version",
			"tool %s needs flowrun %s; this is %s", def.Name, v.S, c.release)
	}
}

// newer says whether version a comes after b. What is no version is told where it was
// read.
func newer(a, b string) bool {
	x, _, okA := tool.ParseVersion(a)
	y, _, okB := tool.ParseVersion(b)
	return okA && okB && x.Compare(y) > 0
}
