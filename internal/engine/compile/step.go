package compile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

// compile compiles the step with its edges and its interruption setting. h is set for a handler.
func (c *stepCompiler) compile(h *plan.Handler) *plan.Step {
	def := c.step
	c.edges = slices.Grow(c.edges, len(def.WaitFor))
	for i := range def.WaitFor {
		w := &def.WaitFor[i]
		if w.S != def.Name { // the decoder has already reported it
			c.edges = append(c.edges, edge{w.S, w, 0})
		}
	}
	s := &plan.Step{Def: def, Handler: h}
	c.compileKeys(s)
	s.Mentioned, s.Uses = c.mentioned, c.usedParameters
	s.Interrupt = interruption(c.definition, s, c.inherited)
	for name, streams := range c.mentioned {
		c.tool.keptStreams[name] |= streams
	}
	return s
}

// compileKeys compiles the keys that all kinds share, and the body of the step.
func (c *stepCompiler) compileKeys(s *plan.Step) {
	def := c.step
	if s.Loop = loop(c.stepTexts); s.Loop != nil {
		c.tool.plan.Loops[def.Name] = true
	}
	s.When = c.Condition(def.RunCondition, c.key("run-condition"), c.names)
	if s.When != nil {
		c.addReferences(*def.RunCondition, s.When.Refs())
		if s.Loop != nil {
			s.Loop.When = slices.ContainsFunc(s.When.Refs(), func(r expr.Ref) bool { return r.Class == expr.Local && c.names.HasLocal(r.Root) })
		}
	}
	c.sourced = secretSources(c.Parser, def.Environment.Secrets, c.key("environment.secrets"), def.Name, c.names, c.addReferences)
	s.SecretSources = c.sourced
	k := kindOf(def)
	t := k.traits()
	if s.NoSlot, s.UsesTool = t.waits, t.usesTool; t.streams {
		c.streamTo = stream(c.stepTexts, s.Handler != nil)
	}
	if t.interactive {
		c.interactiveSettings = interactive(c.stepTexts, c.tool.plan.DefaultResponse)
	}
	if t.remote {
		c.account = remoteAccount(c.stepTexts, c.interactiveSettings != nil)
	}
	c.policy(s, t)
	repeat(c.stepTexts, s, t)
	s.Claim = claim(c.stepTexts, t)
	k.compile(c, s)
	s.Artifacts = artifacts(c.stepTexts)
	s.Cache = cacheRule(c.stepTexts, s.Artifacts)
}

// policy compiles timeout, retry and fallback of the step. Retry and fallback of the tool apply if the step has none.
func (c *stepCompiler) policy(s *plan.Step, t traits) {
	tl := c.definition
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
		s.Policy.Backoff = backoff(r)
		s.RetryRule = r
		s.RetryWhen = c.Condition(r.When, c.key("error-handling.retry.when"), c.names.InRetry(s.Def))
		s.Policy.RetryIf = func(v dag.View, r *dag.Result) bool { return graph.RetryIf(s, v, r) }
	}
	if f := handling.Fallback; f != nil {
		if cmd := c.command(f, "error-handling.fallback", shellOf(c.stepTexts)); cmd != nil {
			s.Policy.Fallback = cmd
		}
	}
}

// backoff returns the time between the attempts of a step, or of a run.
func backoff(r *tool.Retry) dag.Backoff {
	return dag.Backoff{Delay: cmp.Or(r.Delay, defaultRetryDelay), Growth: growth[r.Backoff], Max: r.MaxDelay, Jitter: r.Jitter == "full"}
}

var growth = map[string]dag.Growth{"": dag.Exponential, "exponential": dag.Exponential, "linear": dag.Linear, "constant": dag.Constant}

// baseCommand creates the step's command with everything except the kind-specific parts: environment, input, directory,
// limits and secrets.
func (c *stepCompiler) baseCommand(t *expr.Template, shell string) *steps.Command {
	s, tl := c.step, c.definition
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
	cmd.Dir = c.text(s.WorkingDirectory, "working-directory", expr.Plain)
	cmd.Input = c.text(s.Input, "input", expr.Plain)
	if cmd.Input != nil {
		c.Report(texts.ParametersAsVariables(*s.Input, c.key("input"), c.names, shellsign.Variables(s.Input.S), "no shell reads the input")...)
	}
	if s.Input == nil && t != nil {
		cmd.Input = c.tool.plan.Input
	}
	cmd.Container = containerOf(c.stepTexts)
	cmd.Interactive, cmd.Stream = c.interactiveSettings, c.streamTo
	cmd.Remote = c.account
	for _, v := range environment(c.Parser, s.Environment, c.key("environment"), c.names) {
		c.addReferences(v.at, v.Value.Refs())
		cmd.Env = append(cmd.Env, v.EnvVar)
	}
	cmd.EnvFiles = envFiles(c.names, s.EnvFiles, "", func(at *tool.Text, key string) *expr.Template { return c.text(at, key, expr.Plain) })
	c.secrets(cmd)
	for i := range s.Output.MaskedValues {
		if t := c.text(&s.Output.MaskedValues[i], fmt.Sprintf("output.masked-values[%d]", i), expr.Plain); t != nil {
			cmd.Masked = append(cmd.Masked, t)
			refuseShortSecret(c.stepTexts, s.Output.MaskedValues[i], fmt.Sprintf("output.masked-values[%d]", i), t)
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
	c.tool.plan.Secrets = append(c.tool.plan.Secrets, own...)
	for _, name := range append(own, plainSecrets(c.definition.Environment.Secrets)...) {
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
