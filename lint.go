package flowrun

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/flowrun/flowrun/tool"
)

// neverTrue is the condition people write for recovery when they forget that a
// failed step taints the next one.
var neverTrue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{([^{}]+)\.exit-code\}\s*(!=|!==|>)\s*0\s*$`) })

// lint warns of conditions that cannot become true.
func (c *compiler) lint(p *compiledPlan) {
	if p.Definition.IgnoreErrors {
		return
	}
	tolerated := map[string]bool{}
	for _, s := range p.steps {
		tolerated[s.def.Name] = s.def.ContinueOnError
	}
	for _, s := range p.steps {
		if s.def.RunCondition == nil || s.handler != nil {
			continue
		}
		m := neverTrue().FindStringSubmatch(s.def.RunCondition.S)
		if m == nil {
			continue
		}
		if t, known := tolerated[m[1]]; known && !t {
			c.report(tool.Diagnostic{Code: "never-runs", Severity: tool.Warning, Pos: s.def.RunCondition.Pos, Len: len(m[0]),
				Message: fmt.Sprintf("step %s can never run: when %s fails, what waits for it is skipped", s.def.Name, m[1]),
				Hint:    fmt.Sprintf("give %s `continue-on-error: true`, or write the condition as failure()", m[1])})
		}
	}
}
