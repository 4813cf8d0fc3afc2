package flowrun

import (
	"slices"

	"github.com/flowrun/flowrun/tool"
)

// base is what an alias stands for: the base tool with the alias's name,
// description, tags, timeout and default parameters (S1-165 to S1-167). Any other
// definition stands for itself.
func (c *compiler) base(def *tool.Definition) *tool.Definition {
	if !def.Alias {
		return def
	}
	b := c.lookup(def, def.BaseTool)
	if b == nil {
		return nil
	}
	c.chain = append(c.chain, b.Name)
	b = c.base(b)
	c.chain = c.chain[:len(c.chain)-1]
	if b == nil {
		return nil
	}
	merged := *b
	merged.Name = def.Name
	merged.StandsFor = append([]string{b.Name}, b.StandsFor...)
	if def.Description != "" {
		merged.Description = def.Description
	}
	if len(def.Tags) > 0 {
		merged.Tags = def.Tags
	}
	if def.Timeout > 0 {
		merged.Timeout = def.Timeout
	}
	merged.Deprecated, merged.DeprecatedMessage = def.Deprecated, def.DeprecatedMessage
	merged.Schedules = def.Schedules // the base tool's run the base tool
	merged.Parameters = c.aliasDefaults(def, b)
	return &merged
}

func (c *compiler) aliasDefaults(def, base *tool.Definition) []*tool.Parameter {
	list := slices.Clone(base.Parameters)
	var known []string
	for _, p := range list {
		known = append(known, p.Name)
	}
	for i := range def.DefaultParameters {
		e := &def.DefaultParameters[i]
		at := slices.Index(known, e.Key)
		if at < 0 {
			c.unknownParameter(def, e, base.Name, known, tool.Error)
			continue
		}
		p := *list[at]
		p.Default = &e.Value
		list[at] = &p
	}
	return list
}
