package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// schemaKeys are where declarations have the schema of their parameters.
var schemaKeys = []string{"parametersJsonSchema", "parameters", "inputSchema", "input_schema"}

// Bounds of a schema.
const (
	largestSchema = 1 << 20 // bytes
	deepest       = 100     // schemas in schemas
)

// schemaOf is the schema of a declaration: the first of the keys that has an object. A
// declaration without one has no parameters.
func schemaOf(members map[string]json.RawMessage) (*tool.JSONSchema, error) {
	text := json.RawMessage(`{"type":"object","properties":{}}`)
	for _, key := range schemaKeys {
		if object(members[key]) != nil {
			text = members[key]
			break
		}
	}
	if len(text) > largestSchema {
		return nil, fmt.Errorf("its schema is larger than %d MiB", largestSchema>>20)
	}
	text, err := folded(text, 0)
	if err != nil {
		return nil, err
	}
	var kind string
	if json.Unmarshal(object(text)["type"], &kind) == nil && kind != "object" {
		return nil, fmt.Errorf("its schema must have the type object, not %s", beginning([]byte(kind)))
	}
	schema, err := tool.ParseSchema(text)
	if err != nil {
		return nil, fmt.Errorf("its schema is invalid: %w", err)
	}
	return schema, nil
}

// Where schemas stand in a schema: by itself, in a list, or by names.
var (
	holdsSchema  = []string{"items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties"}
	holdsList    = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	holdsSchemas = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// types are those of JSON Schema, as some providers write them.
var types = []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}

// folded is a schema with the upper-case types of Gemini's form as JSON Schema has them.
// Everything else stays as it is written: the order of properties and the digits of
// numbers.
func folded(text json.RawMessage, depth int) (json.RawMessage, error) {
	if depth > deepest {
		return nil, fmt.Errorf("its schema is nested deeper than %d levels", deepest)
	}
	return members(text, func(key string, value json.RawMessage) (json.RawMessage, error) {
		switch {
		case key == "type":
			if bytes.HasPrefix(value, []byte("[")) {
				return elements(value, foldedType)
			}
			return foldedType(value)
		case slices.Contains(holdsSchemas, key):
			return members(value, func(_ string, one json.RawMessage) (json.RawMessage, error) { return folded(one, depth+1) })
		case slices.Contains(holdsList, key) && bytes.HasPrefix(value, []byte("[")):
			return elements(value, func(one json.RawMessage) (json.RawMessage, error) { return folded(one, depth+1) })
		case slices.Contains(holdsSchema, key):
			return folded(value, depth+1)
		}
		return value, nil
	})
}

func foldedType(value json.RawMessage) (json.RawMessage, error) {
	var word string
	if json.Unmarshal(value, &word) == nil && slices.Contains(types, word) {
		return json.RawMessage(`"` + strings.ToLower(word) + `"`), nil
	}
	return value, nil
}

// members is a JSON object with its values changed, in its order; what is none stays.
func members(text json.RawMessage, change func(key string, value json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return text, nil
	}
	out := []byte{'{'}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, errors.New("an object key is not a string")
		}
		value, err := next(d, func(v json.RawMessage) (json.RawMessage, error) { return change(name, v) })
		if err != nil {
			return nil, err
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted...), ':'), value...)
	}
	return append(out, '}'), nil
}

// elements is a JSON array with its elements changed.
func elements(text json.RawMessage, change func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.Token() // [
	out := []byte{'['}
	for d.More() {
		value, err := next(d, change)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	return append(out, ']'), nil
}

// next is the next value of a decoder, changed.
func next(d *json.Decoder, change func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return change(value)
}
