package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// secrets warns about names in environment.secrets that look like misspelled names of the definition. It is only a
// warning, because the process may have a variable with that name.
func secrets(p *plan.Plan) (ds tool.Diagnostics) {
	names, files := p.NamedInside()
	if files || len(p.EnvFiles) > 0 {
		return nil
	}
	for _, s := range p.Secrets {
		near := tool.Near(s.S, names)
		if slices.Contains(names, s.S) || len(near) == 0 {
			continue
		}
		ds = append(ds, tool.Diagnostic{Code: "unknown-secret", Severity: tool.Warning, Pos: s.Pos, Len: len(s.S),
			Message: fmt.Sprintf("the secret %s masks nothing: the tool has no parameter or variable with this name", s.S),
			Hint:    fmt.Sprintf("did you mean %s? A variable of the flowrun process is masked if it is set", near[0])})
	}
	return ds
}
