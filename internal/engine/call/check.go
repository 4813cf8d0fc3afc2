package call

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// checkCommands rejects values before anything runs that a command would reject: a caller's value that begins with a
// dash at the start of an argument, and text where the shell expects a number or a name. Only rendering the commands
// shows this, so each is rendered once: those of steps, their fallbacks, handlers, and the cleanup, which would
// otherwise not run. Values of other steps are not known yet and are replaced by an innocuous text. The same checks
// apply again when the commands run, because the parameters of a nested tool are known only then.
func (b *binder) checkCommands() {
	c := &commandCheck{b, b.params.mayBeOption()}
	c.steps(b.plan.Steps, b.frame)
	if b.plan.Cleanup != nil {
		for i, cmd := range b.plan.Cleanup.Commands {
			c.command(cmd, b.frame, fmt.Sprintf("cleanup command %d", i+1), true)
		}
	}
}

// commandCheck is checkCommands while it goes through the steps.
type commandCheck struct {
	*binder
	options bool // a caller's value begins with a dash
}

func (c *commandCheck) steps(list []*plan.Step, frame *Frame) {
	for _, s := range list {
		if s.Loop != nil {
			c.items(s, frame)
			continue
		}
		c.step(s, frame)
	}
}

// maxCheckedItems is how many items of a loop are checked before the run. Of further items, those are checked that a
// program could read as options.
const maxCheckedItems = 1000

// items checks a step in a loop: for each item, if they are values of the caller.
func (c *commandCheck) items(s *plan.Step, frame *Frame) {
	items, err := LoopItems(s.Loop, Scope{Frame: frame})
	if err != nil || !slices.ContainsFunc(items, func(i plan.Item) bool { return i.Caller }) { // they come from a step or from the author
		c.step(s, frame)
		return
	}
	for i, item := range items {
		if i < maxCheckedItems || mayBeOption(item.Value) {
			c.step(s, frame.WithItem(s.Loop, item, i))
		}
	}
}

func (c *commandCheck) step(s *plan.Step, frame *Frame) {
	unconditional := s.When == nil // a condition may guard against this value
	c.command(s.Command, frame, "step "+s.Def.Name, unconditional)
	if cmd, ok := s.Policy.Fallback.(*steps.Command); ok {
		c.command(cmd, frame, "the fallback of step "+s.Def.Name, unconditional)
	}
	if w, ok := s.Runner.(waiter); ok && unconditional && len(c.problems) == 0 {
		c.checkWait(w, frame, "step "+s.Def.Name)
	}
	if s.Nested != nil && s.Nested.Group {
		c.steps(s.Nested.Steps, frame)
	}
}

func (c *commandCheck) command(cmd *steps.Command, frame *Frame, where string, unconditional bool) {
	if cmd != nil && len(c.problems) == 0 && (c.options || frame.Local != nil || unconditional && cmd.Template.Guarded()) {
		c.checkCommand(cmd, frame, where, unconditional)
	}
}

// waiter is a step that waits. t is the text that says what it waits for, and check returns an error if that is
// invalid with the values of a call.
type waiter interface {
	WaitsFor() (t *expr.Template, check func(expr.Scope) error)
}

// checkWait reports a caller's value for which a step cannot wait.
func (b *binder) checkWait(w waiter, frame *Frame, where string) {
	t, check := w.WaitsFor()
	if t == nil || t.Static() {
		return
	}
	watch := &expr.Watch{Scope: Scope{Frame: frame}}
	if _, err := t.Text(watch); err != nil || !watch.Caller {
		return // the value comes from a step or from the author
	}
	if err := check(watch); err != nil {
		b.problem(t.Refs()[0].Root, "refused", "", "%s: %v", where, err) // err does not quote a password in an address
	}
}

// parameterOf returns the name of the parameter that a reference reads: an item is a part of that of its loop.
func parameterOf(r expr.Ref, l *Local) string {
	for ; l != nil && r.Class == expr.Local; l = l.Outer {
		from := l.loop.RefsOf(r)
		isValue := func(r expr.Ref) bool { return r.Class == expr.Parameter || r.Class == expr.Local }
		if i := slices.IndexFunc(from, isValue); i >= 0 && l.has(r.Root) {
			r = from[i]
		}
	}
	return r.Root
}

// checkCommand reports a value that a command rejects. unconditional says that the command runs whatever the values are.
func (b *binder) checkCommand(cmd *steps.Command, frame *Frame, where string, unconditional bool) {
	var err error
	if sc := (placeholderScope{Scope{Frame: frame}}); cmd.Shell == "" {
		_, err = cmd.Template.Argv(sc)
	} else {
		_, err = cmd.Template.Script(sc)
	}
	var dash *expr.DashError
	var refused *expr.RefusedError
	switch {
	case errors.As(err, &dash):
		b.problem(parameterOf(dash.Ref, frame.Local), "dash", "put `--` before it in the command, set allow-dash: true on the parameter, or use run --allow-dash"+optionsHint(dash),
			"%s begins with a dash and would be read as an option by %s", b.quoted(dash.Ref, dash.Value), where)
	case unconditional && errors.As(err, &refused) && (refused.Ref.Class == expr.Parameter || frame.Local != nil):
		b.problem(parameterOf(refused.Ref, frame.Local), "refused", "", "%s cannot be used in %s: %s", b.quoted(refused.Ref, refused.Value), where, refused.Why)
	}
}

// optionsHint adds how an author lets callers pass several words, if the value looks like that.
func optionsHint(dash *expr.DashError) string {
	if !strings.ContainsAny(dash.Value, " \t\n") {
		return ""
	}
	return fmt.Sprintf("; if callers may pass several options, write {RAW:%s} in the command or security: {escape-shell: false} on the parameter, which insert the value as code", dash.Ref.Root)
}

// RefusedOption returns the problem with a value of a caller that a command of the tool rejects because it begins with
// a dash, nil if none does. Other parameters are assumed to be valid.
func RefusedOption(p *plan.Plan, prm *plan.Param, given any) *value.ParamProblem {
	params := &Params{Plan: p, RunEnv: (&RunEnv{}).Filled(), Values: make(map[string]expr.Value, len(p.Params))}
	b := &binder{plan: p, params: params, frame: params.Frame()}
	for _, other := range p.Params {
		params.Values[other.Def.Name] = expr.Value{V: sampleOf(other.Def.Type), Author: true}
	}
	v := b.emptyValue(prm)
	v.V, v.Caller = given, true
	params.Values[prm.Def.Name] = v
	b.checkCommands()
	for _, problem := range b.problems {
		if problem.Code == "dash" {
			return &problem
		}
	}
	return nil
}

// sampleOf returns a value of a type.
func sampleOf(typ string) any {
	switch typ {
	case "number":
		return int64(1)
	case "boolean":
		return true
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return "x"
}

// quoted returns a value for a message, masked if it is secret.
func (b *binder) quoted(r expr.Ref, value string) string {
	if b.plan.Secret(r.Root) {
		value = mask.Replacement
	}
	return valuetext.Quoted(value)
}

// mayBeOption reports whether any caller's value begins with a dash.
func (p *Params) mayBeOption() bool {
	for _, v := range p.Values {
		if mayBeOption(v) {
			return true
		}
	}
	return false
}

func mayBeOption(v expr.Value) bool {
	return v.Caller && !v.AllowDash &&
		slices.ContainsFunc(value.Scalars(v.V), func(leaf string) bool { return strings.HasPrefix(leaf, "-") })
}

// placeholderScope is a scope that returns "x" for the results of steps that have not run yet.
type placeholderScope struct{ Scope }

func (h placeholderScope) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := h.Scope.Lookup(r)
	if errors.Is(err, expr.ErrUnknown) && h.View == (dag.View{}) {
		return expr.Value{V: "x", Author: true}, nil
	}
	return v, err
}

// HasCallerValues reports whether a script of the call may have built its result from a caller's value. It is not
// known which part of the result that would be, so all of it counts as the caller's wherever it enters a command.
// Values that may begin with a dash anyway (numbers, those with enum, format or allow-dash) do not count.
func (a *Frame) HasCallerValues() bool {
	for _, v := range a.Values {
		if v.Caller && !v.AllowDash && !v.Absent {
			return true
		}
	}
	for l := a.Local; l != nil; l = l.Outer {
		if l.Item.Caller && !l.Item.AllowDash {
			return true
		}
	}
	return false
}

// CheckOption returns an error for the first argument before a -- that begins with a caller's value and with a dash:
// the program would read it as an option. Arguments that the script's author wrote are accepted, as far as they can
// be told apart.
func (a *Frame) CheckOption(list []string) error {
	var texts []string
	for _, v := range a.Values {
		if !v.Caller || v.AllowDash || v.Absent {
			continue
		}
		for _, leaf := range value.Scalars(v.V) {
			if _, number := value.Number(v.V); strings.HasPrefix(leaf, "-") && !number {
				texts = append(texts, leaf)
			}
		}
	}
	for _, arg := range list {
		if arg == "--" {
			return nil
		}
		for _, text := range texts {
			if strings.HasPrefix(arg, text) {
				return fmt.Errorf("cannot pass %q to a program: the value comes from the caller, begins with \"-\" and would be read as an option; put '--' before it in args, add allow-dash or an enum to the parameter, or run with --allow-dash", arg)
			}
		}
	}
	return nil
}
