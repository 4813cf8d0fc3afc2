package compile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// resolveAlias returns the definition that an alias runs: its base tool with the few keys of the alias that override it
// (see docs/reference/aliases.md). Any other definition is returned unchanged. It returns nil if the base tool cannot be found.
func (c *compiler) resolveAlias(def *tool.Definition) *tool.Definition {
	if !def.Alias {
		return def
	}
	b := c.lookup(def, def.BaseTool)
	if b == nil {
		return nil
	}
	c.chain = append(c.chain, b.Name)
	b = c.resolveAlias(b)
	c.chain = c.chain[:len(c.chain)-1]
	if b == nil {
		return nil
	}
	merged := *b
	merged.Name = def.Name
	merged.AliasOf = append([]string{b.Name}, b.AliasOf...)
	merged.MadeOf = append([]*tool.Definition{def}, b.MadeOf...)
	if len(b.MadeOf) == 0 {
		merged.MadeOf = append(merged.MadeOf, b)
	}
	if def.Description != "" {
		merged.Description = def.Description
	}
	if len(def.Tags) > 0 {
		merged.Tags = def.Tags
	}
	if def.Timeout > 0 {
		merged.Timeout = def.Timeout
	}
	merged.Version = cmp.Or(def.Version, b.Version)
	merged.Security = c.aliasSecurity(def, b)
	merged.Deprecated, merged.DeprecatedMessage = def.Deprecated, def.DeprecatedMessage
	merged.Schedules = def.Schedules // schedules of the base tool start the base tool, not the alias
	merged.Triggers = def.Triggers
	merged.Parameters = c.aliasDefaults(def, b)
	return &merged
}

// aliasSecurity returns the base tool's security with the stricter settings of the alias.
func (c *compiler) aliasSecurity(def, base *tool.Definition) tool.Security {
	own, merged := def.Security, base.Security
	weaker := func(key, value, than string) {
		c.Report(tool.Diagnostic{Code: "alias-weaker", Severity: tool.Error, Pos: def.BaseTool.Pos, Len: len([]rune(def.BaseTool.S)), Path: "security." + key,
			Message: fmt.Sprintf("the alias has %s: %s, but its base tool %s has %s", key, value, base.Name, than),
			Hint:    "an alias can only be stricter than its base tool: remove " + key + " from the alias, or change the base tool"})
	}
	const same = "same-as-user"
	is, was := cmp.Or(own.ExecutionPrivilege, same), cmp.Or(merged.ExecutionPrivilege, same)
	switch {
	case own.ExecutionPrivilege == "" || is == was:
	case was != same: // an alias of a reduced tool would get rights back, one of an elevated tool would avoid the approval
		weaker("execution-privilege", is, was)
	default:
		merged.ExecutionPrivilege = is
	}
	switch {
	case own.Isolation == "" && own.Image == "":
	case merged.Isolation == "container":
		if own.Isolation != "container" || own.Image != "" && own.Image != cmp.Or(merged.Image, tool.DefaultImage) {
			weaker("isolation", cmp.Or(own.Isolation, own.Image), "container")
		}
	default:
		merged.Isolation, merged.IsolationPos, merged.Image, merged.ImagePos = cmp.Or(own.Isolation, merged.Isolation), own.IsolationPos, own.Image, own.ImagePos
	}
	if own.Enforce {
		merged.Enforce, merged.EnforcePos = true, own.EnforcePos
	}
	merged.Justification = cmp.Or(own.Justification, merged.Justification)
	return merged
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
			c.Report(check.UnknownParameter(def, e, base, known, tool.Error, len(c.Problems) < diagnostic.MaxDiagnostics))
			continue
		}
		p := *list[at]
		given := p.Takes(e.Value)
		p.Default = &given
		list[at] = &p
	}
	return list
}
