package registry

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/model/argparse"
)

// schemaOf returns the schema that guides the parsing of a tool's arguments. It holds no values of a secret, because
// a refusal shows examples and defaults. Undeclared names from models are rejected, unless the tool declares no
// parameters at all, or explicitly accepts any.
func schemaOf(def *tool.Definition, secret func(string) bool) *argparse.Schema {
	s := &argparse.Schema{Types: []string{"object"}}
	doc := documentOf(def.Schema)
	nested, _ := doc["properties"].(map[string]any)
	for _, p := range def.Parameters {
		of := ofParameter(p)
		if own, ok := nested[p.Name]; ok {
			of = ofSchema(own, 0)
		}
		prop := argparse.Property{Name: p.Name, Schema: of, Required: p.Required && p.Default == nil}
		if secret(p.Name) {
			of.Enum = nil
		} else {
			samples(&prop, p)
		}
		s.Properties = append(s.Properties, prop)
	}
	s.Open = len(def.Parameters) == 0 && def.Format.AllowsUndeclared() || takesMore(doc)
	return s
}

// samples sets the default, if it is known before the call, and an example.
func samples(prop *argparse.Property, p *tool.Parameter) {
	if p.Default != nil && !mentions(*p.Default) {
		prop.Default, prop.HasDefault = data(*p.Default), true
	}
	if len(p.Examples) > 0 {
		prop.Example = data(p.Examples[0])
	}
}

// ofParameter returns the schema of a parameter that has no JSON Schema.
func ofParameter(p *tool.Parameter) *argparse.Schema {
	s := &argparse.Schema{}
	var enum []any
	for _, v := range p.Validation.Enum {
		if p.Type == "string" || p.Type == "" {
			v = v.AsText()
		}
		enum = append(enum, data(v))
	}
	switch p.Type {
	case "":
		s.Types = []string{"string"}
	case "any":
	default:
		s.Types = []string{p.Type}
	}
	switch p.Type {
	case "array": // the rules apply to its elements
		s.Items = &argparse.Schema{Enum: enum}
	case "object":
		s.Open = true
	default:
		s.Enum = enum
	}
	return s
}

// mentions reports whether a default may contain a reference, so that it is known only when the tool runs.
func mentions(v tool.Value) bool {
	return v.Text != nil && strings.Contains(v.Text.S, "{") || slices.ContainsFunc(v.List, mentions) ||
		slices.ContainsFunc(v.Map, func(e tool.Entry) bool { return mentions(e.Value) })
}

// data converts a value for package argparse: numbers keep the digits that were written.
func data(v tool.Value) any {
	switch {
	case v.Text != nil:
		return v.Text.S
	case v.List != nil:
		list := make([]any, len(v.List))
		for i, e := range v.List {
			list[i] = data(e)
		}
		return list
	case v.Map != nil:
		m := map[string]any{}
		for _, e := range v.Map {
			m[e.Key] = data(e.Value)
		}
		return m
	}
	if _, is := value.Number(v.Scalar); is {
		return json.Number(value.Plain(v.Scalar))
	}
	return v.Scalar
}

// documentOf returns a JSON Schema decoded by encoding/json, with the digits of numbers kept.
func documentOf(s *dataschema.Schema) map[string]any {
	if s == nil {
		return nil
	}
	source, err := s.MarshalJSON()
	if err != nil {
		return nil
	}
	var doc map[string]any
	if value.DecodeJSON(source, &doc) != nil {
		return nil
	}
	return doc
}

// takesMore reports whether a JSON Schema explicitly accepts properties that it does not name.
func takesMore(doc map[string]any) bool {
	if more, given := doc["additionalProperties"]; given {
		return more != false
	}
	return slices.ContainsFunc([]string{"patternProperties", "unevaluatedProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"},
		func(key string) bool { return doc[key] != nil })
}

// maxNested limits how deep a JSON Schema is followed; values nested deeper may be anything.
const maxNested = 32

// ofSchema converts a JSON Schema as far as it can guide parsing. A schema with references or alternatives accepts
// anything here; binding checks the arguments against the whole schema.
func ofSchema(v any, depth int) *argparse.Schema {
	doc, _ := v.(map[string]any)
	s := &argparse.Schema{}
	if depth > maxNested || doc == nil {
		return s
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := doc[key].([]any); ok {
			return oneOf(list, depth)
		}
	}
	if slices.ContainsFunc([]string{"$ref", "$dynamicRef", "allOf", "not", "if"}, func(key string) bool { return doc[key] != nil }) {
		return s
	}
	s.Types = typesOf(doc["type"])
	s.Enum = choices(doc)
	if items, ok := doc["items"].(map[string]any); ok && doc["prefixItems"] == nil { // otherwise they are those of the rest of the list
		s.Items = ofSchema(items, depth+1)
	}
	properties, _ := doc["properties"].(map[string]any)
	required, _ := doc["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := argparse.Property{Name: name, Schema: ofSchema(properties[name], depth+1), Required: slices.Contains(required, any(name))}
		if one, ok := properties[name].(map[string]any); ok {
			if p.Default, p.HasDefault = one["default"]; p.HasDefault {
				p.Required = false
			}
		}
		s.Properties = append(s.Properties, p)
	}
	s.Open = takesMore(doc)
	return s
}

// oneOf returns the schema of alternatives if all but one are null: a value that may be left empty. Other
// alternatives accept anything.
func oneOf(list []any, depth int) *argparse.Schema {
	var rest []any
	for _, v := range list {
		if one, ok := v.(map[string]any); !ok || one["type"] != "null" {
			rest = append(rest, v)
		}
	}
	if len(rest) != 1 || len(rest) == len(list) {
		return &argparse.Schema{}
	}
	s := ofSchema(rest[0], depth+1)
	if len(s.Types) > 0 {
		s.Types = append(s.Types, "null")
	}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

func typesOf(v any) (types []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, t := range v {
			if word, ok := t.(string); ok {
				types = append(types, word)
			}
		}
	}
	return types
}

// choices returns the values of enum or const; nil if some are not scalars.
func choices(doc map[string]any) []any {
	list, _ := doc["enum"].([]any)
	if v, given := doc["const"]; given {
		list = []any{v}
	}
	for _, v := range list {
		switch v.(type) {
		case []any, map[string]any:
			return nil
		}
	}
	return list
}
