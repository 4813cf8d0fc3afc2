package mcpclient

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
)

// elicit answers a request of the server to ask the user something. A server may do that for the calls of
// its tools alone, one request at a time. Only forms are shown: a page on the web could look like any other.
func (r *remote) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	decline, cancelled := &mcp.ElicitResult{Action: "decline"}, &mcp.ElicitResult{Action: "cancel"}
	if r.client.config.Ask == nil || req.Params.Mode != "" && req.Params.Mode != "form" {
		return decline, nil
	}
	q := history.Question{Prompt: plainText(req.Params.Message, maxProblem)}
	var err error
	if q.Form, err = formOf(req.Params.RequestedSchema); err != nil {
		r.report("its question cannot be shown: " + plainText(err.Error(), maxProblem))
		return decline, nil
	}
	ctx, end, err := r.questions.enter(ctx)
	if err != nil {
		r.reportTooOften(err)
		return decline, nil
	}
	defer end()
	answer, err := r.client.config.Ask(ctx, r.config.Name, q)
	switch {
	case err != nil:
		return cancelled, nil
	case !answer.Approve:
		return decline, nil
	}
	values, err := plainValues(answer.Values)
	return &mcp.ElicitResult{Action: "accept", Content: values}, err
}

// plainValues returns values with the types that the library validates: its schemas know no json.Number.
func plainValues(values map[string]any) (plain map[string]any, err error) {
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return plain, json.Unmarshal(text, &plain)
}

// formOf returns the form of a question, nil if it has no fields.
func formOf(schema any) (*dataschema.Form, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var top map[string]any
	if err := json.Unmarshal(text, &top); err != nil {
		return nil, err
	}
	properties, _ := top["properties"].(map[string]any)
	if len(properties) == 0 {
		return nil, nil
	}
	for _, p := range properties {
		if field, ok := p.(map[string]any); ok {
			addChoices(field)
		}
	}
	if text, err = json.Marshal(top); err != nil {
		return nil, err
	}
	return dataschema.ParseForm(text)
}

// addChoices lists the values of a field whose choices have titles, as those of other fields are.
func addChoices(field map[string]any) {
	choices, _ := field["oneOf"].([]any)
	var values []any
	for _, c := range choices {
		choice, _ := c.(map[string]any)
		v, ok := choice["const"]
		if !ok {
			return
		}
		values = append(values, v)
	}
	if values != nil {
		field["enum"] = values
	}
}
