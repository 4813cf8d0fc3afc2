package registry

import (
	"maps"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/argparse"
	"github.com/flowrun/flowrun/internal/outcome"
)

// Repair is one thing that was not as it should have been in what a model wrote: in the
// text, or in the type of a value.
type Repair = argparse.Repair

// Parse reads what a model wrote as arguments, and holds it against all that the
// tool says of its parameters. "" is a call without arguments. There is one valid reading,
// or a refusal.
func (t *Tool) Parse(text string) (*Invocation, *Refusal) {
	read, refused := argparse.Parse(t.schema, t.Name(), []byte(text))
	if refused != nil {
		return nil, t.refusal(refused)
	}
	given := maps.Clone(read.Value)
	for _, name := range read.Defaults { // an author's own, which Bind treats as such
		delete(given, name)
	}
	bound, invalid := t.bind(given)
	if invalid != nil {
		return nil, invalid
	}
	return &Invocation{Tool: t, Params: given, Repaired: read.Repaired, Repairs: read.Repairs, Coercions: read.Coercions, Defaults: t.defaults(given), bound: bound}, nil
}

// Validate holds values against all that the tool says of its parameters, together;
// nil is a yes. Values are as encoding/json has them; a text for a number will do.
func (t *Tool) Validate(params map[string]any) *Refusal {
	_, refused := t.bind(params)
	return refused
}

// bind binds the parameters of a call.
func (t *Tool) bind(params map[string]any) (*flowrun.Args, *Refusal) {
	bound, err := t.plan.Bind(t.registry.options.World, params)
	if err == nil {
		return bound, nil
	}
	if problems := outcome.Of(err).Params; problems != nil {
		return nil, t.invalid(problems)
	}
	return nil, &Refusal{Code: CodeInvalid, Message: cutText(err.Error(), maxMessage)}
}

// defaults are the parameters that take theirs, in declared order.
func (t *Tool) defaults(given map[string]any) (names []string) {
	for _, p := range t.plan.Definition.Parameters {
		if _, ok := given[p.Name]; !ok && p.Default != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// maxInput is how long a text of arguments may be, in bytes; package repair refuses longer
// ones.
const maxInput = 1 << 20
