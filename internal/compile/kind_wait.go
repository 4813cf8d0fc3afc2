package compile

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/waiting"
	"github.com/flowrun/flowrun/tool"
)

// wait compiles what a step waits for.
func (c *stepCompiler) wait() dag.Runner {
	w := c.step.Wait
	switch {
	case w.File != nil || w.HTTP != nil || w.Port != nil:
		return c.lookout(w)
	case w.Until == nil:
		return waiting.Pause{Span: w.For}
	}
	t := c.text(w.Until, "wait.until", expr.Plain, c.names)
	if t == nil {
		return nil
	}
	if t.Static() {
		text, err := t.Text(nil)
		if err == nil {
			_, err = waiting.Moment(text)
		}
		if err != nil {
			c.report(tool.Diagnostic{Code: "bad-time", Severity: tool.Error, Pos: w.Until.Pos, Len: max(1, len([]rune(w.Until.S))), Path: c.key("wait.until"),
				Message: err.Error(), Hint: waiting.MomentHint})
		}
	}
	return waiting.Pause{Until: t}
}
