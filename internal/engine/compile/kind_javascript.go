package compile

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/script"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// javaScriptKind compiles JavaScript steps.
type javaScriptKind struct{}

func (javaScriptKind) traits() traits { return traits{streams: true} }

func (javaScriptKind) compile(c *stepCompiler, s *plan.Step) {
	def := c.step.Script()
	c.tool.plan.Scripts[c.step.Name] = true
	c.reportInertKeys("a JavaScript step", "remove it; the script reads params, steps and env",
		"environment", "env-files", "output.masked-values", "output.mode", "output.buffer-limit", "output.truncation")
	r := &plan.Script{Def: def, Base: c.baseCommand(nil, ""), Locals: c.names.Locals()}
	if def.Module != nil {
		r.Compiled = jsrun.CompileModule(def.Module)
	} else {
		r.Vars = scriptVars(c.stepTexts, def)
		r.Compiled = compileScript(c.Parser, def.Code, r.Form(), r.Names()...)
	}
	if r.Compiled == nil {
		return
	}
	if def.Role == tool.RoleStep {
		recordReads(c.stepTexts, r)
		warnPlaceholders(c.stepTexts, def.Code)
	}
	if c.definition.Format == tool.Markdown {
		warnUndeclaredMentions(c.stepTexts, r.Compiled)
		warnPagePlaceholders(c.stepTexts, def.Code)
	}
	s.Script, s.Runner, s.OwnWork = r, &script.Runner{Script: r}, plan.WorkInScript
}

// compileScript compiles JavaScript. It returns nil if the code has errors.
func compileScript(c *texts.Parser, code tool.Text, form jsrun.Form, vars ...string) *jsrun.Script {
	script, ds := jsrun.Compile(code, form, vars...)
	c.Report(ds...)
	if ds.Err() != nil {
		return nil
	}
	return script
}

// scriptVars compiles the variables that the definition adds to the script's scope.
func scriptVars(c *stepTexts, def *tool.JSCode) (list []plan.WithValue) {
	for _, e := range def.Vars {
		list = append(list, plan.WithValue{Param: e.Key, Value: c.Value(e.Value, "js."+e.Key, scriptNames(c, e.Key), c.addReferences)})
	}
	return list
}

// recordReads determines which steps, parameters and variables a script reads, as if they were in placeholders.
func recordReads(c *stepTexts, r *plan.Script) {
	params, whole, _ := r.Compiled.Mentions("params")
	for _, m := range params {
		recordParameter(c, m)
	}
	if whole {
		for _, name := range c.names.Parameters() {
			c.useParameter(name)
		}
	}
	env, whole, _ := r.Compiled.Mentions("env")
	r.Env = whole || len(env) > 0
	list, whole, at := r.Compiled.Mentions("steps")
	if whole {
		c.Report(tool.Diagnostic{Code: "js-steps", Severity: tool.Error, Pos: c.step.Script().Code.At(at), Len: len("steps"), Path: c.key("js"),
			Message: "cannot find out which steps the script reads: it uses steps as a whole",
			Hint:    `name each step, as in steps.build.output or steps["my-step"].json, so that the script waits for it`})
	}
	for _, m := range list {
		recordStep(c, r, m)
	}
}

func recordParameter(c *stepTexts, m jsrun.Mention) {
	if c.names.HasParameter(m.Name) {
		c.useParameter(m.Name)
		return
	}
	if c.definition.Format.AllowsUndeclared() {
		return
	}
	unknownMention(c, m, m.Name, fmt.Sprintf("the script reads unknown parameter %q", m.Name), c.names.Parameters)
}

func recordStep(c *stepTexts, r *plan.Script, m jsrun.Mention) {
	if c.names.Symbol(m.Name).Class != expr.Step {
		message := fmt.Sprintf("the script reads unknown step %q", m.Name)
		if why, _ := c.names.OutOfReach(m.Name); c.names.HasStep(m.Name) {
			message = why
		}
		unknownMention(c, m, m.Name, message, c.names.Steps)
		return
	}
	if m.Name == c.step.Name {
		unknownMention(c, m, "", fmt.Sprintf("the script of step %q reads its own result", m.Name), func() []string { return nil })
		return
	}
	field := ""
	if len(m.Path) > 0 {
		field = m.Path[0]
	}
	if _, ok := script.StepField(field); !ok && field != "" {
		unknownMention(c, m, field, fmt.Sprintf("step %q has no field %q", m.Name, field), script.StepFieldNames)
		return
	}
	if known := slices.Collect(maps.Keys(c.names.Outputs(m.Name))); field == "outputs" && len(m.Path) > 1 && !slices.Contains(known, m.Path[1]) {
		unknownMention(c, m, m.Path[1], fmt.Sprintf("step %q has no output %q", m.Name, m.Path[1]), func() []string { return known })
		return
	}
	c.mention(m.Name, streamsOf(field))
	c.edges = append(c.edges, edge{m.Name, &c.step.Script().Code, m.Off})
	r.Mention(m.Name, field)
}

// streamsOf returns the streams that a field of a step is made from, or those of all fields for "".
func streamsOf(field string) steps.Streams {
	if field == "" {
		return steps.Stdout | steps.Stderr
	}
	field, _ = script.StepField(field)
	return plan.Read(expr.Ref{Class: expr.Step, Path: []expr.Segment{{Field: field}}})
}

// unknownMention reports an unknown name in a script.
func unknownMention(c *stepTexts, m jsrun.Mention, name, message string, known func() []string) {
	hint := ""
	if c.MayHint(tool.Error) {
		names := slices.Sorted(slices.Values(known()))
		hint = texts.DidYouMean(name, names, "known names: "+cmp.Or(strings.Join(names, ", "), "none"))
	}
	c.Report(tool.Diagnostic{Code: "js-unknown", Severity: tool.Error, Pos: c.step.Script().Code.At(m.Off), Len: m.Len, Path: c.key("js"), Message: message, Hint: hint})
}

// quotedPlaceholder matches text in quotes that contains {NAME}.
var quotedPlaceholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"[^"\n]*?\{([^{}"'\n]+)\}[^"\n]*"|'[^'\n]*?\{([^{}"'\n]+)\}[^'\n]*'`)
})

// warnPlaceholders warns about placeholders in a script: they are not replaced there.
func warnPlaceholders(c *stepTexts, code tool.Text) {
	for _, at := range quotedPlaceholder().FindAllStringSubmatchIndex(code.S, -1) {
		from, to := max(at[2], at[4]), max(at[3], at[5])
		root := texts.RootOf(code.S[from:to])
		way := ""
		switch c.names.Symbol(root).Class {
		case expr.Parameter:
			way = "params." + root
		case expr.Step:
			way = "steps." + root
		default:
			continue
		}
		c.Report(tool.Diagnostic{Code: "js-placeholder", Severity: tool.Warning, Pos: code.At(from - 1), Len: to - from + 2, Path: c.key("js"),
			Message: fmt.Sprintf("{%s} is only text in JavaScript: flowrun does not replace placeholders in scripts", code.S[from:to]), Hint: "write " + way})
	}
}
