package compile

import (
	"slices"

	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// warnSecurity reports security settings that promise more than they do.
func (c *compiler) warnSecurity(p *plan.Plan) {
	sec := p.Definition.Security
	warn := func(at tool.Pos, path, message, hint string) {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: at, Path: path, Message: message, Hint: hint})
	}
	commands := slices.ContainsFunc(p.Steps, func(s *plan.Step) bool { return s.Command != nil })
	if sec.Isolation == "none" && commands {
		warn(sec.IsolationPos, "security.isolation", "isolation: none means the same as process for steps that start programs", "write process, or leave it out")
	}
	if sec.Image != "" && sec.Isolation != "container" {
		warn(sec.ImagePos, "security.image", "security.image has no effect without a container", "add isolation: container")
	}
	for _, s := range p.Steps {
		if s.Def.Detach && sec.Isolation == "container" {
			warn(s.Def.Pos, "", "detach has no effect in a container: what the step leaves there ends with it", "remove detach")
		}
	}
}
