package preview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/container"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Preview describes what a run would do, as far as that is known before it starts.
type Preview struct {
	Schema string               `json:"schema"` // flowrun/plan.v1
	Tool   string               `json:"tool"`
	Params map[string]any       `json:"params"`          // secrets are masked
	Steps  []PreviewStep        `json:"steps"`           // in plan order, nested ones after the step that contains them
	Tools  []PreviewTool        `json:"tools"`           // the tool itself and those it uses, by step
	Needs  []history.LockDemand `json:"needs,omitempty"` // the locks that the run takes at its start
	// MissingSecrets are the secrets of the tool that cannot be fetched, each with the reason.
	MissingSecrets []string `json:"missing_secrets,omitempty"`
}

// Permissions returns the permissions that the tools ask for, each once, with real paths.
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

// PreviewTool is a tool in a Preview: what it asks for, and what it does beside its steps.
type PreviewTool struct {
	Step          string                  `json:"step,omitempty"` // path of the step that uses it; "" for the tool itself
	Name          string                  `json:"name"`
	File          string                  `json:"file,omitempty"`
	Scope         tool.Scope              `json:"scope,omitempty"`
	Tags          []string                `json:"tags,omitempty"`
	Privilege     string                  `json:"execution_privilege,omitempty"`
	Permissions   []permission.Permission `json:"permissions,omitempty"`
	Justification string                  `json:"justification,omitempty"`
	Secrets       []string                `json:"secrets,omitempty"`        // commands that provide secrets
	Sources       []string                `json:"secret_sources,omitempty"` // sources of all secrets: variables, files, commands
	Cleanup       []string                `json:"cleanup,omitempty"`        // commands that run after everything else
	Notify        []string                `json:"notify,omitempty"`         // commands and addresses that are notified of the run's end
	Enforced      []string                `json:"enforced,omitempty"`       // what this machine enforces for its commands, if that is known
	Unenforced    []string                `json:"unenforced,omitempty"`     // what it does not enforce, and why
	Surroundings
}

// PreviewStep is one step of a Preview. Steps of the same wave can run at the same time.
type PreviewStep struct {
	ID        string       `json:"id"`
	Wave      int          `json:"wave"` // counts from 1, within its tool
	After     []string     `json:"after,omitempty"`
	Kind      string       `json:"kind"`
	Command   string       `json:"command"`            // resolved; {step.output} if not known yet
	Loop      string       `json:"loop,omitempty"`     // number of items, or the text that gives the items
	Repeat    string       `json:"repeat,omitempty"`   // in words, with the condition as written
	Holds     []string     `json:"holds,omitempty"`    // what each attempt holds that runs share
	Machine   string       `json:"machine,omitempty"`  // where its script runs, if not here: ssh USER@HOST port PORT
	Fallback  string       `json:"fallback,omitempty"` // command that runs after the last failed attempt
	Handler   string       `json:"handler,omitempty"`  // when it runs: on-failure, or on-failure of STEP
	Condition string       `json:"condition,omitempty"`
	Verdict   expr.Verdict `json:"verdict"` // of the condition
	Why       string       `json:"why,omitempty"`
	Problem   string       `json:"problem,omitempty"` // reason why the step would fail before it starts
	Surroundings
}

// Of computes what a call with these parameters would run. If secrets of the tool cannot be fetched,
// it returns the Preview together with a *call.EnvironmentError.
func Of(ctx context.Context, params *call.Params) (*Preview, error) {
	v, _, err := previewWithMask(ctx, params, nil)
	return v, err
}

// OfRun is Of for a run that enforces permissions like this. It also says what this machine enforces.
func OfRun(ctx context.Context, params *call.Params, e call.Enforcement) (*Preview, error) {
	v, _, err := previewWithMask(ctx, params, &e)
	return v, err
}

// previewWithMask is Of, or with enforced OfRun, that also returns the mask with the secrets of the call, even if there is
// an error.
func previewWithMask(ctx context.Context, params *call.Params, ofRun *call.Enforcement) (*Preview, *steps.Mask, error) {
	a := params.Preview()
	if ofRun != nil {
		a.Enforce(*ofRun)
	}
	mask := a.Session().Mask()
	var done func()
	a.RunEnv, done = a.RunEnv.WithScripts(jsrun.Config{})
	defer done()
	var missing []string
	a.AllowMissing(&missing)
	if err := a.OpenEnvironment(ctx); err != nil {
		return nil, mask, err
	}
	if err := a.ReadState(ctx); err != nil {
		return nil, mask, err
	}
	v := &previewer{ctx: ctx, ofRun: ofRun != nil, out: &Preview{Schema: "flowrun/plan.v1", Tool: params.Plan.Name(), Params: a.Shown()}}
	v.tool(params.Plan, a, "")
	if ctx.Err() != nil {
		return nil, mask, context.Cause(ctx)
	}
	if len(missing) > 0 {
		v.out.MissingSecrets = missing
		return v.out, mask, &call.EnvironmentError{Tool: params.Plan.Name(), Problems: cannotFetch(missing)}
	}
	return v.out, mask, nil
}

func cannotFetch(missing []string) []string {
	var problems []string
	for _, m := range missing {
		problems = append(problems, "cannot fetch the secret "+m)
	}
	return problems
}

type previewer struct {
	ctx   context.Context // stops the preview when it is done
	ofRun bool            // it is known what the run enforces
	out   *Preview
}

func (v *previewer) tool(p *plan.Plan, a *call.Frame, prefix string) {
	waves := p.Waves()
	if !p.Group {
		v.addTool(p, a, a.Confine, prefix)
	}
	for _, s := range p.Steps {
		if v.ctx.Err() != nil {
			return
		}
		id := dag.ID(s.Def.Name)
		step := PreviewStep{ID: prefix + s.Def.Name, Wave: waves[id], Kind: string(s.Def.Kind())}
		for _, up := range p.Upstream(s.Def.Name) {
			step.After = append(step.After, prefix+up)
		}
		if h := s.Handler; h != nil {
			step.Handler = strings.TrimSuffix(h.Key+" of "+h.Step, " of ")
		}
		v.loop(s, a, &step)
		step.Repeat = a.Session().Mask().String(describeRepeat(s.Def.Repeat))
		step.Holds = describeClaim(s.Claim)
		v.condition(s, a, &step)
		step.Surroundings = surroundingsOf(s, a.Display)
		inner := v.body(s, a, &step)
		v.out.Steps = append(v.out.Steps, step)
		switch {
		case inner != nil:
			v.tool(s.Nested, inner, step.ID+"/")
		case s.Nested != nil:
			v.addUnbound(s.Nested, a.Confine, step.ID+"/", a.Session().Mask().String)
		}
	}
}

// addTool adds the tool itself; a is nil if its parameters are not known.
func (v *previewer) addTool(p *plan.Plan, a *call.Frame, c confinement.Confinement, prefix string) {
	def := p.Definition
	t := PreviewTool{Step: strings.TrimSuffix(prefix, "/"), Name: def.Name, File: def.File, Scope: def.Scope, Tags: def.Tags,
		Privilege: def.Security.ExecutionPrivilege, Permissions: call.Permissions(p, a), Justification: def.Security.Justification}
	for i, text := range def.Resources.FinalCommands {
		command := text.S
		if a != nil {
			command = a.Display(p.Cleanup.Commands[i].Template)
		}
		t.Cleanup = append(t.Cleanup, command)
	}
	show := func(t *expr.Template) string { return t.Display(nothingKnown{}, nil) }
	if a != nil {
		show = a.Display
	}
	t.Surroundings = surroundings(p.Environ, p.EnvFiles, p.Input, show)
	if prefix == "" {
		t.Notify = notified(p, a.Session().Mask().String)
	}
	for _, s := range p.AllSources() {
		t.Sources = append(t.Sources, source(s, show))
		if s.Argv != nil {
			t.Secrets = append(t.Secrets, show(s.Argv))
		}
	}
	v.enforcement(&t, p, a, c)
	v.out.Tools = append(v.out.Tools, t)
}

// enforcement says what is enforced for the commands of a tool.
func (v *previewer) enforcement(t *PreviewTool, p *plan.Plan, a *call.Frame, c confinement.Confinement) {
	if !v.ofRun || !p.HasCommands() {
		return
	}
	var env []string
	if a != nil {
		c.Grants, env = call.Grants(a), a.RunEnv.Env
	}
	held, missing := c.Held(means(), env)
	t.Enforced = held
	if !c.Enforced && c.Image == "" && len(p.Permissions) > 0 {
		t.Unenforced = append(t.Unenforced, "required-permissions, because the run does not enforce them")
	}
	for _, err := range missing {
		t.Unenforced = append(t.Unenforced, err.Error())
	}
}

// means assumes that this program provides a proxy, as the flowrun command does.
func means() confinement.Means { return confinement.Means{Proxy: true} }

// addUnbound adds the steps of a nested tool whose parameters are not known before the run, with commands as they are
// written.
func (v *previewer) addUnbound(p *plan.Plan, outer confinement.Confinement, prefix string, mask func(string) string) {
	c := outer
	if !p.Group {
		c = p.Written().Within(outer)
		v.addTool(p, nil, c, prefix)
	}
	waves := p.Waves()
	for _, s := range p.Steps {
		if v.ctx.Err() != nil {
			return
		}
		step := PreviewStep{ID: prefix + s.Def.Name, Wave: waves[dag.ID(s.Def.Name)], Kind: string(s.Def.Kind()), Verdict: expr.NotYet, Repeat: mask(describeRepeat(s.Def.Repeat)), Holds: describeClaim(s.Claim)}
		step.Surroundings = surroundingsOf(s, func(t *expr.Template) string { return mask(t.Display(nothingKnown{}, mask)) })
		switch {
		case s.Command != nil:
			step.Command = mask(s.Command.Template.Display(nothingKnown{}, mask))
			step.Machine = s.Command.Remote.Describe(func(t *expr.Template) string { return mask(t.Display(nothingKnown{}, mask)) })
		case s.Script != nil:
			step.Command = mask(s.Script.Text())
		case s.Nested != nil:
			step.Command = s.Nested.Name()
		default:
			step.Command = mask(describeRunner(s, nil, nothingKnown{}, func(t *expr.Template) string { return mask(t.Display(nothingKnown{}, mask)) }))
		}
		if cmd, ok := s.Policy.Fallback.(*steps.Command); ok {
			step.Fallback = mask(cmd.Template.Display(nothingKnown{}, mask))
		}
		v.out.Steps = append(v.out.Steps, step)
		if s.Nested != nil {
			v.addUnbound(s.Nested, c, step.ID+"/", mask)
		}
	}
}

// describeRunner describes in words what a step without a command does; a is nil if the parameters are not known. The
// description of a step in Go is not masked.
func describeRunner(s *plan.Step, a *call.Frame, known expr.Scope, show func(*expr.Template) string) string {
	switch r := s.Runner.(type) {
	case interface {
		Describe(show func(*expr.Template) string) string
	}:
		return r.Describe(show)
	case interface{ DescribeRequest(expr.Scope) string }:
		return r.DescribeRequest(known)
	case gostep.Runner:
		return gostep.DescribeCall(r.Tool, a)
	}
	return "(Go function)"
}

// nothingKnown is a scope without values, in which every reference is shown as it is written.
type nothingKnown struct{}

func (nothingKnown) Lookup(expr.Ref) (expr.Value, error) { return expr.Value{}, expr.ErrUnknown }

func (v *previewer) loop(s *plan.Step, a *call.Frame, step *PreviewStep) {
	if s.Loop == nil {
		return
	}
	items, err := graph.ListItems(s.Loop, call.Scope{Frame: a})
	switch {
	case err == nil:
		step.Loop = fmt.Sprintf("%d items", items.Len())
	case s.Loop.Def.Matrix():
		step.Loop = "a matrix"
	case s.Loop.Def.Items.Text != nil:
		step.Loop = a.Session().Mask().String(s.Loop.Def.Items.Text.S)
	default:
		step.Loop = fmt.Sprintf("%d items", len(s.Loop.Def.Items.List))
	}
}

// describeClaim describes what each attempt of a step holds.
func describeClaim(c *plan.Claim) (list []string) {
	if c == nil {
		return nil
	}
	for _, l := range c.Locks {
		list = append(list, history.LockDemand{Kind: history.DemandLock, Name: l.Name.S, Slots: max(l.Slots, 1)}.Title())
	}
	if c.Pool != "" {
		list = append(list, history.LockDemand{Kind: history.DemandPool, Name: c.Pool, Count: c.Slots}.Title())
	}
	return list
}

// describeRepeat describes repeat, with its condition as it is written. It returns "" for a step that runs once.
func describeRepeat(r *tool.Repeat) string {
	if r == nil {
		return ""
	}
	key, cond := r.Condition()
	text := fmt.Sprintf("%s %s, every %s", key, cond.S, r.Every)
	if r.Max > 0 {
		text += fmt.Sprintf(", at most %d rounds", r.Max)
	}
	if r.Timeout > 0 {
		text += fmt.Sprintf(", for at most %s", r.Timeout)
	}
	return text
}

func (v *previewer) condition(s *plan.Step, a *call.Frame, step *PreviewStep) {
	if s.When == nil {
		return
	}
	mask := a.Session().Mask()
	step.Condition = mask.String(s.Def.RunCondition.S)
	step.Verdict, step.Why = evaluateCondition(s, a)
	step.Why = mask.String(step.Why)
}

// evaluateCondition evaluates the step's condition before the run. A condition on the outcome of other steps, or on
// cancellation, has a verdict only if all outcomes lead to the same one.
func evaluateCondition(s *plan.Step, a *call.Frame) (expr.Verdict, string) {
	verdict, why := s.When.Explain(call.Scope{Frame: a}, expr.Status{Ahead: true})
	for _, st := range []expr.Status{{Cancelled: true}, {Tainted: true}, {Tainted: true, Cancelled: true}} {
		if st.Tainted && len(s.After) == 0 {
			break // no earlier step can fail
		}
		if other, _ := s.When.Explain(call.Scope{Frame: a}, st); other != verdict {
			return expr.NotYet, "it depends on the results of earlier steps"
		}
	}
	return verdict, why
}

// body resolves what the step runs. For use-tool it returns the nested tool's frame as far as that is known.
func (v *previewer) body(s *plan.Step, a *call.Frame, step *PreviewStep) *call.Frame {
	mask := a.Session().Mask().String
	if cmd, ok := s.Policy.Fallback.(*steps.Command); ok {
		step.Fallback = a.Display(cmd.Template)
	}
	switch {
	case s.Command != nil:
		step.Command = a.Display(s.Command.Template)
		step.Machine = s.Command.Remote.Describe(a.Display)
		if plan.ShellOf(s.Command.Shell) == expr.Cmd && plan.Platform() != "windows" {
			step.Problem = "cmd steps run on Windows only"
		}
		if step.Problem == "" {
			step.Problem = confinementProblem(a, s.Command.Container)
		}
	case s.Script != nil:
		step.Command = mask(s.Script.Text())
	case s.Nested == nil:
		step.Command = mask(describeRunner(s, a, call.Scope{Frame: a}, a.Display))
	case s.Nested.Group:
		if step.Command = fmt.Sprintf("(%d steps)", len(s.Nested.Steps)); len(s.Nested.Steps) == 1 {
			step.Command = "(1 step)"
		}
		return a
	default:
		return v.nested(s, a, step, mask)
	}
	if s.OwnWork != "" {
		step.Problem = a.Plan.Unconfined(a.Confine, s.OwnWork)
	}
	return nil
}

func (v *previewer) nested(s *plan.Step, a *call.Frame, step *PreviewStep, mask func(string) string) *call.Frame {
	raw, unknown := knownWith(s, a)
	words := []string{s.Nested.Name()}
	for _, w := range s.With {
		if g, ok := raw[w.Param]; ok {
			words = append(words, fmt.Sprintf("%s=%s", w.Param, mask(value.Plain(g.V))))
		}
	}
	step.Command = strings.Join(words, " ")
	bound, err := call.BindGiven(v.ctx, s.Nested, a.RunEnv, raw)
	if err != nil {
		step.Problem = mask(certainProblem(s, err, unknown))
		return nil
	}
	inner := bound.PreviewInside(a, len(unknown) > 0)
	if err := inner.OpenEnvironment(v.ctx); err != nil {
		step.Problem = mask(err.Error())
		return nil
	}
	if err := inner.ReadState(v.ctx); err != nil {
		step.Problem = mask(err.Error())
		return nil
	}
	return inner
}

// certainProblem returns the problems with the parameters of the nested tool that do not depend on unknown values.
func certainProblem(s *plan.Step, err error, unknown []string) string {
	var bad *value.ParamsError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	sure := &value.ParamsError{Tool: bad.Tool}
	for _, p := range bad.Problems {
		open := p.Name == "" && len(unknown) > 0 || p.Code == "missing" && s.WithAll != nil
		if !open && !slices.Contains(unknown, p.Parameter()) {
			sure.Problems = append(sure.Problems, p)
		}
	}
	return strings.ReplaceAll(sure.Error(), "\n", "; ")
}

// knownWith returns the values that with passes to the nested tool, as far as they are known before the run. An
// unknown value is replaced by the text of its reference.
func knownWith(s *plan.Step, a *call.Frame) (raw map[string]call.Given, unknown []string) {
	raw = map[string]call.Given{}
	for _, w := range s.With {
		watch := &expr.Watch{Scope: call.Scope{Frame: a}}
		val, err := w.For(s.Nested, watch)
		switch {
		case err != nil:
			val = writtenWith(s, w.Param)
			unknown = append(unknown, w.Param)
		case val == nil:
			continue
		}
		raw[w.Param] = call.Given{V: val, Author: !watch.Caller}
	}
	return raw, unknown
}

// writtenWith returns a with value as the author wrote it.
func writtenWith(s *plan.Step, param string) string {
	for _, e := range s.Def.Body.(*tool.ToolUse).With {
		if e.Key == param {
			return e.Value.Spelling()
		}
	}
	return ""
}

// confinementProblem returns which security settings of a command cannot be enforced on this machine, "" if all can.
func confinementProblem(a *call.Frame, k *container.Definition) string {
	var why []string
	c := a.Confine
	c.Grants = call.Grants(a)
	if k != nil {
		for _, err := range k.Refused(c) {
			why = append(why, err.Error())
		}
	}
	_, missing := k.Within(c).Held(means(), a.RunEnv.Env)
	for _, err := range missing {
		why = append(why, err.Error())
	}
	return strings.Join(why, "; ")
}
