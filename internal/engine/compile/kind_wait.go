package compile

import (
	"net"
	"net/url"
	"strings"

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
	s.Runner, s.NoOutput = c.wait(), true
}

// wait compiles the condition that a step waits for.
func (c *stepCompiler) wait() dag.Runner {
	w := c.step.Body.(*tool.Wait)
	switch {
	case w.File != nil || w.HTTP != nil || w.Port != nil:
		return c.poller(w)
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
			_, err = waiting.ParseTime(text)
		}
		if err != nil {
			c.report(tool.Diagnostic{Code: "bad-time", Severity: tool.Error, Pos: w.Until.Pos, Len: max(1, len([]rune(w.Until.S))), Path: c.key("wait.until"),
				Message: err.Error(), Hint: waiting.TimeHint})
		}
	}
	return waiting.Pause{Until: t}
}

// poller compiles a wait for a file, a port or a URL. Texts without placeholders are checked now.
func (c *stepCompiler) poller(w *tool.Wait) dag.Runner {
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
		t := c.text(one.at, one.key, expr.Plain, c.names)
		if t == nil {
			return nil
		}
		*one.to = t
		if !t.Static() {
			continue
		}
		text, err := t.Text(nil)
		if err == nil {
			err = one.check(text)
		}
		if err != nil {
			c.report(tool.Diagnostic{Code: "bad-address", Severity: tool.Error, Pos: one.at.Pos, Len: max(1, len([]rune(one.at.S))), Path: c.key(one.key), Message: err.Error()})
			continue
		}
		c.warnNotPermitted(*one.at, one.key, hostOf(l, text))
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

// warnNotPermitted warns about a host that the tool's permissions do not include, if the tool declares permissions.
func (c *stepCompiler) warnNotPermitted(at tool.Text, key, host string) {
	list := c.plan.Definition.Security.RequiredPermissions
	if host == "" || len(list) == 0 {
		return
	}
	for _, p := range list {
		parts := strings.SplitN(p.S, ":", 3)
		target := ""
		if len(parts) == 3 {
			target = strings.ToLower(parts[2])
		}
		name, wild := strings.CutPrefix(target, "*")
		switch host := strings.ToLower(host); {
		case strings.HasPrefix(parts[0], "{"), parts[0] == "network" && strings.Contains(p.S, "{"):
			return // unknown before the run
		case parts[0] != "network":
		case target == "", target == host, strings.HasPrefix(target, host+":"), wild && strings.HasSuffix(host, name):
			return
		}
	}
	c.report(tool.Diagnostic{Code: "not-permitted", Severity: tool.Warning, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: c.key(key),
		Message: "the step connects to " + host + ", but required-permissions does not list it",
		Hint:    "add network:external:" + host + " or network:local:" + host})
}
