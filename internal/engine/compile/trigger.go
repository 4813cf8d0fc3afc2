package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// checkTriggers checks the events that start the tool, and the parameters that the runs get. It checks nothing for a run
// that is resumed: nothing starts the recorded definition, and the record does not have the other tools.
func (c *compiler) checkTriggers(p *plan.Plan) {
	if c.lib.Live() != c.lib {
		return
	}
	for i, t := range p.Definition.Triggers {
		path := fmt.Sprintf("on[%d]", i)
		switch {
		case t.File != nil && t.File.Path != nil:
			c.checkTriggerPattern(*t.File.Path, path)
		case t.After != nil && t.After.Tool != nil:
			c.checkTriggerTool(p.Definition, *t.After.Tool, path)
		}
		c.checkStartParams(p, start{what: "an entry of on", code: "bad-trigger", at: t.Pos, path: path, params: t.Params, filled: true})
	}
}

func (c *compiler) badTrigger(at tool.Text, path, message, hint string) {
	c.report(tool.Diagnostic{Code: "bad-trigger", Severity: tool.Error, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: path, Message: message, Hint: hint})
}

func (c *compiler) checkTriggerPattern(pattern tool.Text, path string) {
	if _, _, err := cache.Base(pattern.S); err != nil {
		c.badTrigger(pattern, path+".file.path", fmt.Sprintf("invalid pattern %q: %v", pattern.S, err), "write a path, a folder or a pattern such as incoming/*.csv")
		return
	}
	const fixed = "write a fixed path; one that is not absolute is relative to the project, and for a tool of the user to the home directory"
	switch name := fixedBraces().FindString(pattern.S); {
	case name != "":
		c.badTrigger(pattern, path+".file.path", "placeholders such as "+name+" are not replaced in the path of an event", fixed)
	case strings.HasPrefix(pattern.S, "~"):
		c.badTrigger(pattern, path+".file.path", "~ is not replaced in the path of an event", fixed)
	}
}

// fixedBraces matches braces without a comma, which name a placeholder and not alternatives.
var fixedBraces = diagnostic.Pattern(`\{[A-Za-z_][A-Za-z0-9_.-]*\}`)

// checkTriggerTool checks that the tool of an after exists, and that the tools do not start each other without end.
func (c *compiler) checkTriggerTool(def *tool.Definition, name tool.Text, path string) {
	if name.S != def.Name {
		if _, _, err := c.find(name.S, def); err != nil {
			message, hint := lookupProblem(name.S, err)
			c.errorf("unknown-tool", name, hint, "%s", message)
			return
		}
	}
	if cycle := c.triggerCycle(def, name.S, []string{def.Name}); cycle != nil {
		c.badTrigger(name, path+".after.tool", "the tools start each other in a cycle, without end: "+strings.Join(cycle, " -> "), "remove one of these after entries; each arrow means: a run of the first starts the second")
	}
}

// triggerCycle returns the tools of a cycle of after entries from the tool def through name, in the order in which they
// start, or nil. seen are the tools on the way from def. Tools that cannot be read have no entries.
func (c *compiler) triggerCycle(def *tool.Definition, name string, seen []string) []string {
	if name == def.Name {
		cycle := append(slices.Clone(seen), name)
		slices.Reverse(cycle)
		return cycle
	}
	if slices.Contains(seen, name) || len(seen) > maxNesting {
		return nil // another cycle, which is reported where it is
	}
	next, _, err := c.find(name, def)
	if err != nil {
		return nil
	}
	for _, t := range next.Triggers {
		if t.After == nil || t.After.Tool == nil {
			continue
		}
		if cycle := c.triggerCycle(def, t.After.Tool.S, append(seen, name)); cycle != nil {
			return cycle
		}
	}
	return nil
}

// start is what starts a tool without a person, and the parameters that it gives.
type start struct {
	what   string // for messages: a schedule
	code   string // of diagnostics
	at     tool.Pos
	path   string
	params []tool.Entry
	filled bool // {trigger.NAME} in the parameters is replaced
}

// checkStartParams checks the parameters against those of the tool now, because nobody sees the error when the run
// starts. The final values of those with {trigger.NAME} are checked only then.
func (c *compiler) checkStartParams(p *plan.Plan, s start) {
	given := map[string]*tool.Entry{}
	var known []string
	for _, prm := range p.Params {
		known = append(known, prm.Def.Name)
	}
	for i := range s.params {
		e := &s.params[i]
		given[e.Key] = e
		if p.Secret(e.Key) {
			c.report(tool.Diagnostic{Code: s.code, Severity: tool.Error, Pos: e.Pos, Len: len([]rune(e.Key)), Path: s.path + ".params." + e.Key,
				Message: fmt.Sprintf("parameter %s is secret and cannot be set in %s", e.Key, s.what),
				Hint:    "let the tool fetch the value with environment.secrets"})
			return
		}
	}
	raw := map[string]call.Given{}
	for name, v := range p.Given(s.params) {
		raw[name] = call.Given{V: v}
	}
	err := call.Check(p, (&call.RunEnv{}).Filled(), raw)
	bad, _ := errors.AsType[*value.ParamsError](err)
	if bad == nil {
		return
	}
	for _, problem := range bad.Problems {
		e := given[problem.Parameter()]
		switch {
		case problem.Code == "unknown":
			c.unknownParameter(p.Definition, e, p.Definition, known, tool.Error)
		case problem.Code == "missing":
			c.report(tool.Diagnostic{Code: "missing-parameter", Severity: tool.Error, Pos: s.at, Len: 1, Path: s.path,
				Message: fmt.Sprintf("%s does not set the required parameter %s", the(s.what), problem.Name), Hint: fmt.Sprintf("add %s under params:", problem.Name)})
		case e != nil && !(s.filled && len(tool.TriggerPlaceholders(e.Value.Data())) > 0): // problems with a default may depend on the machine
			c.report(tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: e.Value.Pos, Len: 1, Path: s.path + ".params." + e.Key,
				Message: fmt.Sprintf("invalid value for parameter %s of tool %s: %s", e.Key, p.Name(), problem.Message), Hint: problem.Hint})
		}
	}
}

// the returns a noun with its article the in place of a or an.
func the(noun string) string {
	_, name, _ := strings.Cut(noun, " ")
	return "the " + name
}
