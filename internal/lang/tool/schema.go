package tool

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Schema returns the JSON Schema of definition files, generated from the table of keys. It uses draft-07, because that
// is what editors support. The schema checks each key by itself: names, types, choices, ranges, exactly one body. Rules
// between parts of a definition (references, conditions, wait-for) are checked only by package decode and the compiler, so a
// file that is valid by the schema may still have errors.
//
// Each call creates a new value of maps, slices and scalars. Its JSON encoding is always the same.
func Schema() map[string]any {
	s := objectSchema(toolObject)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "flowrun tool definition"
	definitions := map[string]any{}
	addDefinitions(toolObject, definitions)
	s["definitions"] = definitions
	return s
}

// addDefinitions adds the objects below o, each under its name.
func addDefinitions(o *keytable.Object, definitions map[string]any) {
	for _, f := range o.Fields() {
		if f.Of == nil || f.Of == toolObject || definitions[schemaName(f.Of)] != nil {
			continue
		}
		definitions[schemaName(f.Of)] = objectSchema(f.Of)
		addDefinitions(f.Of, definitions)
	}
}

// schemaName returns an object's name without its article, as one word.
func schemaName(o *keytable.Object) string {
	name := strings.TrimPrefix(strings.TrimPrefix(o.Name, "a "), "an ")
	return strings.NewReplacer("'s", "", " ", "-").Replace(name)
}

func reference(o *keytable.Object) map[string]any {
	if o == toolObject {
		return map[string]any{"$ref": "#"}
	}
	return map[string]any{"$ref": "#/definitions/" + schemaName(o)}
}

// requiredKeys maps keys to the keys they need: at least one of those listed must be present.
var requiredKeys = map[string][]string{
	"type":               {"base-tool"},
	"base-tool":          {"type"},
	"default-parameters": {"type"},
	"with":               {"use-tool"},
	"arguments":          {"use-tool"},
	"shell":              {"script", "commands"},
}

func objectSchema(o *keytable.Object) map[string]any {
	properties, dependencies := map[string]any{}, map[string]any{}
	var required []string
	var bodies []any
	for _, f := range o.Fields() {
		properties[f.Key] = fieldSchema(o, f)
		if f.Required {
			required = append(required, f.Key)
		}
		if f.Body {
			bodies = append(bodies, requires(f.Key))
		}
	}
	s := map[string]any{
		"description":          o.Doc,
		"type":                 "object",
		"properties":           properties,
		"patternProperties":    map[string]any{"^x-": true},
		"additionalProperties": false,
	}
	if o == matrixObject { // its other keys are names
		s["additionalProperties"] = anyOf(ofType("array"), ofType("string"))
	}
	if required != nil {
		s["required"] = required
	}
	if bodies == nil {
		return s
	}
	if o.Field("base-tool") != nil { // an alias runs its base tool and has no body
		bodies = append(bodies, requires("base-tool"))
		s["if"] = requires("base-tool")
		s["then"] = map[string]any{"propertyNames": anyOf(map[string]any{"enum": aliasKeys}, map[string]any{"pattern": "^x-"})}
	}
	s["oneOf"] = bodies
	for key, others := range requiredKeys {
		if o.Field(key) != nil {
			dependencies[key] = map[string]any{"anyOf": mapWords(others, requires)}
		}
	}
	s["dependencies"] = dependencies
	return s
}

func requires(key string) any { return map[string]any{"required": []string{key}} }

func mapWords(words []string, f func(string) any) []any {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = f(w)
	}
	return all
}

// fieldSchema returns the schema of the key f of o.
func fieldSchema(o *keytable.Object, f keytable.Field) map[string]any {
	s := valueSchema(f)
	if _, ok := s["$ref"]; ok { // draft-07 ignores the keywords next to a $ref
		s = map[string]any{"allOf": []any{s}}
	}
	s["description"] = f.Doc
	if f.Default != "" {
		s["default"] = defaultValue(f)
	}
	if form := nameForms[o]; form != nil && f.Key == "name" {
		s["pattern"] = form().String()
	}
	if o == securityObject && f.Key == "image" {
		s["pattern"] = imageName().String()
	}
	if f.Body && f.Kind == keytable.KindObjects {
		s["minItems"] = 1
	}
	if f.Body && f.Kind == keytable.KindObject {
		s["minProperties"] = 1
	}
	return s
}

// nameForms are the patterns for the names of objects, if not every text is a valid name.
var nameForms = map[*keytable.Object]func() *regexp.Regexp{
	toolObject: toolName, stepObject: stepName, parameterObject: parameterName,
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
	sizeTextForm = `^0*[1-9][0-9]* ?(B|[KMGT]i?B)?$`
)

// valueSchema returns the schema of the values of the field's kind.
func valueSchema(f keytable.Field) map[string]any {
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
		return anyOf(integerSchema(1, int64(keytable.MaxDuration/time.Millisecond)), patternSchema(durationForm))
	case keytable.KindSize:
		return anyOf(map[string]any{"type": "integer", "minimum": 1}, patternSchema(sizeTextForm))
	case keytable.KindValues:
		return ofType("array")
	case keytable.KindValueMap:
		return ofType("object")
	case keytable.KindTextMap:
		return mapOf(textSchema())
	case keytable.KindTextOrObject:
		return anyOf(textSchema(), reference(f.Of))
	case keytable.KindObject, keytable.KindMatrix:
		return reference(f.Of)
	case keytable.KindObjects:
		return map[string]any{"type": "array", "items": reference(f.Of)}
	case keytable.KindChoiceOrObject:
		return anyOf(choiceSchema(f), reference(f.Of))
	case keytable.KindTextsOrObjects:
		return oneOrMore(anyOf(textSchema(), reference(f.Of)))
	case keytable.KindTextOrObjectMap:
		return mapOf(anyOf(textSchema(), reference(f.Of)))
	case keytable.KindObjectMap:
		item := reference(f.Of)
		if short := f.Of.Field(f.Short); short != nil {
			item = anyOf(fieldSchema(f.Of, *short), item)
		}
		s := mapOf(item)
		if form := nameForms[f.Of]; form != nil {
			s["propertyNames"] = map[string]any{"pattern": form().String()}
		}
		return s
	case keytable.KindEnvironment:
		flat := mapOf(textSchema())
		flat["propertyNames"] = map[string]any{
			"pattern": value.VariablePattern,
			"not":     map[string]any{"enum": slices.Clone(f.Of.Keys())},
		}
		return anyOf(reference(f.Of), flat)
	}
	return map[string]any{} // any value
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

// SettingsSchema returns the JSON Schema of settings files with the keys of o, generated from the table that also reads
// them. It uses draft-07, because that is what editors support.
func SettingsSchema(o *keytable.Object, title string) map[string]any {
	s := objectSchema(o)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = title
	definitions := map[string]any{}
	addDefinitions(o, definitions)
	if len(definitions) > 0 {
		s["definitions"] = definitions
	}
	return s
}
