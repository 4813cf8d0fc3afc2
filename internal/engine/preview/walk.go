package preview

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

type previewer struct {
	ctx   context.Context // stops the preview when it is done
	ofRun bool            // it is known what the run enforces
	out   *Preview
}

// known is what is known of the call of a tool before the run.
type known struct {
	frame   *call.Frame
	opened  bool // the environment of the call is known
	scope   expr.Scope
	confine confinement.Confinement
	mask    func(string) string
}

func knownOf(a *call.Frame) known {
	return known{a, true, call.Scope{Frame: a}, a.Confine, a.Session().Mask().String}
}

// inside returns what is known of a tool that a step uses, if its parameters cannot be bound: only what the definition says.
// Secrets of the call are not known, so no value of the environment may be shown.
func (k known) inside(p *plan.Plan) known {
	a := call.Unknown(p, k.frame)
	a.Confine = p.Written().Within(k.confine)
	return known{a, false, nothingKnown{}, a.Confine, k.mask}
}

// show returns a template as a person would write it, "" if there is none. References to unknown values are shown as they are
// written.
func (k known) show(t *expr.Template) string {
	if t == nil {
		return ""
	}
	return k.mask(t.Display(k.scope, k.mask))
}

// nothingKnown is a scope without values, in which every reference is shown as it is written.
type nothingKnown struct{}

func (nothingKnown) Lookup(expr.Ref) (expr.Value, error) { return expr.Value{}, expr.ErrUnknown }

// tool adds a tool, or a group, and its steps.
func (v *previewer) tool(p *plan.Plan, k known, prefix string) {
	if !p.Group {
		v.addTool(p, k, prefix)
	}
	waves := p.Waves()
	for _, s := range p.Steps {
		if v.ctx.Err() != nil {
			return
		}
		step := PreviewStep{ID: prefix + s.Def.Name, Wave: waves[dag.ID(s.Def.Name)], Kind: string(s.Def.Kind()),
			Repeat: k.mask(describeRepeat(s.Def.Repeat)), Holds: describeClaim(s.Claim), Surroundings: k.surroundingsOf(s),
			After: plan.Prefixed(prefix, p.Direct(s.Def.Name))}
		if h := s.Handler; h != nil {
			step.Handler = strings.TrimSuffix(h.Key+" of "+h.Step, " of ")
		}
		k.loop(s, &step)
		k.condition(s, &step)
		if cmd := plan.CommandOf(s.Policy.Fallback); cmd != nil {
			step.Fallback, step.FallbackInterpreter = k.show(cmd.Template), k.mask(strings.Join(cmd.Interpreter(), " "))
		}
		inner := v.body(s, k, &step)
		v.out.Steps = append(v.out.Steps, step)
		if s.Nested != nil {
			v.tool(s.Nested, inner, step.ID+"/")
		}
	}
}

// addTool adds the tool itself.
func (v *previewer) addTool(p *plan.Plan, k known, prefix string) {
	def := p.Definition
	t := PreviewTool{Step: strings.TrimSuffix(prefix, "/"), Name: def.Name, File: def.File, Scope: def.Scope, Tags: def.Tags,
		Privilege: def.Security.ExecutionPrivilege, Justification: def.Security.Justification,
		Image: k.confine.Image, TempDirectory: k.show(p.Temp), Surroundings: k.surroundings(p.Environ, p.EnvFiles, p.Input)}
	t.WorkingDirectory = k.show(p.Dir)
	if t.Permissions = call.Permissions(p, nil); k.opened {
		t.Permissions = call.Permissions(p, k.frame)
	}
	if p.Cleanup != nil {
		for _, c := range p.Cleanup.Commands {
			t.Cleanup = append(t.Cleanup, k.show(c.Template))
		}
	}
	if prefix == "" {
		t.Notify = notified(p, k.mask)
		t.RetryRun = describeRetryRun(p.RetryRun)
	}
	for _, s := range p.AllSources() {
		t.Sources = append(t.Sources, source(s, k.show))
		if s.Argv != nil {
			t.Secrets = append(t.Secrets, k.show(s.Argv))
		}
	}
	v.enforcement(&t, p, k)
	v.out.Tools = append(v.out.Tools, t)
}

// enforcement says what is enforced for the commands of a tool.
func (v *previewer) enforcement(t *PreviewTool, p *plan.Plan, k known) {
	if !v.ofRun || !p.HasCommands() {
		return
	}
	c := k.confine
	var env []string
	if k.opened {
		c.Grants, env = call.Grants(k.frame), k.frame.RunEnv.Env
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

// loop describes the loop of a step: its items if they are known, else what gives them.
func (k known) loop(s *plan.Step, step *PreviewStep) {
	if s.Loop == nil {
		return
	}
	step.MaxParallel, step.items = s.Loop.Def.MaxParallel, math.MaxInt
	if items, err := call.LoopItems(s.Loop, k.scope); err == nil {
		step.items = len(items)
		step.Loop = plural.Of(len(items), "item")
		for _, item := range items {
			step.Items = append(step.Items, k.mask(inWords(k.frame.Session().Mask().Value(item.V))))
		}
		return
	}
	switch {
	case s.Loop.Def.Matrix():
		step.Loop = "a matrix"
	case s.Loop.Def.Items.Text != nil:
		step.Loop = k.mask(s.Loop.Def.Items.Text.S)
	default:
		step.items = len(s.Loop.Def.Items.List)
		step.Loop = plural.Of(step.items, "item")
		for _, item := range s.Loop.Def.Items.List {
			step.Items = append(step.Items, k.mask(inWords(item.Data())))
		}
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

func (k known) condition(s *plan.Step, step *PreviewStep) {
	switch {
	case s.Decide != nil:
		step.Condition, step.Verdict, step.Why = "(Go function)", expr.NotYet, "it depends on the results of earlier steps"
		return
	case s.When == nil:
		return
	}
	step.Condition = k.mask(s.Def.RunCondition.S)
	step.Verdict, step.Why = evaluateCondition(s, k.scope)
	step.Why = k.mask(step.Why)
}

// evaluateCondition evaluates the step's condition before the run. A condition on the outcome of other steps, or on
// cancellation, has a verdict only if all outcomes lead to the same one.
func evaluateCondition(s *plan.Step, sc expr.Scope) (expr.Verdict, string) {
	verdict, why := s.When.Explain(sc, expr.Status{Ahead: true})
	for _, st := range []expr.Status{{Cancelled: true}, {Tainted: true}, {Tainted: true, Cancelled: true}} {
		if st.Tainted && len(s.After) == 0 {
			break // no earlier step can fail
		}
		if other, _ := s.When.Explain(sc, st); other != verdict {
			return expr.NotYet, "it depends on the results of earlier steps"
		}
	}
	return verdict, why
}
