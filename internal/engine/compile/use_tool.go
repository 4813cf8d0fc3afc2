package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// nested compiles the tool that a step uses.
func (c *compiler) nested(user *tool.Definition, s *plan.Step, outputRead bool) *plan.Plan {
	use := s.Def.Body.(*tool.ToolUse)
	def := c.lookup(user, use.Tool)
	if def == nil {
		return nil
	}
	p := c.tool(def, outputRead, s.Interrupt)
	if p == nil {
		return nil
	}
	c.checkWith(user, use, p)
	c.checkArguments(use, s, p)
	c.checkDeprecated(use, p)
	return p
}

// lookup finds a tool that another definition names. It reports a tool that does not exist, and tools that use each
// other in a cycle or too deeply.
func (c *compiler) lookup(from *tool.Definition, name tool.Text) *tool.Definition {
	if name.S == "" {
		if name.Pos.Line > 0 { // otherwise the decoder has already reported it
			c.errorf("unknown-tool", name, "write the name of a tool or the path of its file", "the name of the tool is empty")
		}
		return nil
	}
	def, ds, err := c.find(name.S, from)
	if err != nil {
		message, hint := lookupProblem(name.S, err)
		c.errorf("unknown-tool", name, hint, "%s", message)
		return nil
	}
	if i := slices.Index(c.chain, def.Name); i >= 0 {
		c.errorf("recursion", name, "a tool cannot use itself, not even through other tools",
			"tools use each other in a cycle: %s", strings.Join(append(slices.Clone(c.chain[i:]), def.Name), " -> "))
		return nil
	}
	if len(c.chain) >= maxNesting {
		c.errorf("nesting", name, "merge some of the tools", "tools are nested deeper than %d: %s", maxNesting, strings.Join(c.chain, " -> "))
		return nil
	}
	c.problems = append(c.problems, ds...)
	if ds.Err() != nil {
		return nil
	}
	c.recordSource(name.S, from.File, def)
	return def
}

// find looks up a name and remembers what was found, see plan.Plan.Current.
func (c *compiler) find(name string, from *tool.Definition) (*tool.Definition, tool.Diagnostics, error) {
	def, ds, err := c.lib.Lookup(name, from)
	if err == nil {
		c.found[plan.Name{Name: name, From: from}] = def
	}
	return def, ds, err
}

// lookupProblem returns the message and the hint for a tool that cannot be used. A suggestion is only in the hint.
func lookupProblem(name string, err error) (message, hint string) {
	hint = "flowrun searches the folder of the file, then the tool folders of the project, the user and the machine; see flowrun docs tools"
	missing, ok := err.(*library.NotFoundError)
	if !ok {
		return fmt.Sprintf("cannot use tool %q: %v", name, err), hint
	}
	if len(missing.Near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", missing.Near[0])
	}
	plain := *missing
	plain.Near = nil
	return plain.Error(), hint
}

// checkWith checks the names under with against the tool's parameters.
func (c *compiler) checkWith(user *tool.Definition, use *tool.ToolUse, p *plan.Plan) {
	given := map[string]bool{}
	key := "with"
	if user.Format == tool.Markdown {
		key = "parameters"
	}
	var known []string
	for _, prm := range p.Params {
		known = append(known, prm.Def.Name)
	}
	for i := range use.With {
		w := &use.With[i]
		given[w.Key] = true
		switch {
		case slices.Contains(known, w.Key):
		case p.AcceptsUndeclared(w.Key):
			c.unknownParameter(user, w, p.Definition, known, tool.Warning)
		default:
			c.unknownParameter(user, w, p.Definition, known, tool.Error)
		}
	}
	for _, prm := range p.Params {
		if prm.Def.Required && prm.Def.Default == nil && !given[prm.Def.Name] && use.WithAll == nil {
			subject, replace := usedTool(p.Definition)
			c.errorf("missing-parameter", use.Tool, fmt.Sprintf("add %s under %s:%s", prm.Def.Name, key, replace),
				"%s needs parameter %s", subject, prm.Def.Name)
		}
	}
}

// usedTool returns the subject of a message about a tool that a step uses. For a built-in tool, which the author may
// not have meant, replace continues the hint.
func usedTool(def *tool.Definition) (subject, replace string) {
	if def.Scope != tool.ScopeBuiltin {
		return "tool " + def.Name, ""
	}
	return "the built-in tool " + def.Name, fmt.Sprintf(" (a tool named %s in the project takes the place of the built-in one)", def.Name)
}

// unknownParameter reports a value, in the definition user, for a parameter that the used tool does not have.
func (c *compiler) unknownParameter(user *tool.Definition, e *tool.Entry, used *tool.Definition, known []string, s tool.Severity) {
	subject, replace := usedTool(used)
	d := tool.Diagnostic{Code: "unknown-parameter", Severity: s, Pos: e.Pos, Len: len([]rune(e.Key)),
		Message: fmt.Sprintf("%s has no parameter %q", subject, e.Key), Hint: fmt.Sprintf("%s has no parameters", subject)}
	if len(known) > 0 {
		d.Hint = "known parameters: " + strings.Join(known, ", ") + replace
	}
	near := tool.Near(e.Key, known)
	if len(near) > 0 {
		d.Hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	if len(near) == 1 && len(c.problems) < tool.MaxDiagnostics { // Rename indexes the file again, so limit how often
		d.Fix = user.Rename(e.Pos, e.Key, near[0])
	}
	c.report(d)
}
