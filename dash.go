package flowrun

import (
	"errors"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
)

// dashes refuses callers' values that would stand at the start of an argument and
// begin with a dash, before anything runs. Whether one does is the command's
// business, so every command is rendered once, with something harmless for what
// only steps will know. The steps' own rendering refuses the same again: what a
// nested tool is given is known only then.
func (b *binder) dashes() {
	if !b.args.mayBeOption() {
		return
	}
	found := false
	b.plan.each(func(s *planStep) {
		if s.command == nil || found {
			return
		}
		render := s.command.Template.Script
		if s.command.Shell == "" {
			render = func(sc expr.Scope) (expr.Script, error) {
				_, err := s.command.Template.Argv(sc)
				return expr.Script{}, err
			}
		}
		_, err := render(harmless{scope{args: b.args}})
		var dash *expr.DashError
		if errors.As(err, &dash) {
			if b.plan.Secret(dash.Ref.Root) {
				dash.Value = steps.Replacement
			}
			b.problem(dash.Ref.Root, "dash", "put `--` before it in the command, set allow-dash: true on the parameter, or use run --allow-dash",
				"%s begins with a dash and would be read as an option by step %s", expr.Quoted(dash.Value), s.def.Name)
			found = true
		}
	})
}

// mayBeOption says whether any caller's value begins with a dash.
func (a *Args) mayBeOption() bool {
	for _, v := range a.values {
		if !v.Caller || v.AllowDash {
			continue
		}
		for _, leaf := range leaves(v.V) {
			if strings.HasPrefix(leaf, "-") {
				return true
			}
		}
	}
	return false
}

// harmless answers for steps that have not run yet.
type harmless struct{ scope }

func (h harmless) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := h.scope.Lookup(r)
	if errors.Is(err, expr.ErrUnknown) && h.view == (dag.View{}) {
		return expr.Value{V: "x", Author: true}, nil
	}
	return v, err
}
