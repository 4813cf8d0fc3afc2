package dataschema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/jsonschema"
)

// Foreign reads a schema that another program made, as value.DecodeJSON decodes it, and changes it. Keywords that are
// not valid, or that flowrun cannot check, are put right where their meaning is plain, and left out otherwise: the other
// program checks its arguments itself. leftOut are the paths of those, such as properties/email/pattern.
func Foreign(doc map[string]any) (s *Schema, leftOut []string, err error) {
	setDialect(doc)
	leftOut = dropEmptyChoices(doc, "")
	for range maxRepairs {
		_, bad := jsonschema.Compile(doc)
		if len(bad) == 0 {
			break
		}
		changed := false
		repairedNow := map[string]bool{}
		for _, p := range bad {
			where := strings.Join(p.Path[:keywordDepth(doc, p.Path)], "/")
			if repairedNow[where] { // a list can have several problems
				continue
			}
			repairedNow[where] = true
			switch what := repair(doc, p.Path); what {
			case nothing:
			case removed:
				leftOut = append(leftOut, strings.Join(p.Path, "/"))
				changed = true
			default:
				changed = true
			}
		}
		if !changed {
			return nil, nil, schemaError(bad)
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, nil, err
	}
	s, err = Parse(text.Bytes())
	return s, leftOut, err
}

// maxRepairs is how often a schema is looked at again: a repaired keyword can show that another one is not valid.
const maxRepairs = 20

// draft7 is the oldest dialect that can be checked. What 2020-12 changed is in fewer places than what older ones did.
const draft7 = "http://json-schema.org/draft-07/schema#"

// setDialect replaces the address of a dialect that cannot be checked by that of the nearest one. A schema without one that is
// valid only as draft 7 gets that.
func setDialect(doc map[string]any) {
	address, _ := doc["$schema"].(string)
	switch {
	case strings.Contains(address, "2020-12"):
		doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	case strings.Contains(address, "draft-0"), strings.Contains(address, "2019-09"):
		doc["$schema"] = draft7
	default:
		delete(doc, "$schema")
		_, now := jsonschema.Compile(doc)
		doc["$schema"] = draft7
		if _, old := jsonschema.Compile(doc); len(old) >= len(now) {
			delete(doc, "$schema")
		}
	}
}

// otherTypes are names of types that other programs write.
var otherTypes = map[string]string{"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number", "double": "number",
	"decimal": "number", "bool": "boolean", "str": "string", "text": "string", "dict": "object", "map": "object", "list": "array"}

// plainType returns the name of a type as JSON Schema has it.
func plainType(name string) string {
	name = strings.ToLower(name)
	if other, ok := otherTypes[name]; ok {
		return other
	}
	return name
}

// plainTypes is plainType for a list. What is not a text stays.
func plainTypes(list []any) []any {
	types := slices.Clone(list)
	for i, v := range types {
		if name, ok := v.(string); ok {
			types[i] = plainType(name)
		}
	}
	return types
}

// repaired is what repair did.
type repaired int

const (
	nothing repaired = iota
	corrected
	removed
)

// repair corrects or removes the keyword to which a path leads, or the keyword that has what it leads to.
func repair(doc map[string]any, path []string) repaired {
	holder, key, named := keywordOf(doc, path)
	switch {
	case holder == nil:
		return nothing
	case named && isSchema(holder[key]): // its name is wrong: a pattern
		return dropPattern(doc, path)
	case named:
		return repairNamed(holder, key)
	}
	switch v := holder[key].(type) {
	case nil: // some libraries write null for what is not set
		delete(holder, key)
		return corrected
	case string:
		if low := plainType(v); key == "type" && low != v {
			holder[key] = low
			return corrected
		}
		if key == "required" {
			holder[key] = []any{v}
			return corrected
		}
	case []any:
		if key == "properties" && len(v) == 0 { // in some languages, an empty map looks like a list
			holder[key] = map[string]any{}
			return corrected
		}
		if types := plainTypes(v); key == "type" && !slices.Equal(types, v) {
			holder[key] = types
			return corrected
		}
		if key == "required" {
			if names := uniqueTexts(v); len(names) < len(v) && len(names) > 0 {
				holder[key] = names
				return corrected
			}
		}
	case bool: // draft 4 has the bound in another keyword
		bound := map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[key]
		if value, has := holder[bound]; has && v {
			holder[key] = value
			delete(holder, bound)
			return corrected
		}
	}
	delete(holder, key)
	return removed
}

// isSchema reports whether a value can be a schema.
func isSchema(v any) bool {
	_, object := v.(map[string]any)
	_, boolean := v.(bool)
	return object || boolean
}

// dropPattern removes the schema for names that match a pattern, and the rules for all other names, which would then be also
// for these.
func dropPattern(doc map[string]any, path []string) repaired {
	around, key, _ := keywordOf(doc, path[:len(path)-1])
	patterns, ok := around[key].(map[string]any)
	if !ok || key != "patternProperties" {
		return nothing
	}
	delete(patterns, path[len(path)-1])
	delete(around, "additionalProperties")
	delete(around, "unevaluatedProperties")
	return removed
}

// repairNamed puts a schema that accepts everything, or everything of its type, in place of one that is none: without it, the
// name of a parameter would be lost.
func repairNamed(schemas map[string]any, name string) repaired {
	switch v := schemas[name].(type) {
	case nil:
		schemas[name] = map[string]any{}
		return corrected
	case []any:
		schemas[name] = map[string]any{}
		if len(v) == 0 {
			return corrected
		}
	case string:
		schemas[name] = map[string]any{"type": plainType(v)}
		return corrected
	default:
		schemas[name] = map[string]any{}
	}
	return removed
}

// holdsNames are the keywords with schemas by name.
var holdsNames = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}

// keywordOf returns the object with the keyword to which a path leads, and the keyword. An element of a list belongs to the
// keyword with the list. holder is nil if there is none. named reports that the key is the name of a schema.
func keywordOf(doc map[string]any, path []string) (holder map[string]any, key string, named bool) {
	var at any = doc
	names := false
	for _, name := range path {
		switch v := at.(type) {
		case map[string]any:
			next, has := v[name]
			if !has {
				return holder, key, named
			}
			holder, key, at = v, name, next
			named, names = names, !names && slices.Contains(holdsNames, name)
		default:
			return holder, key, named
		}
	}
	return holder, key, named
}

// keywordDepth returns how many names of a path lead to the keyword that keywordOf returns.
func keywordDepth(doc map[string]any, path []string) (depth int) {
	var at any = doc
	for _, name := range path {
		members, _ := at.(map[string]any)
		next, has := members[name]
		if !has {
			break
		}
		at = next
		depth++
	}
	return depth
}

// dropEmptyChoices removes lists of no values, which no argument could match, and returns their paths.
func dropEmptyChoices(v any, path string) (removed []string) {
	switch v := v.(type) {
	case []any:
		for i, one := range v {
			removed = append(removed, dropEmptyChoices(one, path+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		if list, ok := v["enum"].([]any); ok && len(list) == 0 {
			delete(v, "enum")
			removed = append(removed, strings.TrimPrefix(path+"/enum", "/"))
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			removed = append(removed, dropEmptyChoices(v[key], path+"/"+key)...)
		}
	}
	return removed
}

// uniqueTexts returns the texts of a list, each once.
func uniqueTexts(list []any) (texts []any) {
	for _, v := range list {
		if text, ok := v.(string); ok && !slices.Contains(texts, any(text)) {
			texts = append(texts, text)
		}
	}
	return texts
}
