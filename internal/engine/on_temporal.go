package engine

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// shortestPause is the shortest pause that the timers of a Temporal service keep about exactly.
const shortestPause = time.Second

// temporalRule is what workers of Temporal cannot do for a step as a local run does it. It returns the end of a sentence that
// begins with the step, and what to do instead; "" if there is nothing.
type temporalRule func(s *plan.Step, pools map[string]history.Pool) (reason, hint string)

// temporalRules are all there are for steps.
var temporalRules = []temporalRule{
	func(s *plan.Step, _ map[string]history.Pool) (string, string) {
		if s.Def.Container == nil {
			return "", ""
		}
		return "has a container, which workers do not start", "use security.isolation: container, or run it with flowrun"
	},
	func(s *plan.Step, _ map[string]history.Pool) (string, string) {
		if r := s.Def.Repeat; r == nil || r.Timeout == 0 || r.Every >= shortestPause {
			return "", ""
		}
		return "repeats for a limited time with less than a second between two rounds, and would have fewer rounds", "use every: 1s, or max instead of timeout"
	},
	func(s *plan.Step, pools map[string]history.Pool) (string, string) {
		c := s.Claim
		if c == nil || c.Pool == "" {
			return "", ""
		}
		has, set := pools[c.Pool].Slots, "set pools."+c.Pool
		switch {
		case has > 0 && has < c.Slots:
			return fmt.Sprintf("wants %d slots of pool %s, which has %d in the settings", c.Slots, c.Pool, has), "use fewer slots, or raise pools." + c.Pool
		case has == 0 && c.Slots > 1:
			return fmt.Sprintf("wants %d slots of pool %s, and the settings do not say how many it has", c.Slots, c.Pool), set
		case has == 0 && c.Priority != 0:
			return fmt.Sprintf("has a priority, and the settings do not say how many slots pool %s has", c.Pool), set
		}
		return "", ""
	},
}

// NotOnTemporal reports everything of a plan that a run on Temporal could not carry out as a local run does. pools are those of
// the settings of who starts the run.
func NotOnTemporal(p *Plan, pools map[string]history.Pool) (found tool.Diagnostics) {
	add := func(pos tool.Pos, message, hint string) {
		found = append(found, tool.Diagnostic{Code: "not-on-temporal", Severity: tool.Error, Pos: pos, Message: message, Hint: hint})
	}
	if p.RunAttempts() > 1 {
		add(p.Definition.Pos, "the tool has retry-run, and workers do not retry runs", "use error-handling.retry in its steps, or run it with flowrun")
	}
	p.compiled.EachUsed(func(path string, s *plan.Step) {
		for _, rule := range temporalRules {
			if reason, hint := rule(s, pools); reason != "" {
				add(s.Def.Pos, fmt.Sprintf("step %s %s", path, reason), hint)
			}
		}
	})
	return found
}
