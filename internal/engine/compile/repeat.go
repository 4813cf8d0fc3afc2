package compile

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// repeat compiles repeat. Its condition can refer to the step itself: to its last round.
func repeat(c *stepTexts, s *plan.Step, t traits) {
	r := c.step.Repeat
	if r == nil {
		return
	}
	refuse := func(at tool.Pos, key, message, hint string) {
		c.Report(tool.Diagnostic{Code: "bad-repeat", Severity: tool.Error, Pos: at, Path: c.key(key), Message: message, Hint: hint})
	}
	switch {
	case t.waits || t.endedByPerson:
		refuse(r.Pos, "repeat", fmt.Sprintf("step %s cannot repeat: a step that waits runs once", c.step.Name), "wait: checks again and again by itself; see flowrun docs steps")
	case c.step.Cache != nil:
		refuse(r.Pos, "repeat", fmt.Sprintf("step %s cannot have cache and repeat: a cached result would be the same in every round", c.step.Name), "remove one of the two")
	}
	key, text := r.Condition()
	if text == nil { // the decoder has already reported it
		return
	}
	s.RepeatUntil = c.Condition(text, c.key("repeat."+key), c.names)
	if s.RepeatUntil == nil {
		return
	}
	var own, others []expr.Ref
	for _, ref := range s.RepeatUntil.Refs() {
		if ref.Class == expr.Step && ref.Root == c.step.Name {
			own = append(own, ref)
		} else {
			others = append(others, ref)
		}
	}
	c.addReferences(*text, others)
	switch {
	case s.RepeatUntil.Uses() != expr.UsesNone:
		refuse(text.Pos, "repeat."+key, "success(), failure(), always() and cancelled() say nothing about a round", fmt.Sprintf("refer to {%s.status} or {%[1]s.exit-code}", c.step.Name))
	case len(own) == 0:
		refuse(text.Pos, "repeat."+key, "the condition can never change: it does not refer to the step itself", fmt.Sprintf("refer to a result of the round, such as {%s.output} or {%[1]s.exit-code}", c.step.Name))
	}
	asksOutcome := slices.ContainsFunc(own, func(ref expr.Ref) bool {
		return ref.Path[0].Field == "status" || ref.Path[0].Field == "exit-code"
	})
	s.Policy.Repeat = &dag.Repeat{Max: r.Max, Timeout: r.Timeout, Failures: asksOutcome,
		Backoff: dag.Backoff{Delay: r.Every, Growth: growth[r.Backoff], Max: r.MaxDelay, Jitter: r.Jitter == "full"},
		Done:    func(v dag.View, res *dag.Result) (bool, error) { return graph.LastRound(s, v, res) }}
}
