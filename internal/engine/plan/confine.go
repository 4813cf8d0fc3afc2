package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Confinement returns the restrictions that the definition's security and resources put on its steps.
func (p *Plan) Confinement() confinement.Confinement {
	def := p.Definition
	c := confinement.Confinement{Reduced: def.Security.ExecutionPrivilege == "reduced", Limits: LimitsOf(&def.Resources), Enforced: def.Security.Enforce}
	if def.Security.Isolation == "container" {
		c.Image = cmp.Or(def.Security.Image, tool.DefaultImage)
		c.Network = slices.ContainsFunc(def.Security.RequiredPermissions, func(t tool.Text) bool { return t.S == "network" || strings.HasPrefix(t.S, "network:") })
	}
	return c
}

// LimitsOf returns the limits of each step.
func LimitsOf(r *tool.Resources) confinement.Limits {
	return confinement.Limits{MaxMemory: r.MaxMemory, MaxProcesses: r.MaxProcesses, MaxCPU: r.MaxCPU, CPU: r.CPU, MaxFileSize: r.MaxFileSize,
		MaxOpenFiles: r.MaxOpenFiles, MaxOutput: r.MaxOutput}
}

// Descriptions of steps that flowrun executes itself, for messages of Plan.Unconfined.
const (
	WorkInGo      = "a step in Go, because it runs inside this program"
	WorkReading   = "a step in Go that only reads files" // see gostep.GoTool.Reads
	WorkInRequest = "a request, because flowrun itself sends it"
	WorkInQuery   = "a query, because flowrun itself sends it"
	WorkInScript  = "a script, because it runs in a process of flowrun"
)

// Demands visits the confinement of every tool in the plan that starts processes (with step ""), and of every step
// that flowrun executes itself (with its name, and why it cannot have that confinement). The permissions are those of
// the definition, as they are written.
func (p *Plan) Demands(outer confinement.Confinement, visit func(c confinement.Confinement, step, problem string)) {
	c := outer
	if !p.Group {
		c = p.Confinement().Within(p.ConfinedBy(outer))
		c.Grants = p.written()
	}
	commands := p.Cleanup != nil && len(p.Cleanup.Commands) > 0
	for _, s := range p.Steps {
		switch {
		case s.Nested != nil:
			s.Nested.Demands(c, visit)
		case s.Command != nil && s.Command.Container != nil:
			visit(s.Command.Container.Within(c), "", "")
		case s.Command != nil:
			commands = true
		case s.OwnWork != "":
			visit(c, s.Def.Name, p.Unconfined(c, s.OwnWork))
		}
	}
	if commands {
		visit(c, "", "")
	}
}

// written returns the permissions as they are written.
func (p *Plan) written() (list []string) {
	for _, n := range p.Permissions {
		list = append(list, n.Written)
	}
	return list
}

// Written is Confinement with the permissions as they are written, for a tool whose parameters are not known.
func (p *Plan) Written() confinement.Confinement {
	c := p.Confinement()
	c.Grants = p.written()
	return c
}

// HasCommands reports whether the tool itself starts processes, in its steps, groups or cleanup.
func (p *Plan) HasCommands() bool {
	return p.Cleanup != nil && len(p.Cleanup.Commands) > 0 || slices.ContainsFunc(p.Steps, func(s *Step) bool {
		return s.Command != nil || s.Nested != nil && s.Nested.Group && s.Nested.HasCommands()
	})
}

// ConfinedBy returns what the restrictions of a tool that uses this one mean for it. A tool without permissions of its
// own cannot be limited to some: it is not, if those of outer name it (tool:NAME).
func (p *Plan) ConfinedBy(outer confinement.Confinement) confinement.Confinement {
	if outer.Enforced && !p.Group && !p.HasPermissions() && outer.Grants.CallTool(p.Name()) == nil {
		outer.Enforced, outer.Grants = false, nil
	}
	return outer
}

// Unconfined returns why a step of the tool that flowrun executes itself cannot have that confinement, "" if it can.
// max-memory does not matter here, because it limits commands: a step in Go uses the memory of this program, and a script has
// its own limit. Neither do enforced permissions matter for a script or a step that only reads files:
// these always have only what is named.
func (p *Plan) Unconfined(c confinement.Confinement, work string) string {
	switch {
	case c.Image != "":
		return "isolation: container is not possible for " + work
	case c.Reduced:
		return "execution-privilege: reduced is not possible for " + work
	case !c.Enforced || work != WorkInGo:
		return ""
	case p.HasPermissions() || p.Definition.Security.Enforce:
		return "its permissions cannot be enforced: it is " + work
	}
	return fmt.Sprintf("%s cannot be limited to the permissions of the tool that uses it: to allow it without limits, list %q in security.required-permissions of that tool", p.Name(), "tool:"+p.Name())
}

// HasPermissions reports whether the tool has permissions that can be enforced for a model's call. Tools that no
// definition describes have none: those in Go, like the built-in tools, and those of a discovery command.
func (p *Plan) HasPermissions() bool {
	return p.Definition.Scope != tool.ScopeDiscovered && (len(p.Definition.MadeOf) > 0 ||
		!slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.OwnWork == WorkInGo || s.OwnWork == WorkReading }))
}
