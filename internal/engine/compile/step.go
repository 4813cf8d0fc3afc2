package compile

import (
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

func (c *stepCompiler) compile() *plan.Step {
	def := c.step
	s := &plan.Step{Def: def}
	c.loop(s)
	s.When = c.condition(def.RunCondition, c.key("run-condition"), c.names)
	if s.When != nil {
		c.addReferences(*def.RunCondition, s.When.Refs())
		if s.Loop != nil {
			s.Loop.When = slices.ContainsFunc(s.When.Refs(), func(r expr.Ref) bool { return r.Class == expr.Local && c.names.locals[r.Root] })
		}
	}
	c.sourced = c.secretSources(c.plan.Definition, def.Environment.Secrets, c.key("environment.secrets"), def.Name, c.names, c.addReferences)
	s.SecretSources = c.sourced
	k := kindOf(def)
	t := k.traits()
	if s.NoSlot, s.UsesTool = t.waits, t.usesTool; t.streams {
		c.streamTo = c.stream()
	}
	if t.interactive {
		c.interactiveSettings = c.interactive()
	}
	if _, ok := k.(commandKind); ok {
		c.account = c.remote()
	}
	c.policy(s, t)
	c.repeat(s, t)
	c.claim(s, t)
	k.compile(c, s)
	s.Artifacts = c.artifacts()
	s.Cache = c.cache(s.Artifacts)
	return s
}

// policy compiles timeout, retry and fallback of the step. Retry and fallback of the tool apply if the step has none.
func (c *stepCompiler) policy(s *plan.Step, t traits) {
	tl := c.plan.Definition
	s.Policy = dag.Policy{Timeout: s.Def.Timeout, Tolerate: s.Def.ContinueOnError || tl.IgnoreErrors}
	if t.endedByPerson { // an answer is final
		return
	}
	handling := s.Def.ErrorHandling
	if handling.Retry == nil {
		handling.Retry = tl.ErrorHandling.Retry
	}
	if handling.Fallback == nil {
		handling.Fallback = tl.ErrorHandling.Fallback
	}
	if r := handling.Retry; r != nil {
		s.Policy.Attempts = r.Attempts
		s.Policy.Backoff = dag.Backoff{Delay: r.Delay, Growth: growth[r.Backoff], Max: r.MaxDelay, Jitter: r.Jitter == "full"}
		if r.Delay == 0 {
			s.Policy.Backoff.Delay = defaultRetryDelay
		}
		s.RetryRule = r
		s.RetryWhen = c.condition(r.When, c.key("error-handling.retry.when"), lastNames{c.names.withoutSteps(), c.names.declaredOutputs(s.Def), c.names})
		s.Policy.RetryIf = func(v dag.View, r *dag.Result) bool { return graph.RetryIf(s, v, r) }
	}
	if f := handling.Fallback; f != nil {
		if cmd := c.command(f, "error-handling.fallback", c.shell()); cmd != nil {
			s.Policy.Fallback = cmd
		}
	}
}

var growth = map[string]dag.Growth{"": dag.Exponential, "exponential": dag.Exponential, "linear": dag.Linear, "constant": dag.Constant}

// baseCommand creates the step's command with everything except the kind-specific parts: environment, input, directory,
// limits and secrets.
func (c *stepCompiler) baseCommand(t *expr.Template, shell string) *steps.Command {
	s, tl, n := c.step, c.plan.Definition, c.names
	cmd := &steps.Command{Template: t, Shell: shell, Strict: tl.Strict, Detach: s.Detach, Limit: s.Output.BufferLimit,
		NoTruncation: s.Output.Truncation != nil && !*s.Output.Truncation}
	cmd.Outputs = declarations(s.Outputs)
	for _, k := range tl.State {
		cmd.State = append(cmd.State, stepfile.Declaration{Name: k.Name, Type: k.Type, Optional: true})
	}
	if s.Strict != nil {
		cmd.Strict = *s.Strict
	}
	inherit := s.Environment.Inherit
	if inherit == nil {
		inherit = tl.Environment.Inherit
	}
	cmd.NoInherit = inherit != nil && !*inherit
	cmd.Dir = c.text(s.WorkingDirectory, "working-directory", expr.Plain, n)
	cmd.Input = c.text(s.Input, "input", expr.Plain, n)
	if cmd.Input != nil {
		c.warnParameterVariables(*s.Input, c.key("input"), n, shellsign.Variables(s.Input.S), "no shell reads the input")
	}
	if s.Input == nil && t != nil {
		cmd.Input = c.plan.Input
	}
	cmd.Container = c.container()
	cmd.Interactive, cmd.Stream = c.interactiveSettings, c.streamTo
	cmd.Remote = c.account
	for _, v := range c.environment(tl, s.Environment, c.key("environment"), n) {
		c.addReferences(v.at, v.Value.Refs())
		cmd.Env = append(cmd.Env, v.EnvVar)
	}
	cmd.EnvFiles = c.envFiles(tl, n, s.EnvFiles, c.key(""), func(at *tool.Text, path string) *expr.Template {
		t := c.template(at, path, expr.Plain, n)
		if t != nil {
			c.addReferences(*at, t.Refs())
		}
		return t
	})
	c.secrets(cmd)
	for i := range s.Output.MaskedValues {
		if t := c.text(&s.Output.MaskedValues[i], fmt.Sprintf("output.masked-values[%d]", i), expr.Plain, n); t != nil {
			cmd.Masked = append(cmd.Masked, t)
			c.refuseShortSecret(s.Output.MaskedValues[i], fmt.Sprintf("output.masked-values[%d]", i), t)
		}
	}
	return cmd
}

// secrets adds the secrets of the step and of the tool to the command: variables of the step and of its env files,
// parameters, and variables of the process.
func (c *stepCompiler) secrets(cmd *steps.Command) {
	for _, s := range c.sourced {
		cmd.Secrets = append(cmd.Secrets, steps.SecretVar{Name: s.Name, Key: s.Key})
	}
	own := plainSecrets(c.step.Environment.Secrets)
	c.plan.Secrets = append(c.plan.Secrets, own...)
	for _, name := range append(own, plainSecrets(c.plan.Definition.Environment.Secrets)...) {
		cmd.Hidden = append(cmd.Hidden, name.S)
		for _, v := range cmd.Env {
			if v.Name == name.S {
				cmd.Masked = append(cmd.Masked, v.Value)
			}
		}
	}
}

// defaultRetryDelay is the delay if retry does not set one.
const defaultRetryDelay = time.Second
