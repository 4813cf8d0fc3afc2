package call

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Params are the bound parameters of one call of one tool. They do not change: they can be previewed, described and
// run, each time with a new Frame.
type Params struct {
	Plan   *plan.Plan
	RunEnv *RunEnv // in which they were bound
	Values map[string]expr.Value
	Given  map[string]any // before coercion and transforms
}

// Value returns a parameter's bound value, nil if it is absent.
func (p *Params) Value(name string) any { return p.Values[name].V }

// All returns every bound value by its name: those of parameters that are not absent, and those of undeclared names,
// if the tool accepts them. The map belongs to the caller; do not change the values in it.
func (p *Params) All() map[string]any {
	all := make(map[string]any, len(p.Values))
	for name, v := range p.Values {
		if !v.Absent {
			all[name] = v.V
		}
	}
	return all
}

// without returns the parameters without those in names, and those whose default refers to one of them.
func (p *Params) without(names []string) *Params {
	less := *p
	less.Values = maps.Clone(p.Values)
	for _, name := range names {
		delete(less.Values, name)
	}
	for _, prm := range p.Plan.Params { // a default refers to parameters before it
		if _, given := p.Given[prm.Def.Name]; !given && prm.Initial != nil && slices.ContainsFunc(prm.Initial.Refs(), less.lacks) {
			delete(less.Values, prm.Def.Name)
		}
	}
	return &less
}

// lacks reports whether a reference is to a parameter without a value.
func (p *Params) lacks(r expr.Ref) bool {
	_, ok := p.Values[r.Root]
	return r.Class == expr.Parameter && !ok
}

// Frame returns a call with these parameters that has not begun.
func (p *Params) Frame() *Frame {
	return &Frame{Params: p, RunEnv: p.RunEnv, Shared: &Shared{}, Confine: p.Plan.Confinement()}
}

// Preview returns a Frame for a preview of the call, in which nothing may be started.
func (p *Params) Preview() *Frame {
	a := p.Frame()
	a.session, a.preview = steps.Unopened(), true
	return a
}

// PreviewInside is Preview for a tool that the tool of outer uses. unknown are the parameters that were bound to placeholders
// for what only a run knows. References to them, and to parameters whose default refers to them, are unknown.
func (p *Params) PreviewInside(outer *Frame, unknown []string) *Frame {
	a := p.without(unknown).Frame()
	a.RunEnv, a.session, a.preview, a.Guessed = outer.RunEnv, outer.session, true, len(unknown) > 0
	a.confineWithin(outer)
	return a
}

// Unknown returns a Frame for a preview of a call, by the tool of outer, of which no parameter is known.
func Unknown(p *plan.Plan, outer *Frame) *Frame {
	a := (&Params{Plan: p, RunEnv: outer.RunEnv}).PreviewInside(outer, nil)
	a.Guessed = true
	return a
}

// inOrder returns all values of the call as one JSON object: the parameters in the order in which they are declared,
// then undeclared ones sorted by name. Numbers keep their digits.
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
		enc.Encode(v) // cannot fail: the values came in as JSON
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
