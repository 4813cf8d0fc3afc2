package call

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/steps"
)

// Params are the bound parameters of one call of one tool. Nothing in them changes: they
// may be previewed, described and run, each with a Frame of its own.
type Params struct {
	Plan   *plan.Plan
	RunEnv *RunEnv // that they were bound in
	Values map[string]expr.Value
	Given  map[string]any // before coercion and transforms
}

// Value is a parameter's bound value, nil when it is absent.
func (p *Params) Value(name string) any { return p.Values[name].V }

// All is every bound value by its name: those of parameters that are not absent, and
// those that a call gave for names that no parameter has, where the tool takes them. The
// map is the caller's, the values in it are not to be changed.
func (p *Params) All() map[string]any {
	all := make(map[string]any, len(p.Values))
	for name, v := range p.Values {
		if !v.Absent {
			all[name] = v.V
		}
	}
	return all
}

// Without are the parameters without the values of some: what mentions those is not known.
func (p *Params) Without(names []string) *Params {
	less := *p
	less.Values = maps.Clone(p.Values)
	for _, name := range names {
		delete(less.Values, name)
	}
	return &less
}

// Frame is a call with these parameters that has not begun.
func (p *Params) Frame() *Frame {
	return &Frame{Params: p, RunEnv: p.RunEnv, answers: &answers{}, Confine: p.Plan.Confinement()}
}

// Preview is a Frame for a look at what a call would do, in which nothing may be started.
func (p *Params) Preview() *Frame {
	a := p.Frame()
	a.session, a.ahead = steps.Unopened(), true
	return a
}

// PreviewInside is Foresee for a tool that the tool of outer uses. guessed says that some of
// the values stand for what only a run knows.
func (p *Params) PreviewInside(outer *Frame, guessed bool) *Frame {
	a := p.Frame()
	a.RunEnv, a.session, a.ahead, a.Guessed, a.Confine = outer.RunEnv, outer.session, true, guessed, a.Confine.Within(outer.Confine)
	return a
}

// inOrder is all that the call was given as one JSON object: the parameters in the order
// in which they are declared, then what is not declared by name. The digits of numbers
// stay as they are.
func (p *Params) inOrder() string {
	all := p.All()
	names := make([]string, 0, len(all))
	for _, d := range p.Plan.Definition.Parameters {
		if _, given := all[d.Name]; given {
			names = append(names, d.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	write := func(v any) {
		enc.Encode(v) // what came in as JSON can be written as such
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		write(name)
		b.WriteByte(':')
		write(all[name])
	}
	b.WriteByte('}')
	return b.String()
}
