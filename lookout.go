package flowrun

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// lookout is what a step with wait does that looks for something outside.
type lookout struct{ *steps.Lookout }

// lookout compiles it. What stands there without holes is judged now.
func (c *stepCompiler) lookout(w *tool.Wait) dag.Runner {
	l := &steps.Lookout{Status: w.Status, Interval: w.Interval}
	for _, one := range []struct {
		at    *tool.Text
		key   string
		to    **expr.Template
		check func(string) error
	}{
		{w.File, "wait.file", &l.File, fileNamed},
		{w.Port, "wait.port", &l.Port, steps.CheckPort},
		{w.HTTP, "wait.http", &l.URL, func(s string) error { _, err := steps.CheckURL(s); return err }},
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
		c.permitted(*one.at, one.key, hostOf(l, text))
	}
	return lookout{l}
}

func fileNamed(path string) error {
	if path == "" {
		return errors.New("the path of the file to wait for is empty")
	}
	return nil
}

// hostOf is the host that is asked, "" for none.
func hostOf(l *steps.Lookout, text string) string {
	switch {
	case l.Port != nil:
		host, _, _ := net.SplitHostPort(text) // it was checked
		return host
	case l.URL != nil:
		u, _ := url.Parse(text) // it was checked
		return u.Hostname()
	}
	return ""
}

// permitted warns of a host that is asked and is none of the tool's permissions, where it
// has some.
func (c *stepCompiler) permitted(at tool.Text, key, host string) {
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
			return // who knows
		case parts[0] != "network":
		case target == "", target == host, strings.HasPrefix(target, host+":"), wild && strings.HasSuffix(host, name):
			return
		}
	}
	c.report(tool.Diagnostic{Code: "not-permitted", Severity: tool.Warning, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: c.key(key),
		Message: "the step asks " + host + ", which is none of the tool's required-permissions",
		Hint:    "add network:external:" + host + " or network:local:" + host})
}

// Describe says what the step waits for, in words.
func (l lookout) Describe(show func(*expr.Template) string) string {
	switch {
	case l.File != nil:
		return "for file " + show(l.File)
	case l.Port != nil:
		return "for port " + show(l.Port)
	}
	return "for " + show(l.URL)
}

// WaitsFor is the text that says what the step waits for, and a check of it.
func (l lookout) WaitsFor() (*expr.Template, func(string) error) {
	switch {
	case l.File != nil:
		return l.File, fileNamed
	case l.Port != nil:
		return l.Port, steps.CheckPort
	}
	return l.URL, func(text string) error { _, err := steps.CheckURL(text); return err }
}
