package registry

import (
	"context"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/engine"
)

// Invocation is one call of a tool whose arguments are valid. Nothing has been executed yet. It is not safe for
// concurrent use.
type Invocation struct {
	Tool      *Tool
	Run       string         // id for the run
	Params    map[string]any // the given values, without defaults; they include secrets
	Repaired  bool           // the text was not a plain JSON object with the parameters
	Repairs   []Repair       // of the text
	Coercions []Repair       // of values: "10" for a number
	Defaults  []string       // names of parameters that take their default

	bound *flowrun.Args // Params, with defaults
	asked bool          // a person was asked about it
}

// Describe returns one sentence that says what the call will do. Secrets are masked.
func (c *Invocation) Describe() string {
	return c.bound.Describe()
}

// Preview computes what would run if a model calls, and starts nothing.
func (c *Invocation) Preview() (*flowrun.Preview, error) {
	return c.Tool.registry.options.Engine.Preview(c.bound, engine.OriginCall)
}

// Confirmation computes what a person sees who is asked to approve the call. An error says that the call would fail.
func (c *Invocation) Confirmation(ctx context.Context) (*flowrun.Confirmation, error) {
	return c.bound.Confirmation(ctx)
}
