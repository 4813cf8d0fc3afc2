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

// The dialects. JSONSchema is the specification's own form: name, description and
// parameters.
const (
	JSONSchema Format = "json-schema"
	OpenAI     Format = "openai"    // {"type":"function","function":{...}}
	Anthropic  Format = "anthropic" // input_schema
	Gemini     Format = "gemini"    // parameters, in Gemini's subset of OpenAPI schemas
	MCP        Format = "mcp"       // inputSchema
)

// Formats are the names of the dialects, the default first.
func Formats() []string {
	return []string{string(JSONSchema), string(OpenAI), string(Anthropic), string(Gemini), string(MCP)}
}

// MarshalJSON writes the envelope of the function's dialect.
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
		}{f.Name, f.Description, f.Parameters})
	}
	return encode(plain{f.Name, f.Description, f.Parameters})
}

// restrictToGemini keeps to what Gemini accepts of a parameter's schema, a subset of OpenAPI
// 3.0: it refuses a request with a keyword it does not know, and an enum that is not
// of texts with a character in them. It returns what the schema no longer says, ""
// for nothing.
func restrictToGemini(s *Schema) (lost string) {
	s.Examples, s.Deprecated, s.AdditionalProperties = nil, false, nil
	if s.Type != "string" && s.Enum != nil {
		lost = "One of: " + joinValues(s.Enum) + "."
		s.Enum = nil
	}
	s.Enum = slices.DeleteFunc(s.Enum, func(v any) bool { return v == "" })
	if s.Items != nil {
		if s.Items.Type = "string"; s.Items.numeric() { // every schema needs a type
			s.Items.Type = "number"
		}
		if inner := restrictToGemini(s.Items); inner != "" {
			lost = "Each element " + strings.ToLower(inner[:1]) + inner[1:]
		}
	}
	return lost
}

// numeric says whether the rules of an array's elements are about numbers.
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

// encode is JSON without the escapes that are for web pages only.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
