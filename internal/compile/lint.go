package compile

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// neverTrue matches the condition that people write for recovery if they forget that a step is skipped when a step
// upstream of it has failed.
var neverTrue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{([^{}]+)\.exit-code\}\s*(!=|!==|>)\s*0\s*$`) })

// lint warns about conditions that cannot become true.
func (c *compiler) lint(p *plan.Plan) {
	if p.Definition.IgnoreErrors {
		return
	}
	tolerated := map[string]bool{}
	for _, s := range p.Steps {
		tolerated[s.Def.Name] = s.Def.ContinueOnError
	}
	for _, s := range p.Steps {
		if s.Def.RunCondition == nil || s.Handler != nil {
			continue
		}
		m := neverTrue().FindStringSubmatch(s.Def.RunCondition.S)
		if m == nil {
			continue
		}
		if t, known := tolerated[m[1]]; known && !t {
			c.report(tool.Diagnostic{Code: "never-runs", Severity: tool.Warning, Pos: s.Def.RunCondition.Pos, Len: len(m[0]),
				Message: fmt.Sprintf("step %s can never run: if %s fails, flowrun skips the steps that wait for it", s.Def.Name, m[1]),
				Hint:    fmt.Sprintf("add `continue-on-error: true` to %s, or write the condition as failure()", m[1])})
		}
	}
}
