package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/jsonschema"
)

// decoded decodes a JSON document with the digits of its numbers.
func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestExample: the example of a schema is valid, and has all properties where it can.
func TestExample(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "string"}`:                          `"text"`,
		`{"type": "number"}`:                          `1.5`,
		`{"type": "integer"}`:                         `1`,
		`{"type": ["null", "boolean"]}`:               `true`,
		`{}`:                                          `"text"`,
		`true`:                                        `"text"`,
		`{"const": {"a": 1}}`:                         `{"a":1}`,
		`{"enum": [7, "b"], "type": "string"}`:        `"b"`,
		`{"type": "string", "default": "x"}`:          `"x"`,
		`{"type": "string", "default": 5}`:            `"text"`,
		`{"oneOf": [{"const": "a"}, {"const": "b"}]}`: `"a"`,
		`{"oneOf": [{"type": "number"}, {"type": "integer"}]}`:                                 `1.5`,
		`{"oneOf": [{"type": "integer"}, {"type": "number"}]}`:                                 `1.5`,
		`{"anyOf": [false, {"type": "boolean"}]}`:                                              `true`,
		`{"allOf": [{"type": "string"}, {"minLength": 6}]}`:                                    `"textte"`,
		`{"type": "string", "maxLength": 2}`:                                                   `"te"`,
		`{"type": "string", "maxLength": 0}`:                                                   `""`,
		`{"type": "string", "format": "date-time"}`:                                            `"2026-01-31T12:30:00Z"`,
		`{"type": "string", "pattern": "^[A-Z]{3}-\\d+$"}`:                                     `"AAA-1"`,
		`{"type": "string", "pattern": "^(v|w)[0-9]*\\.x?$", "minLength": 5}`:                  `"v11111."`,
		`{"type": "integer", "minimum": 10}`:                                                   `10`,
		`{"type": "integer", "exclusiveMinimum": 10}`:                                          `11`,
		`{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}`:                     `0.5`,
		`{"type": "integer", "minimum": 8, "multipleOf": 5}`:                                   `10`,
		`{"type": "number", "maximum": -5}`:                                                    `-5`,
		`{"type": "array", "items": {"type": "integer"}}`:                                      `[1]`,
		`{"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": true}`: `["a","b"]`,
		`{"type": "array", "maxItems": 0}`:                                                     `[]`,
		`{"type": "array", "prefixItems": [{"const": 1}, {"const": 2}]}`:                       `[1,2]`,
		`{"type": "array", "contains": {"const": 5}}`:                                          `[5]`,
		`{"properties": {"a": {"type": "integer"}, "b": {"format": "email"}}}`:                 `{"a":1,"b":"name@example.com"}`,
		`{"type": "object", "required": ["x"], "additionalProperties": {"type": "boolean"}}`:   `{"x":true}`,
		`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "maxProperties": 1, "required": ["b"]}`:                                                `{"b":1}`,
		`{"type": "object", "anyOf": [{"properties": {"id": {"type": "integer"}}, "required": ["id"]}, {"required": ["name"]}]}`:                                                       `{"id":1}`,
		`{"type": "object", "properties": {"v": {"$ref": "#/$defs/v"}}, "$defs": {"v": {"type": "string", "format": "uuid"}}}`:                                                         `{"v":"123e4567-e89b-42d3-a456-426614174000"}`,
		`{"type": "object", "properties": {"k": {"enum": ["a"]}}, "if": {"properties": {"k": {"const": "a"}}}, "then": {"required": ["n"], "properties": {"n": {"type": "integer"}}}}`: `{"k":"a","n":1}`,
		`{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}`:                                                                                              ``,
		`{"not": {}}`: ``,
		`false`:       ``,
		`{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"list": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}}`: `{"list":[{"list":[{}]}]}`,
	} {
		s, bad := jsonschema.Compile(decoded(t, text))
		if len(bad) > 0 {
			t.Fatalf("%s: %v", text, bad)
		}
		v, ok := s.Example()
		got, _ := json.Marshal(v)
		if !ok {
			got = nil
		} else if problems := s.Validate(decoded(t, string(got))); len(problems) > 0 {
			t.Errorf("%s: %s is invalid: %v", text, got, problems)
		}
		if string(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestExampleEnds: the search ends soon for schemas that grow with each reference.
func TestExampleEnds(t *testing.T) {
	for _, form := range []string{
		`{"allOf": [{"$ref": "#/$defs/%[1]d"}, {"$ref": "#/$defs/%[1]d"}]}`, `{"anyOf": [{"$ref": "#/$defs/%[1]d"}, {"$ref": "#/$defs/%[1]d"}]}`,
		`{"type": "array", "minItems": 1000, "items": {"$ref": "#/$defs/%[1]d"}}`, `{"properties": {"a": {"$ref": "#/$defs/%[1]d"}, "b": {"$ref": "#/$defs/%[1]d"}}, "required": ["a", "b"]}`,
	} {
		defs := []string{`"0": {"not": {}}`}
		for i := range 60 {
			defs = append(defs, fmt.Sprintf(`"%d": `, i+1)+fmt.Sprintf(form, i))
		}
		s, bad := jsonschema.Compile(decoded(t, `{"$ref": "#/$defs/60", "$defs": {`+strings.Join(defs, ", ")+`}}`))
		if len(bad) > 0 {
			t.Fatal(bad)
		}
		began := time.Now()
		if v, ok := s.Example(); ok && len(s.Validate(v)) > 0 || time.Since(began) > 10*time.Second {
			t.Errorf("%s: an example %t after %s", form, ok, time.Since(began))
		}
	}
}
