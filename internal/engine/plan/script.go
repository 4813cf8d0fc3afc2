package plan

import (
	"slices"

	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Script is the script of a step of kind js, in any role.
type Script struct {
	Def      *tool.JSCode
	Compiled *jsrun.Script
	Base     *steps.Command // has no command: holds the environment and output settings of the step
	Vars     []WithValue    // of the roles preprocess and postprocess

	// For the role step, what is in the script's scope:
	Locals []string
	Steps  map[string][]string // fields by step; "" means all of them
	Env    bool                // the script reads env
}

// Names returns the variables in the script's scope.
func (r *Script) Names() []string {
	var list []string
	switch r.Def.Role {
	case tool.RoleStep:
		list = append([]string{"params", "steps", "env"}, r.Locals...)
	case tool.RolePost:
		list = []string{"outputText"}
	}
	for _, v := range r.Vars {
		if !slices.Contains(list, v.Param) {
			list = append(list, v.Param)
		}
	}
	return list
}

// Form returns whether the script is a step or a function body.
func (r *Script) Form() jsrun.Form {
	if r.Def.Role == tool.RoleStep {
		return jsrun.Step
	}
	return jsrun.Body
}

// Mention records that the script reads a field of a step; "" means all fields.
func (r *Script) Mention(step, field string) {
	if r.Steps == nil {
		r.Steps = map[string][]string{}
	}
	if !slices.Contains(r.Steps[step], field) {
		r.Steps[step] = append(r.Steps[step], field)
	}
}

// Text returns the text of the script, to show what the step would do.
func (r *Script) Text() string {
	if r.Def.Module != nil {
		return "execute of " + r.Def.Module.File
	}
	return r.Def.Code.S
}
