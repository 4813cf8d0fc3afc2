package flowrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// Preview is what a run would do, as far as that is known before it starts.
type Preview struct {
	Schema string         `json:"schema"` // flowrun/plan.v1
	Tool   string         `json:"tool"`
	Params map[string]any `json:"params"`          // secrets masked
	Steps  []PreviewStep  `json:"steps"`           // in plan order, nested ones after the step that holds them
	Tools  []PreviewTool  `json:"tools"`           // the tool and, by step, those it uses
	Needs  []Need         `json:"needs,omitempty"` // what the run takes at its start, and waits for
}

// Permissions are those that the tools ask for, each once, where they really lead.
func (p *Preview) Permissions() []string {
	var list []string
	for _, t := range p.Tools {
		for _, n := range t.Permissions {
			if !slices.Contains(list, n.Resolved) {
				list = append(list, n.Resolved)
			}
		}
	}
	return list
}

// PreviewTool is a tool in a Preview: what it asks for, and what it does beside its
// steps.
type PreviewTool struct {
	Step          string       `json:"step,omitempty"` // the path of the step that uses it; "" for the tool itself
	Name          string       `json:"name"`
	File          string       `json:"file,omitempty"`
	Scope         tool.Scope   `json:"scope,omitempty"`
	Tags          []string     `json:"tags,omitempty"`
	Privilege     string       `json:"execution_privilege,omitempty"`
	Permissions   []Permission `json:"permissions,omitempty"`
	Justification string       `json:"justification,omitempty"`
	Secrets       []string     `json:"secrets,omitempty"`        // commands that secrets are taken from
	Sources       []string     `json:"secret_sources,omitempty"` // of every secret: variables, files, commands
	Cleanup       []string     `json:"cleanup,omitempty"`        // commands that run after everything else
	Notify        []string     `json:"notify,omitempty"`         // commands and addresses that are told how the run ends
	Surroundings
}

// PreviewStep is one step of a Preview. Steps of one wave can run at the same
// time.
type PreviewStep struct {
	ID        string       `json:"id"`
	Wave      int          `json:"wave"` // counts from 1, within its tool
	After     []string     `json:"after,omitempty"`
	Kind      string       `json:"kind"`
	Command   string       `json:"command"`            // resolved; {step.output} where not known yet
	Loop      string       `json:"loop,omitempty"`     // what it runs for: how many items, or what they are made of
	Fallback  string       `json:"fallback,omitempty"` // command that runs after the last failed try
	Handler   string       `json:"handler,omitempty"`  // when it runs: on-failure, or on-failure of STEP
	Condition string       `json:"condition,omitempty"`
	Verdict   expr.Verdict `json:"verdict"` // of the condition
	Why       string       `json:"why,omitempty"`
	Problem   string       `json:"problem,omitempty"` // what would make the step fail before it starts
	Surroundings
}

// preview works out what a call would run. The arguments are of no use afterwards.
func (p *compiledPlan) preview(ctx context.Context, a *callArgs) (*Preview, error) {
	a.foresee()
	defer a.world.scripts(hooks.Config{})()
	if err := a.openEnvironment(ctx); err != nil {
		return nil, err
	}
	v := &previewer{ctx: ctx, out: &Preview{Schema: "flowrun/plan.v1", Tool: p.Name(), Params: a.shown()}}
	v.tool(p, a, "")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return v.out, nil
}

type previewer struct {
	ctx context.Context // nothing more is worked out once it is done
	out *Preview
}

func (v *previewer) tool(p *compiledPlan, a *callArgs, prefix string) {
	waves := p.waves()
	if !p.group {
		v.about(p, a, prefix)
	}
	for _, s := range p.steps {
		if v.ctx.Err() != nil {
			return
		}
		id := dag.ID(s.def.Name)
		step := PreviewStep{ID: prefix + s.def.Name, Wave: waves[id], Kind: string(s.def.Kind)}
		for _, up := range p.Upstream(s.def.Name) {
			step.After = append(step.After, prefix+up)
		}
		if h := s.handler; h != nil {
			step.Handler = strings.TrimSuffix(h.key+" of "+h.step, " of ")
		}
		v.loop(s, a, &step)
		v.condition(s, a, &step)
		step.Surroundings = s.around(a.display)
		inner := v.body(s, a, &step)
		v.out.Steps = append(v.out.Steps, step)
		switch {
		case inner != nil:
			v.tool(s.nested, inner, step.ID+"/")
		case s.nested != nil:
			v.unbound(s.nested, step.ID+"/", a.Session().Mask().String)
		}
	}
}

// about tells of the tool itself; a is nil where its parameters are not known.
func (v *previewer) about(p *compiledPlan, a *callArgs, prefix string) {
	def := p.Definition
	t := PreviewTool{Step: strings.TrimSuffix(prefix, "/"), Name: def.Name, File: def.File, Scope: def.Scope, Tags: def.Tags,
		Privilege: def.Security.ExecutionPrivilege, Permissions: p.permissionsOf(a), Justification: def.Security.Justification}
	for i, text := range def.Resources.FinalCommands {
		command := text.S
		if a != nil {
			command = a.display(p.cleanup.commands[i].Template)
		}
		t.Cleanup = append(t.Cleanup, command)
	}
	show := func(t *expr.Template) string { return t.Display(nothingKnown{}, nil) }
	if a != nil {
		show = a.display
	}
	t.Surroundings = surroundings(p.environ, p.envFiles, p.input, show)
	if prefix == "" {
		t.Notify = p.notified(a.Session().Mask().String)
	}
	for _, s := range p.allSources() {
		t.Sources = append(t.Sources, s.source(show))
		if s.argv != nil {
			t.Secrets = append(t.Secrets, show(s.argv))
		}
	}
	v.out.Tools = append(v.out.Tools, t)
}

// display is a command as a person would write it, secrets masked, those that stand in
// the definition too.
func (a *callArgs) display(t *expr.Template) string {
	mask := a.Session().Mask().String
	return mask(t.Display(scope{args: a}, mask))
}

// unbound tells of a nested tool whose parameters are not known before the run: its
// commands as they are written.
func (v *previewer) unbound(p *compiledPlan, prefix string, mask func(string) string) {
	if !p.group {
		v.about(p, nil, prefix)
	}
	waves := p.waves()
	for _, s := range p.steps {
		if v.ctx.Err() != nil {
			return
		}
		step := PreviewStep{ID: prefix + s.def.Name, Wave: waves[dag.ID(s.def.Name)], Kind: string(s.def.Kind), Verdict: expr.NotYet}
		step.Surroundings = s.around(func(t *expr.Template) string { return mask(t.Display(nothingKnown{}, mask)) })
		switch {
		case s.command != nil:
			step.Command = mask(s.command.Template.Display(nothingKnown{}, mask))
		case s.script != nil:
			step.Command = mask(s.script.told())
		case s.nested != nil:
			step.Command = s.nested.Name()
		default:
			step.Command = mask(s.told(nil, func(t *expr.Template) string { return mask(t.Display(nothingKnown{}, mask)) }))
		}
		if cmd, ok := s.policy.Fallback.(*steps.Command); ok {
			step.Fallback = mask(cmd.Template.Display(nothingKnown{}, mask))
		}
		v.out.Steps = append(v.out.Steps, step)
		if s.nested != nil {
			v.unbound(s.nested, step.ID+"/", mask)
		}
	}
}

// told is what a step without a command does, in words; a is nil where the parameters are
// not known. What a step in Go says is not masked.
func (s *planStep) told(a *callArgs, show func(*expr.Template) string) string {
	switch r := s.run.(type) {
	case interface {
		Describe(show func(*expr.Template) string) string
	}:
		return r.Describe(show)
	case goRunner:
		return r.tool.told(a)
	}
	return "(Go function)"
}

// nothingKnown is a scope in which every reference stays as it is written.
type nothingKnown struct{}

func (nothingKnown) Lookup(expr.Ref) (expr.Value, error) { return expr.Value{}, expr.ErrUnknown }

func (v *previewer) loop(s *planStep, a *callArgs, step *PreviewStep) {
	if s.loop == nil {
		return
	}
	items, err := s.loop.list(scope{args: a})
	switch {
	case err == nil:
		step.Loop = fmt.Sprintf("%d items", items.Len())
	case s.loop.def.Matrix():
		step.Loop = "a matrix"
	case s.loop.def.Items.Text != nil:
		step.Loop = a.Session().Mask().String(s.loop.def.Items.Text.S)
	default:
		step.Loop = fmt.Sprintf("%d items", len(s.loop.def.Items.List))
	}
}

func (v *previewer) condition(s *planStep, a *callArgs, step *PreviewStep) {
	if s.when == nil {
		return
	}
	mask := a.Session().Mask()
	step.Condition = mask.String(s.def.RunCondition.S)
	step.Verdict, step.Why = s.foresee(a)
	step.Why = mask.String(step.Why)
}

// foresee is what is known of the step's condition. One that asks how other steps
// ended, or whether the run was cancelled, is known where the answer does not
// matter.
func (s *planStep) foresee(a *callArgs) (expr.Verdict, string) {
	verdict, why := s.when.Explain(scope{args: a}, expr.Status{Ahead: true})
	for _, st := range []expr.Status{{Cancelled: true}, {Tainted: true}, {Tainted: true, Cancelled: true}} {
		if st.Tainted && len(s.after) == 0 {
			break // nothing before it can fail
		}
		if other, _ := s.when.Explain(scope{args: a}, st); other != verdict {
			return expr.NotYet, "it depends on how the run goes until then"
		}
	}
	return verdict, why
}

// body resolves what the step runs; for use-tool it answers the nested tool's
// arguments as far as they are known.
func (v *previewer) body(s *planStep, a *callArgs, step *PreviewStep) *callArgs {
	mask := a.Session().Mask().String
	if cmd, ok := s.policy.Fallback.(*steps.Command); ok {
		step.Fallback = a.display(cmd.Template)
	}
	switch {
	case s.command != nil:
		step.Command = a.display(s.command.Template)
		if shellOf(s.command.Shell) == expr.Cmd && platform() != "windows" {
			step.Problem = "cmd steps run on Windows only"
		}
		if step.Problem == "" {
			step.Problem = foreseeConfinement(a)
		}
	case s.script != nil:
		step.Command = mask(s.script.told())
		step.Problem = unconfined(a.confine, workInScript)
	case s.nested == nil:
		step.Command = mask(s.told(a, a.display))
	case s.nested.group:
		step.Command = fmt.Sprintf("(%d steps)", len(s.nested.steps))
		return a
	default:
		return v.nested(s, a, step, mask)
	}
	return nil
}

func (v *previewer) nested(s *planStep, a *callArgs, step *PreviewStep, mask func(string) string) *callArgs {
	raw, unknown := s.foreseenWith(a)
	words := []string{s.nested.Name()}
	for _, w := range s.with {
		if g, ok := raw[w.param]; ok {
			words = append(words, fmt.Sprintf("%s=%s", w.param, mask(plain(g.v))))
		}
	}
	step.Command = strings.Join(words, " ")
	inner, err := s.nested.bind(v.ctx, a.world, raw)
	if err != nil {
		step.Problem = mask(s.foreseenProblem(err, unknown))
		return nil
	}
	inner.foreseeInside(a, len(unknown) > 0)
	if err := inner.openEnvironment(v.ctx); err != nil {
		step.Problem = mask(err.Error())
		return nil
	}
	return inner
}

// foreseenProblem is what is wrong with the parameters of the nested tool, whatever the
// unknown ones turn out to be.
func (s *planStep) foreseenProblem(err error, unknown []string) string {
	var bad *ParamsError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	sure := &ParamsError{Tool: bad.Tool}
	for _, p := range bad.Problems {
		open := p.Name == "" && len(unknown) > 0 || p.Code == "missing" && s.withAll != nil
		if !open && !slices.Contains(unknown, p.Parameter()) {
			sure.Problems = append(sure.Problems, p)
		}
	}
	return strings.ReplaceAll(sure.Error(), "\n", "; ")
}

// foreseenWith is what with gives to the nested tool as far as that is known before
// the run; in the place of a value that is not stands the reference.
func (s *planStep) foreseenWith(a *callArgs) (raw map[string]given, unknown []string) {
	raw = map[string]given{}
	for _, w := range s.with {
		watch := &callerWatch{Scope: scope{args: a}}
		val, err := w.value.value(watch)
		switch {
		case err != nil:
			val = s.writtenWith(w.param)
			unknown = append(unknown, w.param)
		case val == nil:
			continue
		}
		raw[w.param] = given{v: val, author: !watch.caller}
	}
	return raw, unknown
}

// writtenWith is a with value as the author wrote it.
func (s *planStep) writtenWith(param string) string {
	for _, e := range s.def.With {
		if e.Key == param {
			return written(e.Value)
		}
	}
	return ""
}

// Upstream are the steps that a step waits for directly. Steps are named by path;
// what is found stands beside the step, in the same try of what is around it.
func (p *compiledPlan) Upstream(step string) []string {
	in, s := p.find(dag.ID(step))
	if s == nil {
		return nil
	}
	beside := strings.TrimSuffix(step, string(dag.ID(step).Base()))
	var list []string
	seen := map[dag.ID]bool{}
	var walk func(id dag.ID)
	walk = func(id dag.ID) {
		n, ok := in.graph.Node(id)
		if !ok {
			return
		}
		for _, up := range n.After {
			if seen[up] {
				continue
			}
			seen[up] = true
			if strings.HasPrefix(string(up), "@") {
				walk(up)
				continue
			}
			list = append(list, beside+string(up))
		}
	}
	walk(dag.ID(s.def.Name))
	return list
}

// waves counts for every node how many steps must end one after another before
// it.
func (p *compiledPlan) waves() map[dag.ID]int {
	waves := map[dag.ID]int{}
	for _, n := range p.graph.Nodes() { // in plan order: upstream comes first
		depth := 0
		for _, up := range n.After {
			depth = max(depth, waves[up])
		}
		if n.Runner != nil || n.Graph != nil || n.Each != nil {
			depth++
		}
		waves[n.ID] = depth
	}
	return waves
}

// Nested is the plan of the tool that the step with that path uses, nil for other
// steps.
func (p *compiledPlan) Nested(step string) *compiledPlan {
	if _, s := p.find(dag.ID(step)); s != nil {
		return s.nested
	}
	return nil
}

// Step is the definition of the step with that path, nil when there is none.
func (p *compiledPlan) Step(path string) *tool.Step {
	if _, s := p.find(dag.ID(path)); s != nil {
		return s.def
	}
	return nil
}

// Place is where the step with that path is written, the zero Pos when it is not
// in a file.
func (p *compiledPlan) Place(path string) tool.Pos {
	in, s := p.find(dag.ID(path))
	switch {
	case s == nil:
		return tool.Pos{}
	case in.Definition.Single && s.def.Command.Pos.Line > 0: // the step is the tool
		return s.def.Command.Pos
	case in.Definition.Single && s.script != nil:
		return s.def.Script.Code.Pos
	}
	return s.def.Pos
}
