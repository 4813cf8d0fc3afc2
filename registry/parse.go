package registry

import (
	"maps"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/model/argparse"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
)

// Repair is one correction of what a model wrote: of the text, or of the type of a value.
//
//	type Repair struct {
//		Kind   string `json:"kind"`
//		Path   string `json:"path"`   // opts[0].name; "" for the whole text
//		Offset int    `json:"offset"` // of its start in the input, in bytes
//	}
type Repair = report.Repair

// Parse parses the text that a model wrote as arguments, and checks it against all rules for the tool's parameters.
// "" is a call without arguments. If there is not exactly one valid reading, the error is a *Refusal.
func (t *Tool) Parse(text string) (*Invocation, error) {
	i, refused := t.parse(text)
	if refused != nil {
		return nil, refused
	}
	return i, nil
}

func (t *Tool) parse(text string) (*Invocation, *Refusal) {
	read, refused := argparse.Parse(t.schema, t.Name(), []byte(text))
	if refused != nil {
		return nil, t.refusal(refused).withOriginal(text)
	}
	given := maps.Clone(read.Value)
	for _, name := range read.Defaults { // Bind must treat defaults as the author's values, not the caller's
		delete(given, name)
	}
	bound, invalid := t.bind(given)
	if invalid != nil {
		return nil, invalid.withOriginal(text)
	}
	return &Invocation{Tool: t, Run: history.NewID(time.Now()), Params: given, Repaired: read.Repaired, Repairs: read.Repairs, Coercions: read.Coercions, Defaults: t.defaults(given), bound: bound}, nil
}

// Validate checks all values together against the rules for the tool's parameters; nil means that they are valid.
// Values have the types of encoding/json; text is accepted for a number.
func (t *Tool) Validate(params map[string]any) *Refusal {
	_, refused := t.bind(params)
	return refused
}

// bind binds the parameters of a call.
func (t *Tool) bind(params map[string]any) (*flowrun.Args, *Refusal) {
	bound, err := t.plan.Bind(t.registry.runEnv(t.plan), params)
	if err == nil {
		return bound, nil
	}
	if problems := outcome.Of(err).Params; problems != nil {
		return nil, t.invalid(problems)
	}
	return nil, &Refusal{Code: outcome.AnswerInvalid, Message: cutText(err.Error(), maxMessage)}
}

// defaults returns the parameters that take their default, in declared order.
func (t *Tool) defaults(given map[string]any) (names []string) {
	for _, p := range t.plan.Definition.Parameters {
		if _, ok := given[p.Name]; !ok && p.Default != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// maxInput limits the text of arguments, in bytes; package argparse rejects longer ones.
const maxInput = 1 << 20
