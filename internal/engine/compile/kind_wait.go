package compile

import (
	"net"
	"net/url"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/requesturl"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// waitKind compiles steps that wait for a time, a file, a URL or a port.
type waitKind struct{}

func (waitKind) traits() traits { return traits{waits: true} }

func (waitKind) compile(c *stepCompiler, s *plan.Step) {
	c.reportInertKeys("a step that waits", "move it to a step with a command")
	s.Runner, s.NoOutput = waitRunner(c.stepTexts), true
}

// wait compiles the condition that a step waits for.
func waitRunner(c *stepTexts) dag.Runner {
	w := c.step.Body.(*tool.Wait)
	switch {
	case w.File != nil || w.HTTP != nil || w.Port != nil:
		return poller(c, w)
	case w.Until == nil:
		return waiting.Pause{Span: w.For}
	}
	t := c.text(w.Until, "wait.until", expr.Plain)
	if t == nil {
		return nil
	}
	err := checkKnown(t, func(text string) error { _, err := waiting.ParseTime(text); return err })
	if err != nil {
		c.problem(*w.Until, "wait.until", "bad-time", tool.Error, err.Error(), waiting.TimeHint)
	}
	return waiting.Pause{Until: t}
}

// poller compiles a wait for a file, a port or a URL. Texts without placeholders are checked now.
func poller(c *stepTexts, w *tool.Wait) dag.Runner {
	l := &steps.Poller{Status: w.Status, Interval: w.Interval}
	for _, one := range []struct {
		at    *tool.Text
		key   string
		to    **expr.Template
		check func(string) error
	}{
		{w.File, "wait.file", &l.File, waiting.CheckFile},
		{w.Port, "wait.port", &l.Port, steps.CheckPort},
		{w.HTTP, "wait.http", &l.URL, func(s string) error { _, err := requesturl.Parse(s); return err }},
	} {
		if one.at == nil {
			continue
		}
		t := c.text(one.at, one.key, expr.Plain)
		if t == nil {
			return nil
		}
		*one.to = t
		if err := checkKnown(t, one.check); err != nil {
			c.problem(*one.at, one.key, "bad-address", tool.Error, err.Error(), "")
		} else if t.Static() {
			text, _ := t.Text(nil)
			warnNotPermitted(c, *one.at, one.key, hostOf(l, text))
		}
	}
	return waiting.Poller{Poller: l}
}

// hostOf returns the host that the step connects to, or "".
func hostOf(l *steps.Poller, text string) string {
	switch {
	case l.Port != nil:
		host, _, _ := net.SplitHostPort(text) // checked before
		return host
	case l.URL != nil:
		u, _ := url.Parse(text) // checked before
		return u.Hostname()
	}
	return ""
}
