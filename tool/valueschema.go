package tool

import "encoding/json"

// JSONSchema is a JSON Schema (draft 2020-12) as it was written, ready to hold values
// against. It does not change and may be used by several goroutines.
type JSONSchema struct {
	source json.RawMessage
	whole  schema
}

// ParseSchema reads a JSON Schema; the error says everything that is wrong with it.
func ParseSchema(source []byte) (*JSONSchema, error) {
	doc, err := decodeJSON(source)
	if err != nil {
		return nil, err
	}
	whole, bad := compileForm(doc)
	if len(bad) > 0 {
		return nil, schemaError(bad)
	}
	return &JSONSchema{source: source, whole: whole}, nil
}

// MarshalJSON writes the schema as it was written.
func (s *JSONSchema) MarshalJSON() ([]byte, error) { return s.source, nil }

// Check is everything that is wrong with a value as encoding/json has it.
func (s *JSONSchema) Check(v any) []FormProblem {
	var list []FormProblem
	for _, p := range s.whole.problems(v) {
		list = append(list, FormProblem{Field: valuePath(p.path), Missing: p.missing, Unknown: p.unknown, Message: p.message})
	}
	return list
}

type schemaError []schemaProblem

func (e schemaError) Error() string {
	text := ""
	for i, p := range e {
		if i > 0 {
			text += "; "
		}
		text += valuePath(p.path) + ": " + p.message
	}
	return text
}
