package compile

import (
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/remote"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// stepCompiler compiles one step. A kind of step uses the texts of the step, and the command of those that have one.
type stepCompiler struct {
	*stepTexts
	tool      *toolCompiler
	inherited plan.Interrupt

	sourced             []plan.SecretSource
	interactiveSettings *terminal.Interactive // nil: not interactive
	streamTo            *steps.Stream         // nil: no streaming
	account             *remote.Account       // nil: the step runs on this machine
}

// reportInertKeys reports keys that have no effect on a step without a command of its own, except those in works.
func (c *stepTexts) reportInertKeys(on, hint string, works ...string) {
	for key, pos := range commandKeys(c.step) {
		if slices.Contains(works, key) {
			continue
		}
		c.noEffect(pos, key, key+" has no effect on "+on, hint)
	}
}

// reportKeysOfCommands reports the keys of commands on a step that flowrun itself carries out and whose answer save-as can
// keep. on and hint are as in reportInertKeys; answer is what the step gets.
func (c *stepTexts) reportKeysOfCommands(on, hint, answer string) {
	c.reportInertKeys(on, hint, "output.buffer-limit", "artifacts")
	if list := c.step.Artifacts; len(list) > 0 {
		c.noEffect(list[0].Pos, "artifacts", "artifacts has no effect on "+on,
			"save "+answer+" with save-as, and add artifacts to a step with a command that runs after it")
	}
}

// commandKeys returns the keys of a step that only a command can use, with their positions.
func commandKeys(s *tool.Step) map[string]tool.Pos {
	keys := map[string]tool.Pos{}
	add := func(key string, set bool, pos tool.Pos) {
		if set {
			keys[key] = pos
		}
	}
	if s.Input != nil {
		add("input", true, s.Input.Pos)
	}
	if s.WorkingDirectory != nil {
		add("working-directory", true, s.WorkingDirectory.Pos)
	}
	for _, v := range s.Environment.Variables[:min(len(s.Environment.Variables), 1)] {
		add("environment", true, v.Pos)
	}
	for _, v := range s.Environment.Secrets[:min(len(s.Environment.Secrets), 1)] {
		add("environment", true, v.Name.Pos)
	}
	for _, v := range s.EnvFiles[:min(len(s.EnvFiles), 1)] {
		add("env-files", true, v.Path.Pos)
	}
	for _, v := range s.Output.MaskedValues[:min(len(s.Output.MaskedValues), 1)] {
		add("output.masked-values", true, v.Pos)
	}
	if len(s.Artifacts) > 0 {
		add("artifacts", true, s.Artifacts[0].Pos)
	}
	if s.SSH != nil {
		add("ssh", true, s.SSH.Pos)
	}
	add("strict", s.Strict != nil, s.Pos)
	add("detach", s.Detach, s.Pos)
	add("interactive", s.Interactive != nil, s.Pos)
	add("interactive-options", s.InteractiveOptions.Pos.Line > 0, s.InteractiveOptions.Pos)
	add("output.mode", s.Output.Mode == "stream", s.Pos)
	add("output.buffer-limit", s.Output.BufferLimit > 0 && s.Loop == nil, s.Pos)
	add("output.truncation", s.Output.Truncation != nil, s.Pos)
	return keys
}
