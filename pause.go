package flowrun

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// waitsForTime is the kind of a dag.Wait that nobody can end.
const waitsForTime = "time"

// pause is what a step with wait does that waits for a time: it leaves that to the run,
// which keeps the moment in its journal, so that a restart does not begin it anew.
type pause struct {
	span  time.Duration
	until *expr.Template // nil: span counts
}

// wait compiles what a step waits for.
func (c *stepCompiler) wait() dag.Runner {
	w := c.step.Wait
	switch {
	case w.File != nil || w.HTTP != nil || w.Port != nil:
		return c.lookout(w)
	case w.Until == nil:
		return pause{span: w.For}
	}
	t := c.text(w.Until, "wait.until", expr.Plain, c.names)
	if t == nil {
		return nil
	}
	if t.Static() {
		text, err := t.Text(nil)
		if err == nil {
			_, err = moment(text)
		}
		if err != nil {
			c.report(tool.Diagnostic{Code: "bad-time", Severity: tool.Error, Pos: w.Until.Pos, Len: max(1, len([]rune(w.Until.S))), Path: c.key("wait.until"),
				Message: err.Error(), Hint: momentHint})
		}
	}
	return pause{until: t}
}

const momentHint = `write it as RFC 3339: "2026-03-01T09:00:00Z", or with an offset "2026-03-01T09:00:00+01:00"`

func moment(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("cannot wait until %q: it is not a time such as 2026-03-01T09:00:00Z", text)
	}
	return t, nil
}

// Describe says what the step waits for, in words.
func (p pause) Describe(show func(*expr.Template) string) string {
	if p.until != nil {
		return "until " + show(p.until)
	}
	return "for " + p.span.String()
}

// WaitsFor is the text that says what the step waits for, and a check of it.
func (p pause) WaitsFor() (*expr.Template, func(string) error) {
	return p.until, func(text string) error { _, err := moment(text); return err }
}

func (p pause) Run(_ context.Context, c *dag.Call) (dag.Result, error) {
	now := time.Now()
	until := now.Add(p.span)
	if p.until != nil {
		a := c.Args().(*callArgs)
		text, err := p.until.Text(a.Scope(c.View))
		if err == nil {
			until, err = moment(text)
		}
		if err != nil {
			return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Permanent: true,
				Message: a.Session().Mask().String(fmt.Sprintf("cannot wait: %v; %s", err, momentHint))}, nil
		}
	}
	if !until.After(now) {
		return dag.Result{Status: dag.Succeeded}, nil
	}
	return dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: waitsForTime, Until: until}}, nil
}
