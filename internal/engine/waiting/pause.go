package waiting

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// kindTime is the kind of a dag.Wait that only the time ends.
const kindTime = "time"

// Pause runs a wait step that waits for a time. The run records in its journal when the wait ends,
// so a restart does not begin it again.
type Pause struct {
	Span  time.Duration
	Until *expr.Template // nil: Span counts
}

// TimeHint says how to write a time.
const TimeHint = `write it as RFC 3339: "2026-03-01T09:00:00Z", or with an offset "2026-03-01T09:00:00+01:00"`

// ParseTime parses a time in RFC 3339.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("cannot wait until %q: it is not a time such as 2026-03-01T09:00:00Z", text)
	}
	return t, nil
}

// Describe returns what the step waits for, in words.
func (p Pause) Describe(show func(*expr.Template) string) string {
	if p.Until != nil {
		return "until " + show(p.Until)
	}
	return "for " + p.Span.String()
}

// WaitsFor returns the template of the time, and a function that checks it with the values of a call.
func (p Pause) WaitsFor() (*expr.Template, func(expr.Scope) error) {
	return p.Until, rendered(p.Until, func(text string) error { _, err := ParseTime(text); return err })
}

// rendered returns a function that checks what a template makes of values.
func rendered(t *expr.Template, check func(string) error) func(expr.Scope) error {
	return func(sc expr.Scope) error {
		text, err := t.Text(sc)
		if err != nil {
			return err
		}
		return check(text)
	}
}

// Run implements dag.Runner.
func (p Pause) Run(_ context.Context, c *dag.Call) (dag.Result, error) {
	now := time.Now()
	until := now.Add(p.Span)
	if p.Until != nil {
		a := call.FrameOf(c.Args())
		text, err := p.Until.Text(a.Scope(c.View))
		if err == nil {
			until, err = ParseTime(text)
		}
		if err != nil {
			return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Permanent: true,
				Message: a.Session().Mask().String(fmt.Sprintf("cannot wait: %v; %s", err, TimeHint))}, nil
		}
	}
	if !until.After(now) {
		return dag.Result{Status: dag.Succeeded}, nil
	}
	return dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: kindTime, Until: until}}, nil
}
