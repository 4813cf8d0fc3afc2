package check

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// neverTrue matches the condition that people write for recovery if they forget that a step is skipped when a step
// upstream of it has failed.
var neverTrue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{([^{}]+)\.exit-code\}\s*(!=|!==|>)\s*0\s*$`) })

// neverRuns warns about conditions that cannot become true: the step is skipped if the other one fails, and the exit code is
// 0 if it succeeds. A step that its own condition skips has no exit code, which is not 0, but is not more than 0 either.
func neverRuns(p *plan.Plan) (ds tool.Diagnostics) {
	byName := map[string]*plan.Step{}
	for _, s := range p.Steps {
		byName[s.Def.Name] = s
	}
	for _, s := range p.Steps {
		if s.Def.RunCondition == nil || s.Handler != nil {
			continue
		}
		m := neverTrue().FindStringSubmatch(s.Def.RunCondition.S)
		if m == nil {
			continue
		}
		up := byName[m[1]]
		if up == nil || up.Policy.Tolerate || up.Def.RunCondition != nil && m[2] != ">" {
			continue
		}
		ds = append(ds, tool.Diagnostic{Code: "never-runs", Severity: tool.Warning, Pos: s.Def.RunCondition.Pos, Len: len(m[0]),
			Message: fmt.Sprintf("step %s can never run: if %s fails, flowrun skips the steps that wait for it", s.Def.Name, m[1]),
			Hint:    fmt.Sprintf("add `continue-on-error: true` to %s, or write the condition as failure()", m[1])})
	}
	return ds
}
