package compile

import (
	"github.com/flowrun/flowrun/tool"
)

// paths warns where file-paths rewrites nothing, and where there is nothing that
// rewrites a path.
func (c *compiler) paths(def *tool.Definition) {
	rewrites := def.FilePaths.Normalize || def.FilePaths.AutoConvert
	some := false
	for _, p := range def.Parameters {
		some = some || p.Path
		if p.Path && !rewrites {
			c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: p.Pos, Len: len(p.Name), Path: "parameters." + p.Name + ".path",
				Message: "path has no effect: the tool's file-paths rewrites no paths",
				Hint:    "set file-paths.normalize or file-paths.cross-platform.auto-convert, or remove it"})
		}
	}
	if rewrites && !some {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: def.FilePaths.Pos, Path: "file-paths",
			Message: "file-paths rewrites the values of parameters that are paths, and no parameter says that it is one",
			Hint:    "give such parameters path: true"})
	}
}
