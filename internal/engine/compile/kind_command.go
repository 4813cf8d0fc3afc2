package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

// commandKind compiles steps with a command.
type commandKind struct{}

func (commandKind) traits() traits { return traits{streams: true, interactive: true, remote: true} }

func (commandKind) compile(c *stepCompiler, s *plan.Step) {
	at, key, shell := commandOf(c.stepTexts)
	if s.Command = c.command(at, key, shell); s.Command != nil {
		s.Runner = s.Command
		warnNoFile(c.stepTexts, at, key, "FLOWRUN_OUTPUT", "outputs", len(c.step.Outputs))
		warnNoFile(c.stepTexts, at, key, "FLOWRUN_STATE", "state", len(c.definition.State))
	}
}

// warnNoFile warns about a script that writes values to a file which it does not get, because nothing declares them.
func warnNoFile(c *stepTexts, at *tool.Text, key, variable, declares string, declared int) {
	off := strings.Index(at.S, variable)
	if off < 0 || declared > 0 {
		return
	}
	where := "the step"
	if declares == "state" || c.path == "" {
		where = "the tool"
	}
	c.Report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: at.At(off), Len: len(variable), Path: c.key(key),
		Message: variable + " is not set, because " + where + " has no " + declares, Hint: fmt.Sprintf("add %s: {NAME: {type: string}} to %s", declares, where)})
}

// commandOf returns the text of the step's command, its key, and the shell that reads it: "" for a program and its
// arguments.
func commandOf(c *stepTexts) (at *tool.Text, key, shell string) {
	command, ok := c.step.Body.(*tool.Command)
	switch {
	case !ok:
		return platformCommand(c)
	case command.Key == tool.Run:
		return &command.Text, "run", ""
	case command.Key == tool.Script:
		return &command.Text, "script", shellOf(c)
	}
	return &command.Text, string(command.Key), string(command.Key)
}

// shellOf returns the shell of script, commands and fallback: that of the step, or the default of the platform.
func shellOf(c *stepTexts) string {
	switch {
	case c.step.Kind() == tool.Sh:
		return "sh"
	case c.step.Shell != nil:
		return c.step.Shell.S
	}
	return plan.DefaultShell()
}

// platformCommand returns the command for this platform, or else the default.
func platformCommand(c *stepTexts) (*tool.Text, string, string) {
	cmds := c.step.Body.(*tool.Commands)
	if t, ok := cmds.Platforms[plan.Platform()]; ok {
		return &t, "commands.platforms." + plan.Platform(), shellOf(c)
	}
	if cmds.Default == nil {
		c.Errorf("no-command", tool.Text{Pos: c.step.Pos}, "add commands.default, or one for this platform",
			"step %s has no command for %s", c.step.Name, plan.Platform())
	}
	return cmds.Default, "commands.default", shellOf(c)
}

// command compiles a command text for a shell. "" means that it runs without one.
func (c *stepCompiler) command(at *tool.Text, key, shell string) *steps.Command {
	if c.account != nil && !remoteShell(shell) {
		c.Report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: c.step.SSH.Pos, Len: 1, Path: c.key(key),
			Message: "only scripts of bash and sh can run over ssh", Hint: "write the command under bash or sh"})
	}
	sh := expr.Argv
	if shell != "" {
		var known bool
		if sh, known = expr.ShellByName(shell); !known {
			return c.foreignScript(at, key, shell)
		}
	}
	if sh == expr.Cmd {
		checkCmdPlatform(c.stepTexts, at, key)
	}
	t := c.text(at, key, sh)
	if t == nil || !checkScript(c.Parser, *at, c.key(key), shell, t) {
		return nil
	}
	cmd := c.baseCommand(t, shell)
	switch sh {
	case expr.Cmd:
		c.Report(checkPercentReads(*at, c.key(key), slices.Concat(c.tool.plan.Environ, cmd.Env))...)
	case expr.Argv:
		c.Report(checkShellSign(*at, c.key(key))...)
	case expr.Bash, expr.Sh:
		c.Report(texts.ParametersAsVariables(*at, c.key(key), c.names, shellsign.InSingleQuotes(at.S), "the shell replaces nothing in single quotes")...)
	}
	return cmd
}

// checkScript reports the syntax error of a script without placeholders. It returns false if there is one.
func checkScript(c *texts.Parser, at tool.Text, path, shell string, t *expr.Template) bool {
	return quoting.HasOwnSyntax(shell) || !c.ReportProblems(at, path, t.SyntaxProblems(at.S), texts.Names{})
}

// checkCmdPlatform reports a script for cmd on a platform without cmd. If it is the tool's only command, the tool
// cannot run here and this is an error. One of several steps may never be reached and fails only when it starts, so
// this is a warning, and a step with a condition is not reported.
func checkCmdPlatform(c *stepTexts, at *tool.Text, key string) {
	list := c.definition.Platforms
	if at == nil || plan.Platform() == "windows" || len(list) > 0 && !slices.Contains(list, plan.Platform()) {
		return
	}
	d := tool.Diagnostic{Code: "windows-only", Severity: tool.Error, Pos: at.Pos, Path: c.key(key), Message: "cmd steps run on Windows only",
		Hint: "use commands with platforms, or set platforms: [windows]"}
	if c.path != "" {
		d.Severity, d.Hint = tool.Warning, "use commands with platforms, or add run-condition: \"{OS} == 'windows'\" to the step"
	}
	if c.path == "" || c.step.RunCondition == nil {
		c.Report(d)
	}
}

// foreignScript compiles a script for an interpreter whose quoting is not known. Such a script must not contain
// placeholders.
func (c *stepCompiler) foreignScript(at *tool.Text, key, shell string) *steps.Command {
	if at == nil {
		return nil
	}
	t := c.text(at, key, expr.Plain)
	if t == nil {
		return nil
	}
	if refs := t.Refs(); len(refs) > 0 {
		r := refs[0]
		c.Report(tool.Diagnostic{Code: "unsafe-placeholder", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len, Path: c.key(key),
			Message: fmt.Sprintf("%s cannot be used in a %s script: flowrun does not know how to quote for %[2]s", r, shell),
			Hint:    fmt.Sprintf("pass it in environment: {variables: {NAME: %q}} and read NAME in the script", r.String())})
		return nil
	}
	return c.baseCommand(t, shell)
}

// checkPercentReads warns about variables whose values are not fixed and which a cmd script reads as %NAME%: cmd executes
// the value as code.
func checkPercentReads(at tool.Text, path string, list []steps.EnvVar) (ds tool.Diagnostics) {
	lower := strings.ToLower(at.S)
	for _, v := range list {
		name := "%" + strings.ToLower(v.Name)
		off := max(strings.Index(lower, name+"%"), strings.Index(lower, name+":"))
		if off < 0 || v.Value.Static() {
			continue
		}
		ds = append(ds, tool.Diagnostic{Code: expr.CodeUsedAsCode, Severity: tool.Warning, Pos: at.At(off), Len: len(name) + 1, Path: path,
			Message: fmt.Sprintf("cmd runs the value of %%%s%% as code", v.Name),
			Hint:    fmt.Sprintf("add setlocal EnableDelayedExpansion, and read the variable as !%s!", v.Name)})
	}
	return ds
}

// checkShellSign warns about the first part of a run: command that only a shell understands.
func checkShellSign(at tool.Text, path string) tool.Diagnostics {
	s, ok := shellsign.First(at.S)
	if !ok {
		return nil
	}
	sign := at.S[s.Off : s.Off+s.Len]
	d := tool.Diagnostic{Code: "shell-in-run", Severity: tool.Warning, Pos: at.At(s.Off), Len: len([]rune(sign)), Path: path,
		Message: fmt.Sprintf("run does not use a shell, so the program gets %s as text", sign),
		Hint:    "write bash: instead of run:, or put it in single quotes if the program needs it as text"}
	if strings.HasPrefix(sign, "~") {
		d.Hint = "write {HOME} instead of ~, or bash: instead of run:"
	}
	if s.Assigns {
		d.Message = fmt.Sprintf("run does not use a shell, so %s is taken for the program", sign)
		d.Hint = "set the variable in environment:, or write bash: instead of run:"
	}
	return tool.Diagnostics{d}
}
