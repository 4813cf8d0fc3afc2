package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// schemaKeys are the keys under which declarations have the schema of their parameters.
var schemaKeys = []string{"parametersJsonSchema", "parameters", "inputSchema", "input_schema"}

// Limits of a schema.
const (
	maxSchema = 1 << 20 // bytes
	maxDepth  = 100     // nesting depth
)

// schemaOf returns the schema of a declaration: the first of the keys that has an object. A
// declaration without a schema has no parameters. leftOut are the parts that cannot be checked; see
// dataschema.Foreign.
func schemaOf(members map[string]json.RawMessage) (schema *dataschema.Schema, leftOut []string, err error) {
	text := json.RawMessage(`{"type":"object","properties":{}}`)
	for _, key := range schemaKeys {
		if object(members[key]) != nil {
			text = members[key]
			break
		}
	}
	if len(text) > maxSchema {
		return nil, nil, fmt.Errorf("its schema is larger than %d MiB", maxSchema>>20)
	}
	text, err = lowerTypes(text, 0)
	if err != nil {
		return nil, nil, err
	}
	var kind string
	if json.Unmarshal(object(text)["type"], &kind) == nil && kind != "" && kind != "object" {
		return nil, nil, fmt.Errorf("its schema must have the type object, not %s", beginning([]byte(kind)))
	}
	if schema, err = dataschema.Parse(text); err == nil { // as it is written, with its order
		return schema, nil, nil
	}
	var doc map[string]any
	if value.DecodeJSON(string(text), &doc) == nil {
		schema, leftOut, err = dataschema.Foreign(doc)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("its schema is invalid: %w", err)
	}
	return schema, leftOut, nil
}

// The keys under which a schema contains schemas: a single one, a list, or a map by name.
var (
	holdsSchema  = []string{"items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties"}
	holdsList    = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	holdsSchemas = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// types are the types of JSON Schema in upper case, as some providers write them.
var types = []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}

// lowerTypes returns a schema with the upper-case types of Gemini's format changed to those of
// JSON Schema. Everything else stays as written: the order of properties and the digits of
// numbers.
func lowerTypes(text json.RawMessage, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("its schema is nested deeper than %d levels", maxDepth)
	}
	return members(text, func(key string, value json.RawMessage) (json.RawMessage, error) {
		switch {
		case key == "type":
			if bytes.HasPrefix(value, []byte("[")) {
				return elements(value, lowerType)
			}
			return lowerType(value)
		case slices.Contains(holdsSchemas, key):
			return members(value, func(_ string, one json.RawMessage) (json.RawMessage, error) { return lowerTypes(one, depth+1) })
		case slices.Contains(holdsList, key) && bytes.HasPrefix(value, []byte("[")):
			return elements(value, func(one json.RawMessage) (json.RawMessage, error) { return lowerTypes(one, depth+1) })
		case slices.Contains(holdsSchema, key):
			return lowerTypes(value, depth+1)
		}
		return value, nil
	})
}

func lowerType(value json.RawMessage) (json.RawMessage, error) {
	var word string
	if json.Unmarshal(value, &word) == nil && slices.Contains(types, word) {
		return json.RawMessage(`"` + strings.ToLower(word) + `"`), nil
	}
	return value, nil
}

// members changes the values of a JSON object and keeps their order; any other value is
// returned unchanged.
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

// elements changes the elements of a JSON array.
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

// next decodes the next value and changes it.
func next(d *json.Decoder, change func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return change(value)
}
