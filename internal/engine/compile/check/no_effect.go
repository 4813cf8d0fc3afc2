package check

import (
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// security warns about security settings that have no effect.
func security(p *plan.Plan) (ds tool.Diagnostics) {
	sec := p.Definition.Security
	warn := func(at tool.Pos, path, message, hint string) {
		ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: at, Path: path, Message: message, Hint: hint})
	}
	commands := slices.ContainsFunc(p.Steps, func(s *plan.Step) bool { return s.Command != nil })
	if sec.Isolation == "none" && commands {
		warn(sec.IsolationPos, "security.isolation", "isolation: none has the same effect as process", "write process, or remove the key")
	}
	if sec.Image != "" && sec.Isolation != "container" {
		warn(sec.ImagePos, "security.image", "security.image has no effect without a container", "add isolation: container")
	}
	for _, s := range p.Steps {
		if s.Def.Detach && sec.Isolation == "container" {
			warn(s.Def.Pos, "", "detach has no effect in a container: its processes end with the container", "remove detach")
		}
	}
	return ds
}

// filePaths warns about parameters with path: true that file-paths does not rewrite, and about file-paths that have nothing
// to rewrite.
func filePaths(def *tool.Definition) (ds tool.Diagnostics) {
	rewrites := def.FilePaths.Normalize || def.FilePaths.AutoConvert
	some := false
	for _, p := range def.Parameters {
		some = some || p.Path
		if p.Path && !rewrites {
			ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: p.Pos, Len: len(p.Name), Path: "parameters." + p.Name + ".path",
				Message: "path has no effect: file-paths of the tool does not rewrite paths",
				Hint:    "set file-paths.normalize or file-paths.cross-platform.auto-convert, or remove it"})
		}
	}
	if rewrites && !some {
		ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: def.FilePaths.Pos, Path: "file-paths",
			Message: "file-paths has no effect: it rewrites only parameters with path: true, and there are none",
			Hint:    "add path: true to parameters that are paths"})
	}
	return ds
}
