package compile

import (
	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// declarations returns what a command or a script must write.
func declarations(list []*tool.DeclaredOutput) []stepfile.Declaration {
	var all []stepfile.Declaration
	for _, o := range list {
		all = append(all, stepfile.Declaration{Name: o.Name, Type: o.Type, Optional: o.Optional})
	}
	return all
}

// outputs compiles the values of the outputs of a tool or of a group of steps.
func (c *texts) outputs(list []*tool.DeclaredOutput, path string, n scope) (all []plan.Output) {
	for i, d := range declarations(list) {
		if t := c.template(list[i].Value, path+"."+d.Name, expr.Plain, n); t != nil {
			all = append(all, plan.Output{Declaration: d, Value: t})
		}
	}
	return all
}

// declaredOutputs returns the outputs that a step declares: its own, or those of the tool that it uses.
func (n names) declaredOutputs(s *tool.Step) []*tool.DeclaredOutput {
	use, ok := s.Body.(*tool.ToolUse)
	if !ok {
		return s.DeclaredOutputs()
	}
	if def := n.used(use); def != nil {
		return def.Outputs
	}
	return nil
}

// Outputs implements expr.Declarer. Outside of a loop, an output of its step is the list of the values of all items.
func (n names) Outputs(step string) map[string]string {
	for at := &n; at != nil; at = at.outer {
		s := at.steps[step]
		if s == nil {
			continue
		}
		types := map[string]string{}
		for _, o := range n.declaredOutputs(s) {
			if types[o.Name] = o.Type; s.Loop != nil {
				types[o.Name] = "array"
			}
		}
		return types
	}
	return nil
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
