package check

import (
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/version"
)

// CompatibilityLevel is the level that min-cycod-version is compared with.
const CompatibilityLevel = "1.2.0"

// versions reports a definition that needs a newer version of flowrun than release.
func versions(def *tool.Definition, release string) (ds tool.Diagnostics) {
	if v := def.MinVersion; v != nil && newer(v.S, CompatibilityLevel) {
		ds = append(ds, Errorf("min-version", *v, "update flowrun, or lower min-cycod-version",
			"tool %s needs version %s; this is compatibility level %s", def.Name, v.S, CompatibilityLevel))
	}
	if v := def.MinFlowrun; v != nil && newer(v.S, release) {
		ds = append(ds, Errorf("min-version", *v, "update flowrun, or lower min-flowrun-version",
			"tool %s needs flowrun %s; this is %s", def.Name, v.S, release))
	}
	return ds
}

// newer reports whether version a is later than b. It is false for invalid versions, which were reported before.
func newer(a, b string) bool {
	x, _, okA := version.Parse(a)
	y, _, okB := version.Parse(b)
	return okA && okB && x.Compare(y) > 0
}
