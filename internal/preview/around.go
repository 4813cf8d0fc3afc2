package preview

import (
	"cmp"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/codeenv"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/steps"
)

// Surroundings are what a tool or a step gives to the programs it starts, beside their
// commands.
type Surroundings struct {
	Environment []PreviewVariable `json:"environment,omitempty"`
	EnvFiles    []string          `json:"env_files,omitempty"` // paths of files of variables
	Input       string            `json:"input,omitempty"`     // what programs read
	// Runtime is node for a script that runs under Node.js, with everything that the user
	// may do; "" for others.
	Runtime string `json:"runtime,omitempty"`
}

// PreviewVariable is a variable of the environment, secrets masked.
type PreviewVariable struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	RunsCode bool   `json:"runs_code,omitempty"` // it makes programs run code, as PATH does
}

// surroundings are those of variables, files and input; show writes a template out.
func surroundings(vars []steps.EnvVar, files []steps.EnvFile, input *expr.Template, show func(*expr.Template) string) (s Surroundings) {
	for _, v := range vars {
		s.Environment = append(s.Environment, PreviewVariable{v.Name, show(v.Value), codeenv.RunsCode(v.Name)})
	}
	for _, f := range files {
		s.EnvFiles = append(s.EnvFiles, show(f.Path))
	}
	if input != nil {
		s.Input = show(input)
	}
	return s
}

// around are the surroundings of a step.
func around(s *plan.Step, show func(*expr.Template) string) (around Surroundings) {
	if base := s.BaseCommand(); base != nil {
		around = surroundings(base.Env, base.EnvFiles, base.Input, show)
	}
	if s.Script != nil && s.Script.Def.Module != nil && s.Script.Def.Module.Node {
		around.Runtime = "node"
	}
	return around
}

// source says where the value of a secret comes from.
func source(s plan.SecretSource, show func(*expr.Template) string) string {
	switch {
	case s.Env != "":
		return s.Name + " from the variable " + s.Env
	case s.File != nil:
		return s.Name + " from the file " + show(s.File)
	}
	return s.Name + " from the command " + show(s.Argv)
}

// notified are the commands and addresses of the definition's notify.
func notified(p *plan.Plan, mask func(string) string) (list []string) {
	for _, n := range p.Definition.Notify {
		if at := cmp.Or(n.Command, n.Webhook); at != nil {
			list = append(list, mask(at.S))
		}
	}
	return list
}
