package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/model/argparse"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// argumentRules are the parameters of a line of flowrun repair: a schema that guides parsing, and a
// tool with exactly these parameters, so that values are validated as in a call.
type argumentRules struct {
	schema *argparse.Schema
	all    *dataschema.Schema
	tool   *registry.Tool
}

// example returns an example call.
func (r *argumentRules) example() string { return argparse.ExampleOf(r.schema, r.all) }

// argumentsTool is the name of that tool, which is never called.
const argumentsTool = "arguments"

func readRules(doc []byte) (*argumentRules, error) {
	schema, err := argparse.ReadParameters(doc)
	if err != nil {
		return nil, err
	}
	var parameters map[string]map[string]any
	if err := ui.DecodeJSON(doc, &parameters); err != nil {
		return nil, errors.New("each parameter must be an object, as in {\"type\": \"number\"}")
	}
	properties := map[string]any{}
	for name, p := range parameters {
		rules, err := valueRules(p)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", name, err)
		}
		properties[name] = rules
	}
	text, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return nil, err
	}
	own, err := dataschema.Parse(text)
	if err != nil {
		return nil, err
	}
	lib := library.New(library.Config{})
	def := gostep.GoTool{Name: argumentsTool, Schema: own, Run: func(context.Context, *gostep.StepInput) (any, error) { return nil, nil }}.Definition()
	if err := lib.Add(def); err != nil {
		return nil, err
	}
	t, err := registry.New(lib, registry.Options{}).Get(argumentsTool)
	return &argumentRules{schema, own, t}, err
}

// validationKeywords are the validation rules that have the same names as in JSON Schema. Types and
// choices are checked during parsing too.
var validationKeywords = []string{"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}

// valueRules converts the rules of a value to JSON Schema. The validation of an array applies to
// its elements, as in a definition.
func valueRules(p map[string]any) (map[string]any, error) {
	s := map[string]any{}
	if t := typeNames(p["type"]); t != nil {
		s["type"] = t
	}
	if choices, ok := p["enum"]; ok {
		s["enum"] = choices
	}
	for _, key := range validationKeywords {
		if v, ok := p[key]; ok {
			s[key] = v
		}
	}
	more, _ := p["validation"].(map[string]any)
	elements := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(more)) {
		switch {
		case key != "enum" && !slices.Contains(validationKeywords, key):
			return nil, fmt.Errorf("unknown validation rule %q%s", key, ui.Nearest(key, append(slices.Clone(validationKeywords), "enum")))
		case p["type"] == "array" && !strings.HasSuffix(key, "Items"):
			elements[key] = more[key]
		default:
			s[key] = more[key]
		}
	}
	if items, ok := p["items"].(map[string]any); ok {
		inner, err := valueRules(items)
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		maps.Copy(elements, inner)
	}
	if len(elements) > 0 {
		s["items"] = elements
	}
	return s, propertyRules(s, p)
}

// typeNames returns the types of a value as in JSON Schema, nil for any. They decide which numbers are in range, as in a call.
func typeNames(declared any) any {
	switch t := declared.(type) {
	case string:
		if name := strings.ToLower(t); name != "any" {
			return name
		}
	case []any:
		names := make([]any, len(t))
		for i, one := range t {
			names[i] = typeNames(one)
		}
		return names
	}
	return nil
}

// propertyRules adds the rules of the properties of an object.
func propertyRules(s, p map[string]any) error {
	if more, given := p["additionalProperties"]; given {
		s["additionalProperties"] = more
	}
	properties, _ := p["properties"].(map[string]any)
	if properties == nil {
		return nil
	}
	rules, required := map[string]any{}, []any{}
	if list, ok := p["required"].([]any); ok {
		required = list
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		one, ok := properties[name].(map[string]any)
		if !ok {
			rules[name] = map[string]any{}
			continue
		}
		inner, err := valueRules(one)
		if err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		if rules[name] = inner; one["required"] == true && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	s["properties"], s["required"] = rules, required
	return nil
}
