package tool

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/jsonschema"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// JSONSchema is a compiled JSON Schema (draft 2020-12, or draft-07 if it says so) with its original text. Formats such
// as date and email are checked. It is immutable and safe for concurrent use.
type JSONSchema struct {
	source   json.RawMessage
	doc      any
	compiled *jsonschema.Schema
}

// ParseSchema parses a JSON Schema. The error lists all problems in it; see SchemaProblems.
func ParseSchema(source []byte) (*JSONSchema, error) {
	var doc any
	if err := value.DecodeJSON(source, &doc); err != nil {
		return nil, err
	}
	whole, bad := jsonschema.Compile(doc)
	if len(bad) > 0 {
		return nil, schemaError(bad)
	}
	return &JSONSchema{source: source, doc: doc, compiled: whole}, nil
}

// ParseOutputSchema is ParseSchema for the schema of an output. It must be that of an object, because the Model Context
// Protocol has no other structured results.
func ParseOutputSchema(source []byte) (*JSONSchema, error) {
	s, err := ParseSchema(source)
	if err != nil {
		return nil, err
	}
	if top, _ := s.doc.(map[string]any); top["type"] != "object" {
		return nil, schemaError{jsonschema.Problem{Path: []string{"type"}, Message: "must be object, because structured output is one JSON object"}}
	}
	return s, nil
}

// MarshalJSON returns the schema as it was written.
func (s *JSONSchema) MarshalJSON() ([]byte, error) { return s.source, nil }

// Check returns all problems with a value, which is as encoding/json decodes it.
func (s *JSONSchema) Check(v any) []FormProblem {
	var list []FormProblem
	for _, p := range s.compiled.Validate(v) {
		list = append(list, FormProblem{Field: valuePath(p.Path), Path: p.Path, Missing: p.Missing, Unknown: p.Unknown, Message: p.Message})
	}
	return list
}

// Accepts reports whether a value has no problems.
func (s *JSONSchema) Accepts(v any) bool { return len(s.compiled.Validate(v)) == 0 }

// Defaults returns a copy of a value in which the schema's defaults replace missing values, also inside objects and
// lists.
func (s *JSONSchema) Defaults(v any) any { return s.compiled.Defaults(v) }

// Example returns a value that the schema accepts; ok is false if none is found.
func (s *JSONSchema) Example() (v any, ok bool) { return s.compiled.Example() }

// Properties returns the properties of the schema in the order of its text, nil if it has none.
func (s *JSONSchema) Properties() []Property {
	top, _ := s.doc.(map[string]any)
	return propertiesOf(s.source, top)
}

// Open reports whether the schema has rules of its own for values that its top-level properties do not name.
func (s *JSONSchema) Open() bool {
	top, _ := s.doc.(map[string]any)
	return isOpen(top)
}

// schemaError is a list of all problems in a schema.
type schemaError []jsonschema.Problem

func (e schemaError) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = strings.TrimPrefix(valuePath(p.Path)+": "+p.Message, ": ")
	}
	return strings.Join(lines, "; ")
}

// SchemaProblems returns the problems in an error of ParseSchema. Their Field is the path in the schema. Any other
// error becomes one problem without a Field.
func SchemaProblems(err error) []FormProblem {
	var bad schemaError
	if !errors.As(err, &bad) {
		return []FormProblem{{Message: err.Error()}}
	}
	list := make([]FormProblem, len(bad))
	for i, p := range bad {
		list[i] = FormProblem{Field: valuePath(p.Path), Path: p.Path, Missing: p.Missing, Unknown: p.Unknown, Message: p.Message}
	}
	return list
}
