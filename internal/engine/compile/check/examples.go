package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Examples warns about examples of parameters that the commands would reject because they begin with a dash: a
// caller who copies them would be refused.
func Examples(p *plan.Plan) (ds tool.Diagnostics) {
	for _, prm := range p.Params {
		for i, example := range prm.Def.Examples {
			if example.Text == nil || !strings.HasPrefix(example.Text.S, "-") {
				continue
			}
			if problem := call.RefusedOption(p, prm, example.Text.S); problem != nil {
				ds = append(ds, tool.Diagnostic{Code: "examples-refused", Severity: tool.Warning, Pos: example.Pos, Len: 1, Path: fmt.Sprintf("parameters.%s.examples[%d]", prm.Def.Name, i),
					Message: fmt.Sprintf("the example for %s would be rejected: %s", prm.Def.Name, problem.Message), Hint: problem.Hint})
			}
		}
	}
	return ds
}
