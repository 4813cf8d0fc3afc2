package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

// toolWide compiles the texts that apply to all steps. They must not refer to steps.
func (c *toolCompiler) toolWide() {
	p, n := c.plan, c.names
	def := p.Definition
	for _, v := range environment(c.Parser, def.Environment, "environment", n) {
		if c.Accepts(mentionsNoStep(v.at, v.Value.Refs())) {
			p.Environ = append(p.Environ, v.EnvVar)
		}
	}
	p.Secrets = plainSecrets(def.Environment.Secrets) // steps add theirs later
	p.SecretSources = secretSources(c.Parser, def.Environment.Secrets, "environment.secrets", "", n, func(tool.Text, []expr.Ref) {})
	p.EnvFiles = envFiles(n, def.EnvFiles, "", c.toolWideText)
	p.Dir = c.toolWideText(def.WorkingDirectory, "working-directory")
	if def.WorkingDirectory == nil {
		p.Dir = c.toolWideText(def.FilePaths.WorkingDirectory, "file-paths.working-directory")
	}
	p.Temp = c.toolWideText(def.FilePaths.TempDirectory, "file-paths.temp-directory")
	p.Input = c.toolWideText(def.Input, "input")
	if p.Input != nil {
		c.Report(texts.ParametersAsVariables(*def.Input, "input", n, shellsign.Variables(def.Input.S), "no shell reads the input")...)
	}
	p.DefaultResponse = c.toolWideText(def.InteractiveOptions.DefaultResponse, "interactive-options.default-response")
	p.Output = c.Template(def.Output, "output", expr.Plain, n)
	p.Outputs = outputs(c.Parser, def.Outputs, "outputs", n)
	if def.RetryRun != nil {
		p.RetryRun = &plan.RetryRun{RetryRun: def.RetryRun, Delays: backoff(&def.RetryRun.Retry)}
	}
	if res := def.Resources; res.DeleteTempFiles || len(res.FinalCommands) > 0 || p.Temp != nil {
		p.Cleanup = &plan.Cleanup{}
		for i := range res.FinalCommands {
			path := fmt.Sprintf("resources.cleanup[%d].final-command", i)
			if t := c.final(&res.FinalCommands[i], path); t != nil {
				p.Cleanup.Commands = append(p.Cleanup.Commands, &steps.Command{Template: t, Shell: plan.DefaultShell(), Strict: def.Strict, Stream: &steps.Stream{To: steps.StreamToConsole},
					NoInherit: def.Environment.Inherit != nil && !*def.Environment.Inherit})
			}
		}
	}
}

// toolWideText is template for a text that no shell reads and that must not refer to steps.
func (c *toolCompiler) toolWideText(at *tool.Text, path string) *expr.Template {
	t := c.Template(at, path, expr.Plain, c.names)
	if t == nil || !c.Accepts(mentionsNoStep(*at, t.Refs())) {
		return nil
	}
	return t
}

// final is template for a final-command. It runs after every run, so no step is certain to have a result.
func (c *toolCompiler) final(at *tool.Text, path string) *expr.Template {
	shell := plan.DefaultShell()
	t := c.Template(at, path, plan.ShellOf(shell), c.names)
	if t == nil || !checkScript(c.Parser, *at, path, shell, t) || !c.Accepts(mentionsNone(*at, t.Refs(), "a final-command runs after every run and cannot use results of steps",
		"use a step with run-condition: always() instead")) {
		return nil
	}
	return t
}

// mentionsNoStep returns the problem of the first reference to a step, or to the state, in a text that applies to all
// steps.
func mentionsNoStep(at tool.Text, refs []expr.Ref) tool.Diagnostics {
	for _, r := range refs {
		if r.Class == expr.State {
			return tool.Diagnostics{{Code: "step-in-tool-wide", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len,
				Message: fmt.Sprintf("%s cannot be used here: the state is read when the run starts, and this is evaluated before that", r), Hint: "add it to the steps that need it instead"}}
		}
	}
	return mentionsNone(at, refs, "this applies to all steps and is evaluated before the first one runs", "add it to the steps that need it instead")
}

// mentionsNone returns the problem of the first reference to a step, with the given reason and hint.
func mentionsNone(at tool.Text, refs []expr.Ref, why, hint string) tool.Diagnostics {
	for _, r := range refs {
		if r.Class == expr.Step {
			return tool.Diagnostics{{Code: "step-in-tool-wide", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len,
				Message: fmt.Sprintf("%s cannot be used here: %s", r, why), Hint: hint}}
		}
	}
	return nil
}

// placedVar is an environment variable with its position.
type placedVar struct {
	steps.EnvVar
	at tool.Text
}

// environment compiles the variables of a tool or of a step.
func environment(c *texts.Parser, e tool.Environment, path string, n texts.Names) []placedVar {
	var list []placedVar
	for _, v := range e.Variables {
		if v.Value.Text == nil {
			continue
		}
		c.Report(texts.VariablesInEnvironment(*v.Value.Text, path+"."+v.Key, n)...)
		c.Report(literalHome(*v.Value.Text, path+"."+v.Key)...)
		t := c.Template(v.Value.Text, path+"."+v.Key, expr.Plain, n.InEnvironment())
		if t != nil && c.Accepts(texts.CheckVariable(n, v.Key, *v.Value.Text, path+"."+v.Key, t)) {
			list = append(list, placedVar{steps.EnvVar{Name: v.Key, Value: t}, *v.Value.Text})
		}
	}
	return list
}

// literalHome warns about a ~ that nothing replaces: a shell leaves it as it is in the value of a variable.
func literalHome(at tool.Text, path string) tool.Diagnostics {
	if rest, ok := strings.CutPrefix(at.S, "~"); !ok || rest != "" && rest[0] != '/' {
		return nil
	}
	return tool.Diagnostics{{Code: "literal-home", Severity: tool.Warning, Pos: at.At(0), Len: 1, Path: path,
		Message: "~ is not replaced in the value of a variable, neither by flowrun nor by a shell that uses it", Hint: "write {HOME}"}}
}

// envFiles compiles a list of env-files. prefix is the path of the tool or step that has them.
func envFiles(n texts.Names, list []tool.EnvFile, prefix string, parse func(at *tool.Text, path string) *expr.Template) []steps.EnvFile {
	var files []steps.EnvFile
	for i := range list {
		if t := parse(&list[i].Path, fmt.Sprintf("%senv-files[%d]", prefix, i)); t != nil {
			foreign := slices.ContainsFunc(t.Sources(), n.CallerDecides)
			files = append(files, steps.EnvFile{Path: t, Optional: list[i].Optional, Foreign: foreign, Granted: n.Granted()})
		}
	}
	return files
}

// permissions compiles required-permissions. A permission of an unknown kind is only a warning: it is shown and
// requested as it is written.
func (c *toolCompiler) permissions() {
	list := c.plan.Definition.Security.RequiredPermissions
	for i := range list {
		at := &list[i]
		path := fmt.Sprintf("security.required-permissions[%d]", i)
		if wrong := permission.Problem(at.S); wrong != "" {
			c.Report(tool.Diagnostic{Code: "unknown-permission", Severity: tool.Warning, Pos: at.Pos, Len: len([]rune(at.S)), Path: path,
				Message: wrong, Hint: permission.Forms})
		}
		if t := c.toolWideText(at, path); t != nil {
			c.plan.Permissions = append(c.plan.Permissions, plan.Permission{Written: at.S, Text: t})
		}
	}
}

// declarations returns what a command or a script must write.
func declarations(list []*tool.DeclaredOutput) []stepfile.Declaration {
	var all []stepfile.Declaration
	for _, o := range list {
		all = append(all, stepfile.Declaration{Name: o.Name, Type: o.Type, Optional: o.Optional})
	}
	return all
}

// outputs compiles the values of the outputs of a tool or of a group of steps.
func outputs(c *texts.Parser, list []*tool.DeclaredOutput, path string, n texts.Scope) (all []plan.Output) {
	for i, d := range declarations(list) {
		if t := c.Template(list[i].Value, path+"."+d.Name, expr.Plain, n); t != nil {
			all = append(all, plan.Output{Declaration: d, Value: t})
		}
	}
	return all
}
