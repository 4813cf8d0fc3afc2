package plan

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Permission is a compiled entry of required-permissions.
type Permission struct {
	Written string
	Text    *expr.Template
}

// UsedTool is a tool that a plan runs.
type UsedTool struct {
	Path       string // of the first step that uses it; "" for the plan's own
	Definition *tool.Definition
}

// Tools returns the plan's tool and the tools it uses inside, each once, the outer ones first.
func (p *Plan) Tools() []UsedTool {
	var list []UsedTool
	seen := map[*tool.Definition]bool{}
	visited := map[*Plan]bool{}
	var visit func(p *Plan, path string)
	visit = func(p *Plan, path string) {
		if visited[p] {
			return
		}
		visited[p] = true
		if !p.Group && !seen[p.Definition] {
			seen[p.Definition] = true
			list = append(list, UsedTool{strings.TrimSuffix(path, "/"), p.Definition})
		}
		for _, s := range p.Steps {
			if s.Nested != nil {
				visit(s.Nested, path+s.Def.Name+"/")
			}
		}
	}
	visit(p, "")
	return list
}

// Queues reports whether a run of the plan takes locks at its start.
func (p *Plan) Queues() bool {
	return p.Definition.MaxActiveRuns > 0 || slices.ContainsFunc(p.Tools(), func(t UsedTool) bool { return len(t.Definition.Locks) > 0 })
}
