package flowrun

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/helper"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// confinement is what the definition's security and resources take away from its steps
// (S1-193, S1-210, S1-211).
func (p *compiledPlan) confinement() steps.Confinement {
	def := p.Definition
	c := steps.Confinement{Reduced: def.Security.ExecutionPrivilege == "reduced", MaxMemory: def.Resources.MaxMemory}
	if def.Security.Isolation == "container" {
		c.Image = cmp.Or(def.Security.Image, tool.DefaultImage)
		c.Network = slices.ContainsFunc(def.Security.RequiredPermissions, func(t tool.Text) bool { return strings.HasPrefix(t.S, "network:") })
	}
	return c
}

// ConfinementError says that a tool's security cannot be kept here: the run was refused
// before its first step.
type ConfinementError struct {
	Tool     string
	Problems []string // one for each demand, each with its reason
}

func (e *ConfinementError) Error() string {
	return fmt.Sprintf("tool %s is refused: %s; docs/isolation.md says what is kept where", e.Tool, strings.Join(e.Problems, "; "))
}

// confines says whether processes can be started confined: the program that starts
// them must call HelperMain.
func (e *Engine) confines() bool { return e.config.Helper != "" || helper.Enabled() }

// confinable refuses a run that could not keep what it promises. Where something else
// does the steps' work, each step finds out for itself.
func (e *Engine) confinable(j *job) error {
	if j.around != nil {
		return nil
	}
	var problems []string
	j.plan.demands(steps.Confinement{}, func(c steps.Confinement, step, ours string) {
		if step != "" {
			if why := unconfined(c, ours); why != "" {
				problems = append(problems, "step "+step+": "+why)
			}
			return
		}
		for _, err := range c.Check(e.confines(), j.args.world.Env) {
			if !slices.Contains(problems, err.Error()) {
				problems = append(problems, err.Error())
			}
		}
	})
	if len(problems) == 0 {
		return nil
	}
	return &ConfinementError{Tool: j.plan.Name(), Problems: problems}
}

// What a step is that flowrun does itself, in words.
const (
	workInGo     = "a step written in Go, which runs in this program"
	workInScript = "a script, which runs in a process of flowrun's own"
)

// demands visits the confinement of every tool in the plan that starts processes, and
// of every step that flowrun does itself, by its name and what it is.
func (p *compiledPlan) demands(outer steps.Confinement, visit func(c steps.Confinement, step, ours string)) {
	c := p.confinement().Within(outer)
	if p.group {
		c = outer
	}
	commands := p.cleanup != nil && len(p.cleanup.commands) > 0
	for _, s := range p.steps {
		switch {
		case s.nested != nil:
			s.nested.demands(c, visit)
		case s.command != nil:
			commands = true
		case s.script != nil:
			visit(c, s.def.Name, workInScript)
		case s.def.Kind == tool.Go:
			visit(c, s.def.Name, workInGo)
		}
	}
	if commands {
		visit(c, "", "")
	}
}

// unconfined says why a step that flowrun does itself cannot be confined like that, ""
// where it can. max-memory is about commands: a step in Go has this program's memory, a
// script a limit of its own.
func unconfined(c steps.Confinement, ours string) string {
	switch {
	case c.Image != "":
		return "isolation: container cannot be kept for " + ours
	case c.Reduced:
		return "execution-privilege: reduced cannot be kept for " + ours
	}
	return ""
}

// warnSecurity reports security settings that promise more than they do.
func (c *compiler) warnSecurity(p *compiledPlan) {
	sec := p.Definition.Security
	warn := func(at tool.Pos, path, message, hint string) {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: at, Path: path, Message: message, Hint: hint})
	}
	commands := slices.ContainsFunc(p.steps, func(s *planStep) bool { return s.command != nil })
	if sec.Isolation == "none" && commands {
		warn(sec.IsolationPos, "security.isolation", "isolation: none means the same as process for steps that start programs", "write process, or leave it out")
	}
	if sec.Image != "" && sec.Isolation != "container" {
		warn(sec.ImagePos, "security.image", "security.image has no effect without a container", "add isolation: container")
	}
	for _, s := range p.steps {
		if s.def.Detach && sec.Isolation == "container" {
			warn(s.def.Pos, "", "detach has no effect in a container: what the step leaves there ends with it", "remove detach")
		}
	}
}

// foreseeConfinement says what of a command's security could not be kept here.
func foreseeConfinement(a *callArgs) string {
	var why []string
	for _, err := range a.confine.Check(helper.Enabled(), a.world.Env) {
		why = append(why, err.Error())
	}
	return strings.Join(why, "; ")
}
