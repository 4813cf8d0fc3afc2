package registry

import (
	"context"

	"github.com/flowrun/flowrun"
)

// Invocation is one call of a tool whose arguments are valid. Nothing has been done yet.
type Invocation struct {
	Tool      *Tool
	Run       string         // the id that its run gets; "" for any
	Params    map[string]any // what the call gives, defaults left out; secrets are among it
	Repaired  bool           // the text was no plain JSON object of the parameters
	Repairs   []Repair       // of the text
	Coercions []Repair       // of values: "10" for a number
	Defaults  []string       // names of parameters that take their default

	bound *flowrun.Args // Params, with defaults
}

// Describe says in one sentence what the call will do. Secrets are masked.
func (c *Invocation) Describe() string {
	return c.bound.Describe()
}

// Preview works out what would run, and starts nothing.
func (c *Invocation) Preview() (*flowrun.Preview, error) {
	return c.bound.Preview()
}

// Confirmation works out what a person is shown who is asked. An error says that
// the call would fail.
func (c *Invocation) Confirmation(ctx context.Context) (*flowrun.Confirmation, error) {
	return c.bound.Confirmation(ctx)
}

// Execute does it, and stops when ctx is done. Nobody is asked any more. Results and
// errors are those of flowrun.Engine.Run.
func (c *Invocation) Execute(ctx context.Context, more ...flowrun.RunOption) (*flowrun.Result, error) {
	o := c.Tool.registry.options
	var options []flowrun.RunOption
	if o.Run != nil {
		options = append(options, o.Run(c)...)
	}
	options = append(options, more...)
	if c.Run != "" {
		options = append(options, flowrun.WithID(c.Run))
	}
	return o.Engine.RunBound(ctx, c.bound, options...)
}
