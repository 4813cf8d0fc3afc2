// Package dataschema has the JSON Schemas that describe data of a tool: its parameters, its output, the answer to a question.
// A [Schema] is compiled by package jsonschema and keeps its text, because the order of its properties and its own spelling
// are shown to people and to models. [Foreign] repairs schemas that other programs wrote. A [Form] asks a person for the
// properties at the top of a schema.
//
// The package does not know definitions: which key has a schema, package tool says.
package dataschema

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/jsonschema"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Schema is a compiled JSON Schema (draft 2020-12, or draft-07 if it says so) with its original text. Formats such
// as date and email are checked. It is immutable and safe for concurrent use.
type Schema struct {
	source   json.RawMessage
	doc      any
	compiled *jsonschema.Schema
}

// Parse parses a JSON Schema. The error lists all problems in it; see Problems.
func Parse(source []byte) (*Schema, error) {
	var doc any
	if err := value.DecodeJSON(source, &doc); err != nil {
		return nil, err
	}
	whole, bad := jsonschema.Compile(doc)
	if len(bad) > 0 {
		return nil, schemaError(bad)
	}
	return &Schema{source: source, doc: doc, compiled: whole}, nil
}

// ParseOutput is Parse for the schema of an output. It must be that of an object, because the Model Context
// Protocol has no other structured results.
func ParseOutput(source []byte) (*Schema, error) {
	s, err := Parse(source)
	if err != nil {
		return nil, err
	}
	if top, _ := s.doc.(map[string]any); top["type"] != "object" {
		return nil, schemaError{jsonschema.Problem{Path: []string{"type"}, Message: "must be object, because structured output is one JSON object"}}
	}
	return s, nil
}

// MarshalJSON returns the schema as it was written.
func (s *Schema) MarshalJSON() ([]byte, error) { return s.source, nil }

// Check returns all problems with a value, which is as encoding/json decodes it.
func (s *Schema) Check(v any) []Problem {
	var list []Problem
	for _, p := range s.compiled.Validate(v) {
		list = append(list, Problem{Field: FormatPath(p.Path), Path: p.Path, Missing: p.Missing, Unknown: p.Unknown, Message: p.Message})
	}
	return list
}

// Accepts reports whether a value has no problems.
func (s *Schema) Accepts(v any) bool { return len(s.compiled.Validate(v)) == 0 }

// Defaults returns a copy of a value in which the schema's defaults replace missing values, also inside objects and
// lists.
func (s *Schema) Defaults(v any) any { return s.compiled.Defaults(v) }

// Example returns a value that the schema accepts; ok is false if none is found.
func (s *Schema) Example() (v any, ok bool) { return s.compiled.Example() }

// Properties returns the properties of the schema in the order of its text, nil if it has none.
func (s *Schema) Properties() []Property {
	top, _ := s.doc.(map[string]any)
	return propertiesOf(s.source, top)
}

// Open reports whether the schema has rules of its own for values that its top-level properties do not name.
func (s *Schema) Open() bool {
	top, _ := s.doc.(map[string]any)
	return isOpen(top)
}

// schemaError is a list of all problems in a schema.
type schemaError []jsonschema.Problem

func (e schemaError) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = strings.TrimPrefix(FormatPath(p.Path)+": "+p.Message, ": ")
	}
	return strings.Join(lines, "; ")
}

// Problems returns the problems in an error of Parse. Their Field is the path in the schema. Any other
// error becomes one problem without a Field.
func Problems(err error) []Problem {
	var bad schemaError
	if !errors.As(err, &bad) {
		return []Problem{{Message: err.Error()}}
	}
	list := make([]Problem, len(bad))
	for i, p := range bad {
		list[i] = Problem{Field: FormatPath(p.Path), Path: p.Path, Missing: p.Missing, Unknown: p.Unknown, Message: p.Message}
	}
	return list
}
