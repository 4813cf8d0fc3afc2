package flowrun

import (
	"slices"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// planScript is the script of a step of kind js, in whatever role.
type planScript struct {
	def    *tool.JSCode
	script *hooks.Script
	base   *steps.Command // without a command: environment and output of the step
	vars   []withValue    // of the roles preprocess and postprocess

	// Of the role step: what is in the script's scope.
	locals []string
	steps  map[string][]string // fields by step; "" is all of them
	env    bool                // it looks at env
}

// names are the variables in the script's scope.
func (r *planScript) names() []string {
	var list []string
	switch r.def.Role {
	case tool.RoleStep:
		list = append([]string{"params", "steps", "env"}, r.locals...)
	case tool.RolePost:
		list = []string{"outputText"}
	}
	for _, v := range r.vars {
		if !slices.Contains(list, v.param) {
			list = append(list, v.param)
		}
	}
	return list
}

// form is what the script is in terms of the language.
func (r *planScript) form() hooks.Form {
	if r.def.Role == tool.RoleStep {
		return hooks.Step
	}
	return hooks.Body
}

func (r *planScript) mention(step, field string) {
	if r.steps == nil {
		r.steps = map[string][]string{}
	}
	if !slices.Contains(r.steps[step], field) {
		r.steps[step] = append(r.steps[step], field)
	}
}

// told is the script's text, for those who ask what the step would do.
func (r *planScript) told() string {
	if r.def.Module != nil {
		return "execute of " + r.def.Module.File
	}
	return r.def.Code.S
}
