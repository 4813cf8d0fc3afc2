package funcschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Format is a dialect of function declarations.
type Format string

// The dialects. JSONSchema is the form of the specification: name, description and parameters.
const (
	JSONSchema Format = "json-schema"
	OpenAI     Format = "openai"    // {"type":"function","function":{...}}
	Anthropic  Format = "anthropic" // the schema is named input_schema
	Gemini     Format = "gemini"    // the schema is in Gemini's subset of OpenAPI schemas
	MCP        Format = "mcp"       // the schema is named inputSchema
)

// Formats returns the names of the dialects, the default first.
func Formats() []string {
	return []string{string(JSONSchema), string(OpenAI), string(Anthropic), string(Gemini), string(MCP)}
}

// MarshalJSON returns the function in the envelope of its dialect.
func (f *Function) MarshalJSON() ([]byte, error) {
	type plain struct {
		Name        string  `json:"name"`
		Description string  `json:"description,omitempty"`
		Parameters  *Schema `json:"parameters"`
	}
	switch f.format {
	case OpenAI:
		return encode(struct {
			Type     string `json:"type"`
			Function plain  `json:"function"`
		}{"function", plain{f.Name, f.Description, f.Parameters}})
	case Anthropic:
		return encode(struct {
			Name        string  `json:"name"`
			Description string  `json:"description,omitempty"`
			InputSchema *Schema `json:"input_schema"`
		}{f.Name, f.Description, f.Parameters})
	case MCP:
		return encode(struct {
			Name        string  `json:"name"`
			Description string  `json:"description,omitempty"`
			InputSchema *Schema `json:"inputSchema"`
			Output      *Schema `json:"outputSchema,omitempty"`
		}{f.Name, f.Description, f.Parameters, f.Output})
	case JSONSchema:
		return encode(struct {
			plain
			Output *Schema `json:"outputSchema,omitempty"`
		}{plain{f.Name, f.Description, f.Parameters}, f.Output})
	}
	return encode(plain{f.Name, f.Description, f.Parameters}) // Gemini
}

// restrictToGemini removes what Gemini does not accept in a parameter's schema. Gemini supports a subset of
// OpenAPI 3.0. It rejects requests with unknown keywords, and every enum that is not a list of texts
// of at least one character. restrictToGemini returns in words what the schema no longer says, "" for
// nothing.
func restrictToGemini(s *Schema) (lost string) {
	s.Examples, s.Deprecated, s.AdditionalProperties = nil, false, nil
	if s.Type != "string" && s.Enum != nil {
		lost = "One of: " + joinValues(s.Enum) + "."
		s.Enum = nil
	}
	s.Enum = slices.DeleteFunc(s.Enum, func(v any) bool { return v == "" })
	if s.Items != nil {
		if s.Items.Type = "string"; s.Items.numeric() { // Gemini requires a type in every schema
			s.Items.Type = "number"
		}
		if inner := restrictToGemini(s.Items); inner != "" {
			lost = "Each element " + strings.ToLower(inner[:1]) + inner[1:]
		}
	}
	return lost
}

// numeric reports whether the rules are for numbers.
func (s *Schema) numeric() bool {
	return s.Minimum != nil || s.Maximum != nil || slices.ContainsFunc(s.Enum, isNumber)
}

func joinValues(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

// encode returns JSON without the escapes that only web pages need.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
