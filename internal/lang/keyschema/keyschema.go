// Package keyschema writes the JSON Schema of a table of keys, for editors. It uses draft-07, because that is what editors
// support. The schema checks each key by itself: names, types, choices, ranges, exactly one body. Rules between parts of a
// document are checked only when it is decoded, so a file that is valid by the schema may still have errors.
package keyschema

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Of returns the schema of documents with the keys of root. Each call creates a new value of maps, slices and scalars. Its
// JSON encoding is always the same.
func Of(root *keytable.Object, title string) map[string]any {
	w := &writer{root}
	s := w.objectSchema(root)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = title
	definitions := map[string]any{}
	w.addDefinitions(root, definitions)
	if len(definitions) > 0 {
		s["definitions"] = definitions
	}
	return s
}

// writer writes one schema.
type writer struct{ root *keytable.Object }

// addDefinitions adds the objects below o, each under its name.
func (w *writer) addDefinitions(o *keytable.Object, definitions map[string]any) {
	for _, f := range o.Fields() {
		if f.Of == nil || f.Of == w.root || definitions[schemaName(f.Of)] != nil {
			continue
		}
		s := w.objectSchema(f.Of)
		if f.Kind == keytable.KindMatrix { // its other keys are names
			s["additionalProperties"] = anyOf(ofType("array"), ofType("string"))
			s["minProperties"] = 1
		}
		definitions[schemaName(f.Of)] = s
		w.addDefinitions(f.Of, definitions)
	}
}

// schemaName returns an object's name without its article, as one word.
func schemaName(o *keytable.Object) string {
	name := strings.TrimPrefix(strings.TrimPrefix(o.Name, "a "), "an ")
	return strings.NewReplacer("'s", "", " ", "-").Replace(name)
}

// reference returns the schema that refers to that of an object.
func (w *writer) reference(o *keytable.Object) map[string]any {
	if o == w.root {
		return map[string]any{"$ref": "#"}
	}
	return map[string]any{"$ref": "#/definitions/" + schemaName(o)}
}

// objectSchema returns the schema of the mappings that o describes.
func (w *writer) objectSchema(o *keytable.Object) map[string]any {
	properties, dependencies := map[string]any{}, map[string]any{}
	var required []string
	var unless []any
	for _, f := range o.Fields() {
		properties[f.Key] = w.fieldSchema(f)
		if f.Required {
			required = append(required, f.Key)
		}
		if f.Needs != nil {
			depends(dependencies, f.Key)["anyOf"] = mapWords(f.Needs, Requires)
		}
		exclude(dependencies, f.Key, f.Excludes)
		if f.AnyWith != "" {
			unless = append(unless, map[string]any{"if": Requires(f.AnyWith), "else": map[string]any{"properties": map[string]any{f.Key: typesOrObjects(f, ofType("object"))}}})
		}
	}
	s := map[string]any{
		"description":          o.Doc,
		"type":                 "object",
		"properties":           properties,
		"patternProperties":    map[string]any{"^x-": true},
		"additionalProperties": false,
	}
	if required != nil {
		s["required"] = required
	}
	if unless != nil {
		s["allOf"] = unless
	}
	if keys := o.ExactlyOne(); keys != nil {
		s["anyOf"] = mapWords(keys, Requires)
		for i, key := range keys {
			exclude(dependencies, key, keys[i+1:])
		}
	}
	if len(dependencies) > 0 {
		s["dependencies"] = dependencies
	}
	return s
}

// depends returns the schema of objects that have a key.
func depends(dependencies map[string]any, key string) map[string]any {
	s, ok := dependencies[key].(map[string]any)
	if !ok {
		s = map[string]any{}
		dependencies[key] = s
	}
	return s
}

// exclude makes objects with a key invalid if they have one of others. Editors mark that one, by its name; of a oneOf they
// would say only that several schemas match.
func exclude(dependencies map[string]any, key string, others []string) {
	if len(others) == 0 {
		return
	}
	properties := map[string]any{}
	for _, other := range others {
		properties[other] = false
	}
	depends(dependencies, key)["properties"] = properties
}

// Requires returns the schema of objects that have a key.
func Requires(key string) any { return map[string]any{"required": []string{key}} }

func mapWords(words []string, f func(string) any) []any {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = f(w)
	}
	return all
}

// fieldSchema returns the schema of a key.
func (w *writer) fieldSchema(f keytable.Field) map[string]any {
	s := w.valueSchema(f)
	if _, ok := s["$ref"]; ok { // draft-07 ignores the keywords next to a $ref
		s = map[string]any{"allOf": []any{s}}
	}
	s["description"] = f.Doc
	if f.Default != "" {
		s["default"] = defaultValue(f)
	}
	if f.Form != nil && f.Kind == keytable.KindText {
		s["pattern"] = f.Form().String()
	}
	if f.Body && f.Kind == keytable.KindObjects {
		s["minItems"] = 1
	}
	if f.Body && f.Kind == keytable.KindObject {
		s["minProperties"] = 1
	}
	return s
}

// defaultValue returns a default with the type that it has in a definition.
func defaultValue(f keytable.Field) any {
	if f.Kind == keytable.KindBoolean {
		return f.Default == "true"
	}
	if n, err := strconv.Atoi(f.Default); err == nil && f.Kind != keytable.KindText {
		return n
	}
	return f.Default
}

const (
	durationUnit = `(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))`
	durationForm = `^(\+?` + durationUnit + `+|([0-9]+w([0-9]+d)?|[0-9]+d)` + durationUnit + `*)$`
	tooShortForm = `^\+?([0-9]{1,3}(\.[0-9]*)?(us|µs|μs)|[0-9]{1,6}(\.[0-9]*)?ns)$` // less than a millisecond
	sizeTextForm = `^0*[1-9][0-9]* ?(B|[KMGT]i?B)?$`
)

// valueSchema returns the schema of the values of the field's kind.
func (w *writer) valueSchema(f keytable.Field) map[string]any {
	switch f.Kind {
	case keytable.KindText:
		return fieldText(f)
	case keytable.KindTexts:
		return oneOrMore(fieldText(f))
	case keytable.KindChoice:
		return choiceSchema(f)
	case keytable.KindChoices:
		return oneOrMore(choiceSchema(f))
	case keytable.KindBoolean:
		return ofType("boolean")
	case keytable.KindInteger:
		return integerSchema(f.Min, f.Max)
	case keytable.KindIntegers:
		return oneOrMore(integerSchema(f.Min, f.Max))
	case keytable.KindNumber:
		return numberSchema(f.Least)
	case keytable.KindDuration:
		return anyOf(integerSchema(1, int64(keytable.MaxDuration/time.Millisecond)), durationText())
	case keytable.KindSize:
		return anyOf(map[string]any{"type": "integer", "minimum": 1}, patternSchema(sizeTextForm))
	case keytable.KindValues:
		return ofType("array")
	case keytable.KindValueMap:
		return ofType("object")
	case keytable.KindTextMap:
		return mapOf(textSchema())
	case keytable.KindTextOrObject:
		return anyOf(textSchema(), w.reference(f.Of))
	case keytable.KindObject, keytable.KindMatrix:
		return w.reference(f.Of)
	case keytable.KindObjects:
		return map[string]any{"type": "array", "items": w.reference(f.Of)}
	case keytable.KindChoiceOrObject:
		return anyOf(choiceSchema(f), w.reference(f.Of))
	case keytable.KindTextsOrObjects:
		return oneOrMore(anyOf(textSchema(), w.reference(f.Of)))
	case keytable.KindTextOrObjectMap:
		s := mapOf(anyOf(textSchema(), w.reference(f.Of)))
		if f.Types != nil && f.AnyWith == "" {
			s = typesOrObjects(f, w.reference(f.Of))
		}
		return withNames(s, f)
	case keytable.KindValue:
		if f.Types != nil {
			return map[string]any{"type": slices.Clone(f.Types)}
		}
	case keytable.KindObjectMap:
		item := w.reference(f.Of)
		if short := f.Of.Field(f.Short); short != nil {
			item = anyOf(w.fieldSchema(*short), item)
		}
		return withNames(mapOf(item), f)
	case keytable.KindEnvironment:
		flat := mapOf(textSchema())
		flat["propertyNames"] = map[string]any{
			"pattern": value.VariablePattern,
			"not":     map[string]any{"enum": slices.Clone(f.Of.Keys())},
		}
		return anyOf(w.reference(f.Of), flat)
	}
	return map[string]any{} // any value
}

// typesOrObjects returns the schema of mappings of names to one of the field's types, or to objects.
func typesOrObjects(f keytable.Field, object map[string]any) map[string]any {
	return mapOf(anyOf(map[string]any{"enum": slices.Clone(f.Types)}, object))
}

// withNames returns the schema of mappings with the form of their names, if the field has one.
func withNames(s map[string]any, f keytable.Field) map[string]any {
	if f.Form != nil {
		s["propertyNames"] = map[string]any{"pattern": f.Form().String()}
	}
	return s
}

func ofType(name string) map[string]any { return map[string]any{"type": name} }

// textSchema also allows numbers and booleans: their text in the file is the value.
func textSchema() map[string]any {
	return map[string]any{"type": []string{"string", "number", "boolean"}}
}

// fieldText returns the schema of the texts of a field.
func fieldText(f keytable.Field) map[string]any {
	s := textSchema()
	if f.Command {
		s["pattern"] = `\S`
	}
	return s
}

func numberSchema(least float64) map[string]any {
	s := ofType("number")
	if least > 0 {
		s["minimum"] = least
	}
	return s
}

func choiceSchema(f keytable.Field) map[string]any {
	return map[string]any{"enum": slices.Clone(f.Enum)}
}

// durationText returns the schema of durations with units.
func durationText() map[string]any {
	s := patternSchema(durationForm)
	s["not"] = map[string]any{"pattern": tooShortForm}
	return s
}

func patternSchema(form string) map[string]any {
	return map[string]any{"type": "string", "pattern": form}
}

func integerSchema(low, high int64) map[string]any {
	return map[string]any{"type": "integer", "minimum": low, "maximum": high}
}

func anyOf(all ...any) map[string]any { return map[string]any{"anyOf": all} }

func oneOrMore(item map[string]any) map[string]any {
	return anyOf(item, map[string]any{"type": "array", "items": item})
}

func mapOf(item map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": item}
}
