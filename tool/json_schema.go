package tool

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowrun/flowrun/internal/jsonschema"
)

// JSONSchema is a JSON Schema (draft 2020-12, or draft-07 where it says so) as it was
// written, ready to hold values against. Formats such as date and email count. It does
// not change and may be used by several goroutines.
type JSONSchema struct {
	source json.RawMessage
	doc    any
	whole  *jsonschema.Schema
}

// ParseSchema reads a JSON Schema; the error says everything that is wrong with it.
func ParseSchema(source []byte) (*JSONSchema, error) {
	doc, err := decodeJSON(source)
	if err != nil {
		return nil, err
	}
	whole, bad := jsonschema.Compile(doc)
	if len(bad) > 0 {
		return nil, schemaError(bad)
	}
	return &JSONSchema{source: source, doc: doc, whole: whole}, nil
}

// MarshalJSON writes the schema as it was written.
func (s *JSONSchema) MarshalJSON() ([]byte, error) { return s.source, nil }

// Check is everything that is wrong with a value as encoding/json has it.
func (s *JSONSchema) Check(v any) []FormProblem {
	var list []FormProblem
	for _, p := range s.whole.Validate(v) {
		list = append(list, FormProblem{Field: valuePath(p.Path), Path: p.Path, Missing: p.Missing, Unknown: p.Unknown, Message: p.Message})
	}
	return list
}

// Defaults is a copy of a value with the schema's defaults for what it leaves out, in
// objects and lists too.
func (s *JSONSchema) Defaults(v any) any { return s.whole.Defaults(v) }

// Open says whether the schema says itself what becomes of values that its properties at
// the top do not name.
func (s *JSONSchema) Open() bool {
	top, _ := s.doc.(map[string]any)
	return isOpen(top)
}

// schemaError is everything that is wrong with a schema.
type schemaError []jsonschema.Problem

func (e schemaError) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = strings.TrimPrefix(valuePath(p.Path)+": "+p.Message, ": ")
	}
	return strings.Join(lines, "; ")
}

// SchemaProblems are what an error of ParseSchema says, one by one: Field leads to the
// place in the schema. Of another error it is one problem without a place.
func SchemaProblems(err error) []FormProblem {
	var bad schemaError
	if !errors.As(err, &bad) {
		return []FormProblem{{Message: err.Error()}}
	}
	list := make([]FormProblem, len(bad))
	for i, p := range bad {
		list[i] = FormProblem{Field: valuePath(p.Path), Missing: p.Missing, Unknown: p.Unknown, Message: p.Message}
	}
	return list
}
