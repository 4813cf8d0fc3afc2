package compile

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// nested compiles the tool that a step uses.
func (c *compiler) nested(user *tool.Definition, s *plan.Step, outputRead bool) *plan.Plan {
	def := c.lookup(user, s.Def.Body.(*tool.ToolUse).Tool)
	if def == nil {
		return nil
	}
	p := c.tool(def, outputRead, s.Interrupt)
	if p == nil {
		return nil
	}
	c.Report(check.Use(user, s, p, len(c.Problems))...)
	return p
}

// lookup finds a tool that another definition names. It reports a tool that does not exist, and tools that use each
// other in a cycle or too deeply.
func (c *compiler) lookup(from *tool.Definition, name tool.Text) *tool.Definition {
	if name.S == "" {
		if name.Pos.Line > 0 { // otherwise the decoder has already reported it
			c.Errorf("unknown-tool", name, "write the name of a tool or the path of its file", "the name of the tool is empty")
		}
		return nil
	}
	def, ds, err := c.find(name.S, from)
	if err != nil {
		c.Report(check.UnknownTool(name, err))
		return nil
	}
	if i := slices.Index(c.chain, def.Name); i >= 0 {
		c.Errorf("recursion", name, "a tool cannot use itself, not even through other tools",
			"tools use each other in a cycle: %s", strings.Join(append(slices.Clone(c.chain[i:]), def.Name), " -> "))
		return nil
	}
	if len(c.chain) >= check.MaxNesting {
		c.Errorf("nesting", name, "merge some of the tools", "tools are nested deeper than %d: %s", check.MaxNesting, strings.Join(c.chain, " -> "))
		return nil
	}
	c.Report(ds...)
	if ds.Err() != nil {
		return nil
	}
	c.recordSource(name.S, tool.HolderOf(from), def)
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

// used returns the tool that a step uses, of an alias its base tool. It returns nil if there is none, which is reported when
// the tool is compiled.
func (c *compiler) used(from *tool.Definition, use *tool.ToolUse) *tool.Definition {
	name := use.Tool.S
	for range check.MaxNesting {
		def, _, err := c.find(name, from)
		if err != nil || !def.Alias {
			return def
		}
		name, from = def.BaseTool.S, def
	}
	return nil
}
