package flowrun

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// maxNesting bounds use-tool and alias chains.
const maxNesting = 32

// Compile finds the tool called name (or the file, when name is a path), resolves
// everything it mentions and checks its graph. Errors: a *tool.NotFoundError, or
// tool.Diagnostics with every problem of the tool and of the tools it uses.
func Compile(lib *tool.Library, name string) (*Plan, error) {
	def, ds, err := lib.Lookup(name, nil)
	if err != nil {
		return nil, err
	}
	c := &compiler{lib: lib, problems: ds, done: map[nestedKey]*Plan{}}
	var p *Plan
	if ds.Err() == nil {
		p = c.tool(def, false)
	}
	return c.result(p)
}

// CompileDefinition compiles a definition that was loaded or made by the caller;
// lib finds the tools it uses.
func CompileDefinition(lib *tool.Library, def *tool.Definition) (*Plan, error) {
	c := &compiler{lib: lib, done: map[nestedKey]*Plan{}}
	return c.result(c.tool(def, false))
}

// compiler is one Compile call.
type compiler struct {
	lib      *tool.Library
	problems tool.Diagnostics
	chain    []string // tools being compiled, outermost first
	done     map[nestedKey]*Plan
}

type nestedKey struct {
	def  *tool.Definition
	keep bool
}

func (c *compiler) result(p *Plan) (*Plan, error) {
	ds := c.problems.Sorted()
	if err := ds.Err(); err != nil {
		return nil, err
	}
	p.Warnings = ds
	return p, nil
}

func (c *compiler) report(d tool.Diagnostic) { c.problems = append(c.problems, d) }

func (c *compiler) errorf(code string, at tool.Text, hint, format string, args ...any) {
	c.report(tool.Diagnostic{Code: code, Severity: tool.Error, Pos: at.Pos, Len: len([]rune(at.S)),
		Message: fmt.Sprintf(format, args...), Hint: hint})
}

// found adds what expr says of a text, with its place in the file.
func (c *compiler) found(at tool.Text, path string, ps []expr.Problem) bool {
	bad := false
	for _, p := range ps {
		d := tool.Diagnostic{Code: p.Code, Severity: tool.Error, Pos: at.At(p.Off), Len: p.Len, Path: path, Message: p.Message, Hint: p.Hint}
		if p.Warning {
			d.Severity = tool.Warning
		}
		bad = bad || !p.Warning
		c.report(d)
	}
	return bad
}

// template parses a text; nil stays nil.
func (c *compiler) template(at *tool.Text, path string, sh expr.Shell, n expr.Names) *expr.Template {
	if at == nil {
		return nil
	}
	t, ps := expr.ParseTemplate(at.S, sh, n)
	if c.found(*at, path, ps) {
		return nil
	}
	return t
}

func (c *compiler) condition(at *tool.Text, path string, n expr.Names) *expr.Condition {
	if at == nil {
		return nil
	}
	cond, ps := expr.ParseCondition(at.S, n)
	if c.found(*at, path, ps) {
		return nil
	}
	return cond
}

// tool compiles one definition, once for each way it is used. keep says that
// somebody mentions its output.
func (c *compiler) tool(def *tool.Definition, keep bool) *Plan {
	key := nestedKey{def, keep}
	if p, ok := c.done[key]; ok {
		return p
	}
	c.chain = append(c.chain, def.Name)
	defer func() { c.chain = c.chain[:len(c.chain)-1] }()
	def = c.base(def)
	if def == nil {
		return nil
	}
	c.problems = append(c.problems, def.Notices...)
	c.checkRuntime(def)
	p := &Plan{Definition: def, names: namesOf(def)}
	c.parameters(p)
	c.toolWide(p)
	c.steps(p, keep)
	if c.problems.Err() == nil {
		if err := p.build(); err != nil {
			c.errorf("graph", tool.Text{Pos: def.Pos}, "", "%v", err)
		}
	}
	c.done[key] = p
	return p
}

// base is what an alias stands for: the base tool with the alias's name,
// description, tags, timeout and default parameters (S1-165 to S1-167). Any other
// definition stands for itself.
func (c *compiler) base(def *tool.Definition) *tool.Definition {
	if !def.Alias {
		return def
	}
	b := c.lookup(def, def.BaseTool)
	if b == nil {
		return nil
	}
	c.chain = append(c.chain, b.Name)
	b = c.base(b)
	c.chain = c.chain[:len(c.chain)-1]
	if b == nil {
		return nil
	}
	merged := *b
	merged.Name = def.Name
	if def.Description != "" {
		merged.Description = def.Description
	}
	if len(def.Tags) > 0 {
		merged.Tags = def.Tags
	}
	if def.Timeout > 0 {
		merged.Timeout = def.Timeout
	}
	merged.Deprecated, merged.DeprecatedMessage = def.Deprecated, def.DeprecatedMessage
	merged.Parameters = c.aliasDefaults(def, b)
	return &merged
}

func (c *compiler) aliasDefaults(def, base *tool.Definition) []*tool.Parameter {
	list := slices.Clone(base.Parameters)
	var known []string
	for _, p := range list {
		known = append(known, p.Name)
	}
	for i := range def.DefaultParameters {
		e := &def.DefaultParameters[i]
		at := slices.Index(known, e.Key)
		if at < 0 {
			c.unknownParameter(e, base.Name, known)
			continue
		}
		p := *list[at]
		p.Default = &e.Value
		list[at] = &p
	}
	return list
}

func (c *compiler) unknownParameter(e *tool.Entry, toolName string, known []string) {
	hint := fmt.Sprintf("tool %s has no parameters", toolName)
	if len(known) > 0 {
		hint = "its parameters are " + strings.Join(known, ", ")
	}
	if near := tool.Near(e.Key, known); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	c.errorf("unknown-parameter", tool.Text{S: e.Key, Pos: e.Pos}, hint, "tool %s has no parameter %q", toolName, e.Key)
}

// checkRuntime refuses what this machine or this version cannot run.
func (c *compiler) checkRuntime(def *tool.Definition) {
	if v := def.MinVersion; v != nil && newer(v.S, CompatibilityLevel) {
		c.errorf("min-version", *v, "update flowrun, or lower min-cycod-version",
			"tool %s needs version %s; this is compatibility level %s", def.Name, v.S, CompatibilityLevel)
	}
}

// CompatibilityLevel is what min-cycod-version is compared with (S1-013).
const CompatibilityLevel = "1.2.0"

// toolWide compiles what holds for all steps and so may not mention any.
func (c *compiler) toolWide(p *Plan) {
	def, n := p.Definition, p.names
	for _, v := range c.environment(def.Environment, "environment", n) {
		if c.mentionsNoStep(v.at, v.Value) {
			p.environ = append(p.environ, v.EnvVar)
		}
	}
	p.secrets = def.Environment.Secrets
	p.dir = c.wide(def.WorkingDirectory, "working-directory", expr.Plain, n)
	if def.WorkingDirectory == nil {
		p.dir = c.wide(def.FilePaths.WorkingDirectory, "file-paths.working-directory", expr.Plain, n)
	}
	p.temp = c.wide(def.FilePaths.TempDirectory, "file-paths.temp-directory", expr.Plain, n)
	p.input = c.wide(def.Input, "input", expr.Plain, n)
	p.output = c.template(def.Output, "output", expr.Plain, n)
	if res := def.Resources; res.DeleteTempFiles || len(res.FinalCommands) > 0 || p.temp != nil {
		p.cleanup = &cleanup{}
		for i := range res.FinalCommands {
			path := fmt.Sprintf("resources.cleanup[%d].final-command", i)
			if t := c.wide(&res.FinalCommands[i], path, shellOf(defaultShell()), n); t != nil {
				p.cleanup.commands = append(p.cleanup.commands, &steps.Command{Template: t, Shell: defaultShell()})
			}
		}
	}
}

// wide is template for a text that may not mention steps.
func (c *compiler) wide(at *tool.Text, path string, sh expr.Shell, n expr.Names) *expr.Template {
	t := c.template(at, path, sh, n)
	if t == nil || !c.mentionsNoStep(*at, t) {
		return nil
	}
	return t
}

// mentionsNoStep reports the first step that a tool-wide text mentions.
func (c *compiler) mentionsNoStep(at tool.Text, t *expr.Template) bool {
	for _, r := range t.Refs() {
		if r.Class == expr.Step {
			c.report(tool.Diagnostic{Code: "step-in-tool-wide", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len,
				Message: fmt.Sprintf("%s cannot stand here: this holds for all steps and is read before the first one runs", r),
				Hint:    "give it to the steps that need it instead"})
			return false
		}
	}
	return true
}

// placedVar is an environment variable with its place.
type placedVar struct {
	steps.EnvVar
	at tool.Text
}

func (c *compiler) environment(e tool.Environment, path string, n names) []placedVar {
	var list []placedVar
	for _, v := range e.Variables {
		if v.Value.Text == nil {
			continue
		}
		if t := c.template(v.Value.Text, path+"."+v.Key, expr.Plain, environNames{n}); t != nil {
			list = append(list, placedVar{steps.EnvVar{Name: v.Key, Value: t}, *v.Value.Text})
		}
	}
	return list
}

// steps compiles the steps, orders them and works out what each must keep.
func (c *compiler) steps(p *Plan, keep bool) {
	def := p.Definition
	explicit := make(map[*tool.Step][]edge, len(def.Steps))
	compiled := make(map[*tool.Step]*planStep, len(def.Steps))
	kept := map[string]steps.Streams{}
	for i, s := range def.Steps {
		sc := &stepCompiler{compiler: c, plan: p, step: s, index: i}
		if def.Single {
			sc.index = -1
		}
		for _, w := range s.WaitFor {
			sc.edges = append(sc.edges, edge{w.S, w.Pos})
		}
		compiled[s] = sc.compile()
		explicit[s] = sc.edges
		for name, streams := range sc.mentioned {
			kept[name] |= streams
		}
	}
	if p.output != nil {
		for _, r := range p.output.Refs() {
			mention(kept, r)
		}
	}
	plan, joins, ds := order(def.Steps, explicit)
	c.problems = append(c.problems, ds...)
	p.steps = make([]*planStep, 0, len(plan))
	for _, o := range plan {
		s := compiled[o.step]
		s.after, s.join = o.after, joins[o.step.Name]
		s.keep(c, def, kept[o.step.Name], keep)
		p.steps = append(p.steps, s)
	}
	c.lint(p)
}

// keep tells the step's hands which of its streams others read.
func (s *planStep) keep(c *compiler, def *tool.Definition, streams steps.Streams, output bool) {
	if output {
		streams |= steps.Stdout
	}
	if s.command != nil {
		s.command.Keep = streams
	}
	if s.def.Kind == tool.UseTool {
		s.nested = c.nested(def, s.def, streams&steps.Stdout != 0)
	}
}

// mention notes which stream of which step a reference reads.
func mention(kept map[string]steps.Streams, r expr.Ref) {
	if r.Class != expr.Step || len(r.Path) == 0 {
		return
	}
	switch r.Path[0].Field {
	case "output", "stdout", "json":
		kept[r.Root] |= steps.Stdout
	case "error", "stderr":
		kept[r.Root] |= steps.Stderr
	default:
		kept[r.Root] |= 0
	}
}

// nested compiles the tool a step uses.
func (c *compiler) nested(user *tool.Definition, s *tool.Step, keep bool) *Plan {
	def := c.lookup(user, s.UseTool)
	if def == nil {
		return nil
	}
	p := c.tool(def, keep)
	if p == nil {
		return nil
	}
	c.checkWith(s, p)
	return p
}

// lookup finds a tool that another names, and reports when it does not exist or
// the chain comes back to itself.
func (c *compiler) lookup(from *tool.Definition, name tool.Text) *tool.Definition {
	def, ds, err := c.lib.Lookup(name.S, from)
	if err != nil {
		c.errorf("unknown-tool", name, hintFor(err), "cannot use tool %q: %v", name.S, err)
		return nil
	}
	if i := slices.Index(c.chain, def.Name); i >= 0 {
		c.errorf("recursion", name, "a tool may not use itself, not even through others",
			"tools use each other in a circle: %s", strings.Join(append(slices.Clone(c.chain[i:]), def.Name), " -> "))
		return nil
	}
	if len(c.chain) >= maxNesting {
		c.errorf("nesting", name, "flatten some of the tools", "tools are nested deeper than %d: %s", maxNesting, strings.Join(c.chain, " -> "))
		return nil
	}
	c.problems = append(c.problems, ds...)
	if ds.Err() != nil {
		return nil
	}
	return def
}

func hintFor(err error) string {
	if nf, ok := err.(*tool.NotFoundError); ok && len(nf.Near) > 0 {
		return fmt.Sprintf("did you mean %q?", nf.Near[0])
	}
	return "flowrun looks beside the file, then in the local, user and global tool folders"
}

// checkWith holds a use-tool step's with against the tool's parameters.
func (c *compiler) checkWith(s *tool.Step, p *Plan) {
	given := map[string]bool{}
	var known []string
	for _, prm := range p.params {
		known = append(known, prm.def.Name)
	}
	for i := range s.With {
		w := &s.With[i]
		given[w.Key] = true
		if !slices.Contains(known, w.Key) {
			c.unknownParameter(w, p.Name(), known)
		}
	}
	for _, prm := range p.params {
		if prm.def.Required && prm.def.Default == nil && !given[prm.def.Name] {
			c.errorf("missing-parameter", s.UseTool, fmt.Sprintf("add %s under with:", prm.def.Name),
				"tool %s needs parameter %s", p.Name(), prm.def.Name)
		}
	}
}

// neverTrue is the condition people write for recovery when they forget that a
// failed step taints the next one.
var neverTrue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{([^{}]+)\.exit-code\}\s*(!=|!==|>)\s*0\s*$`) })

// lint warns of conditions that cannot become true.
func (c *compiler) lint(p *Plan) {
	if p.Definition.IgnoreErrors {
		return
	}
	tolerated := map[string]bool{}
	for _, s := range p.steps {
		tolerated[s.def.Name] = s.def.ContinueOnError
	}
	for _, s := range p.steps {
		if s.def.RunCondition == nil {
			continue
		}
		m := neverTrue().FindStringSubmatch(s.def.RunCondition.S)
		if m == nil {
			continue
		}
		if t, known := tolerated[m[1]]; known && !t {
			c.report(tool.Diagnostic{Code: "never-runs", Severity: tool.Warning, Pos: s.def.RunCondition.Pos, Len: len(m[0]),
				Message: fmt.Sprintf("step %s can never run: when %s fails, what waits for it is skipped", s.def.Name, m[1]),
				Hint:    fmt.Sprintf("give %s `continue-on-error: true`, or write the condition as failure()", m[1])})
		}
	}
}

// defaultShell is the shell of script, commands, fallback and final-command where
// a step names none.
func defaultShell() string {
	if runtime.GOOS == "windows" {
		return "cmd"
	}
	return "bash"
}

func shellOf(name string) expr.Shell {
	sh, _ := expr.ShellByName(name)
	return sh
}

// newer says whether version a is above b, number by number.
func newer(a, b string) bool {
	as, bs := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := part(as, i), part(bs, i)
		if x != y {
			return x > y
		}
	}
	return false
}

func part(list []string, i int) (n int) {
	if i < len(list) {
		fmt.Sscanf(list[i], "%d", &n)
	}
	return n
}
