package flowrun

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// namedInside are the names in a definition that a secret may be about: parameters,
// variables, and secrets with a source of their own, of the tool and of its steps. files
// says that env files may give more.
func (p *compiledPlan) namedInside() (list []string, files bool) {
	for _, prm := range p.params {
		list = append(list, prm.def.Name)
	}
	for _, e := range p.environ {
		list = append(list, e.Name)
	}
	for _, s := range p.allSources() {
		list = append(list, s.name)
	}
	p.each(func(s *planStep) {
		if base := s.baseCommand(); base != nil {
			files = files || len(base.EnvFiles) > 0
			for _, e := range base.Env {
				list = append(list, e.Name)
			}
		}
	})
	return list, files
}

// lintSecrets warns of names in environment.secrets that look like misspelt ones of the
// definition. The process may have a variable of that name all the same.
func (c *compiler) lintSecrets(p *compiledPlan) {
	names, files := p.namedInside()
	if files || len(p.envFiles) > 0 {
		return
	}
	for _, s := range p.secrets {
		near := tool.Near(s.S, names)
		if slices.Contains(names, s.S) || len(near) == 0 {
			continue
		}
		c.report(tool.Diagnostic{Code: "unknown-secret", Severity: tool.Warning, Pos: s.Pos, Len: len(s.S),
			Message: fmt.Sprintf("the secret %s is no parameter and no variable of this tool, so nothing of the tool is hidden by it", s.S),
			Hint:    fmt.Sprintf("did you mean %s? A variable of the process is hidden where it is set", near[0])})
	}
}

// tellUnnamed tells of names in environment.secrets that are nowhere, so that nothing is
// hidden, and look like one that is: others are of variables that need not be set. What env
// files of steps hold is not known yet: with such files it tells nothing.
func (a *callArgs) tellUnnamed() {
	names, files := a.plan.namedInside()
	if files {
		return
	}
	for _, s := range a.plan.secrets {
		if _, ok := a.env(s.S); ok || slices.Contains(names, s.S) {
			continue
		}
		all := slices.Concat(names, slices.Sorted(maps.Keys(a.own)), slices.Sorted(maps.Keys(a.world.vars)))
		if near := tool.Near(s.S, all); len(near) > 0 {
			a.session.Notify(steps.Notice{Code: steps.NoticeUnset, Message: fmt.Sprintf("the secret %s of tool %s names nothing, so nothing is hidden by it; did you mean %s?",
				s.S, a.plan.Name(), near[0])})
		}
	}
}
