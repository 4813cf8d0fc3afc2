package registry

import (
	"cmp"
	"encoding/json"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/argparse"
	"github.com/flowrun/flowrun/internal/model/funcschema"
)

// Tool is a tool of any kind, as a model sees it. It is immutable.
type Tool struct {
	registry *Registry
	plan     *flowrun.Plan
	schema   *argparse.Schema
	size     int // roughly, see kept
}

func (r *Registry) tool(p *flowrun.Plan) *Tool {
	t := &Tool{registry: r, plan: p, schema: schemaOf(p.Definition, p.Secret), size: minSize}
	for _, src := range p.Sources() {
		t.size += len(src.Text)
	}
	return t
}

// Name returns the name that calls use.
func (t *Tool) Name() string { return t.plan.Name() }

// DisplayName returns the name shown to people.
func (t *Tool) DisplayName() string { return cmp.Or(t.plan.Definition.DisplayName, t.Name()) }

// Description returns what the tool is for.
func (t *Tool) Description() string { return t.plan.Definition.Description }

// Plan returns the plan that a call runs.
func (t *Tool) Plan() *flowrun.Plan { return t.plan }

// Schema returns a JSON Schema of the tool's parameters, without values that would reveal a secret.
func (t *Tool) Schema() json.RawMessage {
	fn, _ := t.function(string(funcschema.JSONSchema))
	text, err := json.Marshal(fn.Parameters)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return text
}

// Declaration returns the tool as a function declaration in a dialect: json-schema, openai, anthropic, gemini or mcp.
// The error reports parameters that a model could not tell apart.
func (t *Tool) Declaration(format string) (json.RawMessage, error) {
	fn, found := t.function(format)
	if err := found.Err(); err != nil {
		return nil, err
	}
	return fn.MarshalJSON()
}

func (t *Tool) function(format string) (*funcschema.Function, tool.Diagnostics) {
	return funcschema.Of(t.plan.Definition, t.plan.Secret, funcschema.Format(format))
}
