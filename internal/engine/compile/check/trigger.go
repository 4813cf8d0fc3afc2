package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// lookup finds the tool that a definition names.
type lookup = func(name string, from *tool.Definition) (*tool.Definition, tool.Diagnostics, error)

// Triggers checks the events that start the tool, and the parameters that the runs get. find finds the tools that the
// events name.
func Triggers(p *plan.Plan, find lookup) (ds tool.Diagnostics) {
	for i, t := range p.Definition.Triggers {
		path := fmt.Sprintf("on[%d]", i)
		switch {
		case t.File != nil && t.File.Path != nil:
			ds = append(ds, triggerPattern(*t.File.Path, path)...)
		case t.After != nil && t.After.Tool != nil:
			ds = append(ds, triggerTool(p.Definition, *t.After.Tool, path, find)...)
		}
		ds = append(ds, startParams(p, start{a: "an entry of on", name: "the entry of on", code: "bad-trigger", at: t.Pos, path: path, params: t.Params, placeholders: tool.TriggerPlaceholders, before: len(ds)})...)
	}
	return ds
}

func triggerPattern(pattern tool.Text, path string) tool.Diagnostics {
	if _, _, err := cache.Base(pattern.S); err != nil {
		return tool.Diagnostics{errorAt("bad-trigger", pattern, path+".file.path", fmt.Sprintf("invalid pattern %q: %v", pattern.S, err), "write a path, a folder or a pattern such as incoming/*.csv")}
	}
	const fixed = "write a fixed path; one that is not absolute is relative to the project, and for a tool of the user to the home directory"
	switch name := fixedBraces().FindString(pattern.S); {
	case name != "":
		return tool.Diagnostics{errorAt("bad-trigger", pattern, path+".file.path", "placeholders such as "+name+" are not replaced in the path of an event", fixed)}
	case strings.HasPrefix(pattern.S, "~"):
		return tool.Diagnostics{errorAt("bad-trigger", pattern, path+".file.path", "~ is not replaced in the path of an event", fixed)}
	}
	return nil
}

// fixedBraces matches braces without a comma, which name a placeholder and not alternatives.
var fixedBraces = diagnostic.Pattern(`\{[A-Za-z_][A-Za-z0-9_.-]*\}`)

// triggerTool checks that the tool of an after exists, and that the tools do not start each other without end.
func triggerTool(def *tool.Definition, name tool.Text, path string, find lookup) tool.Diagnostics {
	if name.S != def.Name {
		if _, _, err := find(name.S, def); err != nil {
			return tool.Diagnostics{UnknownTool(name, err)}
		}
	}
	if cycle := triggerCycle(def, name.S, []string{def.Name}, find); cycle != nil {
		return tool.Diagnostics{errorAt("bad-trigger", name, path+".after.tool", "the tools start each other in a cycle, without end: "+strings.Join(cycle, " -> "), "remove one of these after entries; each arrow means: a run of the first starts the second")}
	}
	return nil
}

// triggerCycle returns the tools of a cycle of after entries from the tool def through name, in the order in which they
// start, or nil. seen are the tools on the way from def. Tools that cannot be read have no entries.
func triggerCycle(def *tool.Definition, name string, seen []string, find lookup) []string {
	if name == def.Name {
		cycle := append(slices.Clone(seen), name)
		slices.Reverse(cycle)
		return cycle
	}
	if slices.Contains(seen, name) || len(seen) > MaxNesting {
		return nil // another cycle, which is reported where it is
	}
	next, _, err := find(name, def)
	if err != nil {
		return nil
	}
	for _, t := range next.Triggers {
		if t.After == nil || t.After.Tool == nil {
			continue
		}
		if cycle := triggerCycle(def, t.After.Tool.S, append(seen, name), find); cycle != nil {
			return cycle
		}
	}
	return nil
}
