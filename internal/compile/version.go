package compile

import (
	"runtime/debug"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/tool"
)

// CompatibilityLevel is what min-cycod-version is compared with (S1-013).
const CompatibilityLevel = "1.2.0"

// checkRuntime refuses what this version cannot run.
func (c *compiler) checkRuntime(def *tool.Definition) {
	if v := def.MinVersion; v != nil && newer(v.S, CompatibilityLevel) {
		c.errorf("min-version", *v, "update flowrun, or lower min-cycod-version",
			"tool %s needs version %s; this is compatibility level %s", def.Name, v.S, CompatibilityLevel)
	}
	own := c.release
	if own == "" {
		own = builtVersion()
	}
	if v := def.MinFlowrun; v != nil && own != "" && newer(v.S, own) {
		c.errorf("min-version", *v, "update flowrun, or lower min-flowrun-version",
			"tool %s needs flowrun %s; this is %s", def.Name, v.S, own)
	}
}

// newer says whether version a comes after b. What is no version is told where it was
// read.
func newer(a, b string) bool {
	x, _, okA := tool.ParseVersion(a)
	y, _, okB := tool.ParseVersion(b)
	return okA && okB && x.Compare(y) > 0
}

// builtVersion is the version of this module in the running program, "" for a build
// from a working copy.
var builtVersion = sync.OnceValue(func() string {
	const module = "github.com/flowrun/flowrun"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	version := ""
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			version = m.Version
		}
	}
	if strings.HasPrefix(version, "v0.0.0-") || version == "(devel)" { // a commit, which says nothing of releases
		return ""
	}
	return strings.TrimPrefix(version, "v")
})
