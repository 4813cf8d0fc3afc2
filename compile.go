package flowrun

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dag"
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
	// What could be read of a definition with errors is compiled all the same, so
	// that the author hears of everything at once.
	return c.result(c.tool(def, false))
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

// found adds what expr says of a text, with its place in the file and the nearest
// of the names that it could have meant.
func (c *compiler) found(at tool.Text, path string, ps []expr.Problem, n expr.Names) bool {
	bad := false
	for _, p := range ps {
		d := tool.Diagnostic{Code: p.Code, Severity: tool.Error, Pos: at.At(p.Off), Len: p.Len, Path: path, Message: p.Message, Hint: p.Hint}
		if p.Warning {
			d.Severity = tool.Warning
		}
		if near := nearest(at.S[p.Off:min(p.Off+p.Len, len(at.S))], p.Code, n); near != "" {
			d.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		bad = bad || !p.Warning
		c.report(d)
	}
	return bad
}

// nearest is the known name closest to the root of an unknown reference.
func nearest(ref, code string, n expr.Names) string {
	known, ok := n.(interface{ ids() []string })
	if !ok || code != expr.CodeUnknown && code != expr.CodeUndeclared {
		return ""
	}
	root, _, _ := strings.Cut(strings.Trim(ref, "{}'\""), ".")
	if near := tool.Near(root, known.ids()); len(near) > 0 {
		return near[0]
	}
	return ""
}

// template parses a text; nil stays nil.
func (c *compiler) template(at *tool.Text, path string, sh expr.Shell, n expr.Names) *expr.Template {
	if at == nil {
		return nil
	}
	t, ps := expr.ParseTemplate(at.S, sh, n)
	if c.found(*at, path, ps, n) {
		return nil
	}
	return t
}

func (c *compiler) condition(at *tool.Text, path string, n expr.Names) *expr.Condition {
	if at == nil {
		return nil
	}
	cond, ps := expr.ParseCondition(at.S, n)
	if c.found(*at, path, ps, n) {
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
			if w.S != s.Name { // diagnosed where it was read
				sc.edges = append(sc.edges, edge{w.S, w.Pos})
			}
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
	if s.retry != nil {
		for _, r := range s.retry.Refs() {
			streams |= read(r)
		}
	}
	for _, hands := range []dag.Runner{s.run, s.policy.Fallback} {
		if cmd, ok := hands.(*steps.Command); ok {
			cmd.Keep = streams
		}
	}
	if s.def.Kind == tool.UseTool {
		s.nested = c.nested(def, s.def, streams&steps.Stdout != 0)
	}
}

// mention notes which stream of which step a reference reads.
func mention(kept map[string]steps.Streams, r expr.Ref) {
	if r.Class == expr.Step {
		kept[r.Root] |= read(r)
	}
}

// read is the stream a reference to a step, or to the last try, reads.
func read(r expr.Ref) steps.Streams {
	if r.Class != expr.Step && r.Class != expr.Last || len(r.Path) == 0 {
		return 0
	}
	switch r.Path[0].Field {
	case "output", "stdout", "json":
		return steps.Stdout
	case "error", "stderr":
		return steps.Stderr
	}
	return 0
}
