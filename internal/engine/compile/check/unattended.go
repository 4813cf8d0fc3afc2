package check

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// unattended warns about a tool that starts when nobody is there, by a schedule or an event, and whose steps nobody said may
// run twice. If the machine crashes in such a step, the run waits for a person.
func unattended(p *plan.Plan) tool.Diagnostics {
	d := tool.Diagnostic{Code: "unattended", Severity: tool.Warning, Len: 1}
	var what string
	switch {
	case len(p.Definition.Schedules) > 0:
		d.Pos, what = p.Definition.Schedules[0].Pos, "a schedule"
	case len(p.Definition.Triggers) > 0:
		d.Pos, what = p.Definition.Triggers[0].Pos, "an event"
	default:
		return nil
	}
	step := undecided(p)
	if step == "" {
		return nil
	}
	d.Message = fmt.Sprintf("%s starts the tool when nobody is there; if flowrun is killed in step %s, the run waits for a person", what, step)
	d.Hint = "if the steps may run twice, add 'idempotent: true'; otherwise decide with on-interrupt: retry, fail or ask"
	return tool.Diagnostics{d}
}

// undecided returns the path of a step about which a person is asked although no definition says so, "" if there is none.
func undecided(p *plan.Plan) string {
	if p.Definition.OnInterrupt != "" || p.Definition.Idempotent {
		return ""
	}
	for _, s := range p.Steps {
		switch {
		case s.Def.OnInterrupt != "" || s.Def.Idempotent != nil:
		case s.Nested != nil:
			if inner := undecided(s.Nested); inner != "" {
				return s.Def.Name + "/" + inner
			}
		case s.Interrupt == plan.AskWhenInterrupted:
			return s.Def.Name
		}
	}
	return ""
}
