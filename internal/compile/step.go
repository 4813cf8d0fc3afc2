package compile

import (
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/gostep"
	"github.com/flowrun/flowrun/internal/graph"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

func (c *stepCompiler) compile() *plan.Step {
	def := c.step
	s := &plan.Step{Def: def}
	c.loop(s)
	s.When = c.condition(def.RunCondition, c.key("run-condition"), c.names)
	if s.When != nil {
		c.note(*def.RunCondition, s.When.Refs())
		if s.Loop != nil {
			s.Loop.When = slices.ContainsFunc(s.When.Refs(), func(r expr.Ref) bool { return r.Class == expr.Local && c.names.locals[r.Root] })
		}
	}
	c.sourced = c.secretSources(c.plan.Definition, def.Environment.Secrets, c.key("environment.secrets"), def.Name, c.names, c.note)
	s.Sourced = c.sourced
	if def.Kind != tool.UseTool && def.Kind != tool.Group && def.Kind != tool.Waiting && def.Kind != tool.Asking {
		c.streams = c.stream()
		if def.Kind != tool.JS {
			c.asks = c.interactive()
		}
	}
	c.policy(s)
	switch def.Kind {
	case "": // diagnosed where it was read
	case tool.UseTool:
		c.with(s)
	case tool.Group:
		c.inert("a group of steps", "give it to the steps of the group")
		c.group(s)
	case tool.Waiting:
		c.inert("a step that waits", "give it to a step with a command")
		s.Runner = c.wait()
	case tool.Asking:
		c.inert("a step that asks a person", "give it to a step with a command")
		s.Runner = c.approve()
	case tool.JS:
		c.javaScript(s)
	case tool.Go:
		s.Runner = gostep.Runner{Tool: def.Go.(*gostep.GoTool)}
	case tool.Program:
		c.program(s)
	default:
		s.Command = c.command(c.body())
		if s.Command != nil {
			s.Runner = s.Command
		}
	}
	s.Cache = c.cache()
	return s
}

// policy is what happens around the step's tries. Retry and fallback of the tool
// hold where the step has none (S1-078).
func (c *stepCompiler) policy(s *plan.Step) {
	tl := c.plan.Definition
	s.Policy = dag.Policy{Timeout: s.Def.Timeout, Tolerate: s.Def.ContinueOnError || tl.IgnoreErrors}
	if s.Def.Kind == tool.Asking { // an answer stands
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
		s.Rule = r
		s.Retry = c.condition(r.When, c.key("error-handling.retry.when"), lastNames{c.names.withoutSteps()})
		s.Policy.RetryIf = func(v dag.View, r *dag.Result) bool { return graph.RetryIf(s, v, r) }
	}
	if f := handling.Fallback; f != nil {
		if cmd := c.command(f, "error-handling.fallback", c.shell()); cmd != nil {
			s.Policy.Fallback = cmd
		}
	}
}

var growth = map[string]dag.Growth{"": dag.Exponential, "exponential": dag.Exponential, "linear": dag.Linear, "constant": dag.Constant}

// body is the step's command text, its key and its shell.
func (c *stepCompiler) body() (at *tool.Text, key, shell string) {
	switch k := c.step.Kind; k {
	case tool.Run:
		return &c.step.Command, "run", ""
	case tool.Script:
		return &c.step.Command, "script", c.shell()
	case tool.PerOS:
		return c.platformCommand()
	default:
		return &c.step.Command, string(k), string(k)
	}
}

// shell is the shell of script, commands and fallback: the step's own (contracts:
// "Steps and edges").
func (c *stepCompiler) shell() string {
	switch {
	case c.step.Kind == tool.Sh:
		return "sh"
	case c.step.Shell != nil:
		return c.step.Shell.S
	}
	return plan.DefaultShell()
}

// platformCommand selects platform, then default (S1-411).
func (c *stepCompiler) platformCommand() (*tool.Text, string, string) {
	cmds := c.step.Commands
	if cmds == nil {
		return nil, "", "" // diagnosed where it was read
	}
	if t, ok := cmds.Platforms[plan.Platform()]; ok {
		return &t, "commands.platforms." + plan.Platform(), plan.DefaultShell()
	}
	if cmds.Default == nil {
		c.errorf("no-command", tool.Text{Pos: c.step.Pos}, "add commands.default, or one for this platform",
			"step %s has no command for %s", c.step.Name, plan.Platform())
	}
	return cmds.Default, "commands.default", plan.DefaultShell()
}

// command compiles a command text for a shell; "" runs it without one.
func (c *stepCompiler) command(at *tool.Text, key, shell string) *steps.Command {
	sh := expr.Argv
	if shell != "" {
		var known bool
		if sh, known = expr.ShellByName(shell); !known {
			return c.foreign(at, key, shell)
		}
	}
	if sh == expr.Cmd {
		c.elsewhere(at, key)
	}
	t := c.text(at, key, sh, c.names)
	if t == nil {
		return nil
	}
	cmd := c.baseCommand(t, shell)
	if sh == expr.Cmd {
		c.percentRead(at, key, cmd)
	}
	return cmd
}

// elsewhere reports a script for cmd where there is none. A tool that is nothing else
// cannot run here at all; a step of several may never be reached, and fails only
// when it starts.
func (c *stepCompiler) elsewhere(at *tool.Text, key string) {
	list := c.plan.Definition.Platforms
	if at == nil || plan.Platform() == "windows" || len(list) > 0 && !slices.Contains(list, plan.Platform()) {
		return
	}
	d := tool.Diagnostic{Code: "windows-only", Severity: tool.Error, Pos: at.Pos, Path: c.key(key), Message: "cmd steps run on Windows only",
		Hint: "use commands with platforms, or say platforms: [windows]"}
	if c.path != "" {
		d.Severity, d.Hint = tool.Warning, "use commands with platforms, or give the step run-condition: \"{OS} == 'windows'\""
	}
	if c.path == "" || c.step.RunCondition == nil {
		c.report(d)
	}
}

// foreign is a script for an interpreter whose quoting is not known: it may have
// no holes.
func (c *stepCompiler) foreign(at *tool.Text, key, shell string) *steps.Command {
	if at == nil {
		return nil
	}
	t := c.text(at, key, expr.Plain, c.names)
	if t == nil {
		return nil
	}
	if refs := t.Refs(); len(refs) > 0 {
		r := refs[0]
		c.report(tool.Diagnostic{Code: "unsafe-hole", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len, Path: c.key(key),
			Message: fmt.Sprintf("%s cannot stand in a %s script: its quoting rules are not known", r, shell),
			Hint:    fmt.Sprintf("pass it by environment: {variables: {NAME: %q}} and read NAME in the script", r.String())})
		return nil
	}
	return c.baseCommand(t, shell)
}

// baseCommand puts everything around the command together.
func (c *stepCompiler) baseCommand(t *expr.Template, shell string) *steps.Command {
	s, tl, n := c.step, c.plan.Definition, c.names
	cmd := &steps.Command{Template: t, Shell: shell, Strict: tl.Strict, Detach: s.Detach, Limit: s.Output.BufferLimit,
		NoTruncation: s.Output.Truncation != nil && !*s.Output.Truncation}
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
	if s.Input == nil && t != nil {
		cmd.Input = c.plan.Input
	}
	cmd.Interactive, cmd.Stream = c.asks, c.streams
	for _, v := range c.environment(tl, s.Environment, c.key("environment"), n) {
		c.note(v.at, v.Value.Refs())
		cmd.Env = append(cmd.Env, v.EnvVar)
	}
	cmd.EnvFiles = c.envFiles(tl, n, s.EnvFiles, c.key(""), func(at *tool.Text, path string) *expr.Template {
		t := c.template(at, path, expr.Plain, n)
		if t != nil {
			c.note(*at, t.Refs())
		}
		return t
	})
	c.secrets(cmd)
	for i := range s.Output.MaskedValues {
		if t := c.text(&s.Output.MaskedValues[i], fmt.Sprintf("output.masked-values[%d]", i), expr.Plain, n); t != nil {
			cmd.Masked = append(cmd.Masked, t)
		}
	}
	return cmd
}

// secrets hides what environment.secrets of the step and of the tool names: variables
// of the step and of its env files, and, as in the tool's own, parameters and variables
// of the process (S1-172).
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

// with compiles the values for the tool a step uses. A nested tool sees its own
// parameters and environment only, so keys that would reach into it are refused.
func (c *stepCompiler) with(s *plan.Step) {
	c.inert("a step that uses a tool: the tool has its own", "give the tool a parameter for it, and set that under with:")
	note := func(at tool.Text, refs []expr.Ref) {
		c.note(at, refs)
		c.undeclared(at, refs)
	}
	key := c.plan.WithKey()
	for _, e := range s.Def.With {
		s.With = append(s.With, plan.WithValue{Param: e.Key, Value: c.tree(e.Value, key+"."+e.Key, c.values(), note)})
	}
	if all := s.Def.WithAll; all != nil {
		t := c.tree(tool.Value{Pos: all.Pos, Scalar: all.S, Text: all}, key, c.values(), note)
		s.WithAll = &t
	}
}

// defaultRetryDelay is used where retry says nothing.
const defaultRetryDelay = time.Second
