package preview

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/container"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/codeenv"
)

// Surroundings is what a tool or a step provides to the programs it starts, beside their commands.
type Surroundings struct {
	Environment []PreviewVariable `json:"environment,omitempty"`
	EnvFiles    []string          `json:"env_files,omitempty"` // paths of env files
	Input       string            `json:"input,omitempty"`     // standard input of the programs
	// WorkingDirectory is the directory in which they start. A relative path starts at the workspace.
	WorkingDirectory string `json:"working_directory,omitempty"`
	OutputFile       string `json:"output_file,omitempty"`       // the file that their output is written to
	Interactive      bool   `json:"interactive,omitempty"`       // they have the terminal of the person
	DefaultResponse  string `json:"default_response,omitempty"`  // what flowrun types if nobody answers them
	CleanEnvironment bool   `json:"clean_environment,omitempty"` // they inherit no variables of the flowrun process
	Detached         bool   `json:"detached,omitempty"`          // what they leave in the background may outlive the run
	// Runtime is node for a script that runs in Node.js, where it has all rights of the user; "" for others.
	Runtime string `json:"runtime,omitempty"`
	// Artifacts are the files that are kept, as NAME: PATTERN.
	Artifacts []string `json:"artifacts,omitempty"`
	// Container describes the container of the command in lines: its image, what it mounts, the services beside it.
	Container []string `json:"container,omitempty"`
}

// PreviewVariable is a variable of the environment. Secrets are masked.
type PreviewVariable struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	RunsCode bool   `json:"runs_code,omitempty"` // it can make programs run code, as PATH does
}

// surroundings builds Surroundings from variables, env files and input.
func (k known) surroundings(vars []steps.EnvVar, files []steps.EnvFile, input *expr.Template) (s Surroundings) {
	for _, v := range vars {
		s.Environment = append(s.Environment, PreviewVariable{v.Name, k.show(v.Value), codeenv.RunsCode(v.Name)})
	}
	for _, f := range files {
		s.EnvFiles = append(s.EnvFiles, k.show(f.Path))
	}
	s.Input = k.show(input)
	return s
}

// surroundingsOf returns the Surroundings of a step: those of its command or script, or of its fallback if it has neither.
func (k known) surroundingsOf(s *plan.Step) (around Surroundings) {
	base := s.BaseCommand()
	if base == nil {
		base = plan.CommandOf(s.Policy.Fallback)
	}
	if base != nil {
		around = k.surroundings(base.Env, base.EnvFiles, base.Input)
		around.WorkingDirectory, around.CleanEnvironment, around.Detached = k.show(base.Dir), base.NoInherit, base.Detach
		around.Container = describeContainer(base.Container, k.show)
		if base.Stream != nil {
			around.OutputFile = k.show(base.Stream.File)
		}
		if base.Interactive != nil {
			around.Interactive, around.DefaultResponse = true, k.show(base.Interactive.Default)
		}
	}
	if s.Script != nil && s.Script.Def.Module != nil && s.Script.Def.Module.Node {
		around.Runtime = "node"
	}
	for _, a := range s.Artifacts {
		around.Artifacts = append(around.Artifacts, a.Name+": "+k.show(a.Path))
	}
	return around
}

// describeContainer describes a container in words, nil if there is none.
func describeContainer(k *container.Definition, show func(*expr.Template) string) (list []string) {
	if k == nil {
		return nil
	}
	add := func(when bool, words ...string) {
		if when {
			list = append(list, strings.Join(words, " "))
		}
	}
	add(true, "image", k.Image)
	add(k.Pull != "", "pull", k.Pull)
	add(k.Entrypoint, "entry point of the image")
	add(k.User != "", "user", k.User)
	add(k.Network, "network of the container program")
	for _, m := range k.Mounts {
		how := "read-only"
		if m.Writable {
			how = "writable"
		}
		add(true, "mount", show(m.Source), "at", m.Target, how)
	}
	for _, s := range k.Services {
		words := []string{"service", s.Name + ":", s.Image}
		for _, a := range s.Arguments {
			words = append(words, show(a))
		}
		add(true, words...)
		for _, v := range s.Env {
			add(true, "service", s.Name, "has", v.Name, "=", show(v.Value))
		}
		add(s.User != "", "service", s.Name, "has the user", s.User)
		if s.Health != nil {
			add(true, "service", s.Name, "is checked with", show(s.Health.Command))
		}
	}
	return list
}

// source describes the source of a secret's value.
func source(s plan.SecretSource, show func(*expr.Template) string) string {
	switch {
	case s.Env != "":
		return s.Name + " from the variable " + s.Env
	case s.File != nil:
		return s.Name + " from the file " + show(s.File)
	}
	return s.Name + " from the command " + show(s.Argv)
}

// notified returns the commands and addresses of the definition's notify.
func notified(p *plan.Plan, mask func(string) string) (list []string) {
	for _, n := range p.Definition.Notify {
		if at := cmp.Or(n.Command, n.Webhook); at != nil {
			list = append(list, mask(at.S))
		} else {
			list = append(list, mask(strings.Join(n.Rule().To, ", ")))
		}
	}
	return list
}

// describeRetryRun describes retry-run in words, "" if there is none.
func describeRetryRun(r *plan.RetryRun) string {
	if r == nil || r.Attempts == 0 {
		return ""
	}
	kept := "keeping what succeeded"
	if !r.Reuse {
		kept = "from the start"
	}
	often := "once"
	if r.Attempts > 1 {
		often = fmt.Sprintf("up to %d times", r.Attempts)
	}
	return fmt.Sprintf("%s after %s, the first time after %s, %s", often, strings.Join(r.On, ", "), r.Delays.Delay, kept)
}
