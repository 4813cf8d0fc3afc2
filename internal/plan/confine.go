package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// Confinement returns the restrictions that the definition's security and resources put on its steps.
func (p *Plan) Confinement() steps.Confinement {
	def := p.Definition
	c := steps.Confinement{Reduced: def.Security.ExecutionPrivilege == "reduced", MaxMemory: def.Resources.MaxMemory}
	if def.Security.Isolation == "container" {
		c.Image = cmp.Or(def.Security.Image, tool.DefaultImage)
		c.Network = slices.ContainsFunc(def.Security.RequiredPermissions, func(t tool.Text) bool { return strings.HasPrefix(t.S, "network:") })
	}
	return c
}

// Descriptions of steps that flowrun executes itself, for messages of Unconfined.
const (
	WorkInGo     = "a step in Go, because it runs inside this program"
	WorkInScript = "a script, because it runs in a process of flowrun"
)

// Demands visits the confinement of every tool in the plan that starts processes (with step ""), and of every step
// that flowrun executes itself (with its name and description).
func (p *Plan) Demands(outer steps.Confinement, visit func(c steps.Confinement, step, work string)) {
	c := p.Confinement().Within(outer)
	if p.Group {
		c = outer
	}
	commands := p.Cleanup != nil && len(p.Cleanup.Commands) > 0
	for _, s := range p.Steps {
		switch {
		case s.Nested != nil:
			s.Nested.Demands(c, visit)
		case s.Command != nil:
			commands = true
		case s.OwnWork != "":
			visit(c, s.Def.Name, s.OwnWork)
		}
	}
	if commands {
		visit(c, "", "")
	}
}

// Unconfined returns why a step that flowrun executes itself cannot have that confinement, "" if it can. max-memory
// does not matter here, because it limits commands: a step in Go uses the memory of this program, and a script has
// its own limit.
func Unconfined(c steps.Confinement, work string) string {
	switch {
	case c.Image != "":
		return "isolation: container is not possible for " + work
	case c.Reduced:
		return "execution-privilege: reduced is not possible for " + work
	}
	return ""
}
