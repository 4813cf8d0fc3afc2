package compile

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// lintSecrets warns of names in environment.secrets that look like misspelt ones of the
// definition. The process may have a variable of that name all the same.
func (c *compiler) lintSecrets(p *plan.Plan) {
	names, files := p.NamedInside()
	if files || len(p.EnvFiles) > 0 {
		return
	}
	for _, s := range p.Secrets {
		near := tool.Near(s.S, names)
		if slices.Contains(names, s.S) || len(near) == 0 {
			continue
		}
		c.report(tool.Diagnostic{Code: "unknown-secret", Severity: tool.Warning, Pos: s.Pos, Len: len(s.S),
			Message: fmt.Sprintf("the secret %s is no parameter and no variable of this tool, so nothing of the tool is hidden by it", s.S),
			Hint:    fmt.Sprintf("did you mean %s? A variable of the process is hidden where it is set", near[0])})
	}
}
