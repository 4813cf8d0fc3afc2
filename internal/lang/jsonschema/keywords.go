package jsonschema

import (
	"maps"
	"slices"
)

// keyword reads one keyword of a schema. Unknown keywords are ignored.
func (r *reader) keyword(n *node, doc map[string]any, key string, path []string) {
	v := doc[key]
	_ = r.general(n, key, v, path) || r.scalar(n, key, v, path) || r.list(n, doc, key, path) || r.object(n, key, v, path)
}

// general reads the keywords for values of any type and for subschemas. Like the functions below, it
// reports whether it knows the keyword.
func (r *reader) general(n *node, key string, v any, path []string) bool {
	switch key {
	case "type":
		n.types = r.types(v, path)
	case "enum":
		list, ok := v.([]any)
		if !ok {
			r.fail(path, "expected a list of values, got %s", gotWords(v))
		}
		n.enum = newChoice(list)
	case "const":
		n.constant = &constant{v, string(appendCanonical(nil, v))}
	case "default":
		n.defaultValue, n.hasDefault = v, true
	case "allOf":
		n.allOf = r.schemas(n, v, path)
	case "anyOf":
		n.anyOf = r.schemas(n, v, path)
	case "oneOf":
		n.oneOf = r.schemas(n, v, path)
	case "not":
		n.not = r.schema(v, path, n.res)
	case "if":
		n.ifNode = r.schema(v, path, n.res)
	case "then":
		n.thenNode = r.schema(v, path, n.res)
	case "else":
		n.elseNode = r.schema(v, path, n.res)
	case "$defs", "definitions":
		r.namedSchemas(n, v, path)
	case "$ref":
		r.refs = append(r.refs, reference{n, path, r.text(v, path), false})
	case "$dynamicRef":
		if !r.draft7 {
			r.refs = append(r.refs, reference{n, path, r.text(v, path), true})
		}
	case "$id", "$anchor", "$dynamicAnchor", "$schema", "title", "description", "$comment":
		r.text(v, path)
	default:
		return false
	}
	return true
}

func (r *reader) types(v any, path []string) (set kinds) {
	names := []string{}
	switch v := v.(type) {
	case string:
		names = append(names, v)
	case []any:
		if names = r.texts(v, path); len(v) == 0 {
			r.fail(path, "expected a type, got an empty list")
		}
	default:
		r.fail(path, "expected a type or a list of types, got %s", gotWords(v))
	}
	for _, name := range names {
		k := kindNamed(name)
		if k == 0 {
			r.fail(path, "unknown type %s: use string, number, integer, boolean, array, object or null", quoted(name))
		}
		set |= k
	}
	return set
}

// scalar reads the keywords for numbers and text.
func (r *reader) scalar(n *node, key string, v any, path []string) bool {
	switch key {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		n.numbers = append(n.numbers, bound{key, r.decimal(v, path), plain(v)})
	case "multipleOf":
		d := r.decimal(v, path)
		if n.multiple = &d; d.sign() <= 0 && kindOf(v)&kindNumber != 0 {
			r.fail(path, "expected a number above 0, got %s", plain(v))
		}
		n.multipleText = plain(v)
	case "minLength":
		n.minLength = r.count(v, path)
	case "maxLength":
		n.maxLength = r.count(v, path)
	case "pattern":
		if s, ok := v.(string); ok {
			n.pattern = r.pattern(s, path)
		} else {
			r.text(v, path)
		}
	case "format":
		n.format = r.text(v, path)
	default:
		return false
	}
	return true
}

// list reads the keywords for arrays.
func (r *reader) list(n *node, doc map[string]any, key string, path []string) bool {
	v := doc[key]
	_, several := v.([]any)
	_, severalItems := doc["items"].([]any)
	switch {
	case key == "items" && several && !r.draft7:
		r.fail(path, "expected a schema, got a list: use prefixItems for a schema for each element")
	case key == "items" && several, key == "prefixItems" && !r.draft7:
		n.prefixItems = r.schemas(n, v, path)
	case key == "items", key == "additionalItems" && r.draft7 && severalItems:
		n.items = r.schema(v, path, n.res)
	case key == "contains":
		n.contains = r.schema(v, path, n.res)
	case key == "minContains" && !r.draft7:
		n.minContains = r.count(v, path)
	case key == "maxContains" && !r.draft7:
		n.maxContains = r.count(v, path)
	case key == "minItems":
		n.minItems = r.count(v, path)
	case key == "maxItems":
		n.maxItems = r.count(v, path)
	case key == "uniqueItems":
		n.unique = r.flag(v, path)
	case key == "unevaluatedItems" && !r.draft7:
		n.unevaluatedItems, r.tracksEvaluated = r.schema(v, path, n.res), true
	default:
		return false
	}
	return true
}

func (r *reader) flag(v any, path []string) bool {
	b, ok := v.(bool)
	if !ok {
		r.fail(path, "expected true or false, got %s", gotWords(v))
	}
	return b
}

// object reads the keywords for objects.
func (r *reader) object(n *node, key string, v any, path []string) bool {
	switch {
	case key == "properties":
		n.properties = r.namedSchemas(n, v, path)
		n.order = slices.Sorted(maps.Keys(n.properties))
	case key == "patternProperties":
		r.patternProperties(n, v, path)
	case key == "additionalProperties":
		n.additionalProperties = r.schema(v, path, n.res)
	case key == "propertyNames":
		n.propertyNames = r.schema(v, path, n.res)
	case key == "required":
		n.required = r.texts(v, path)
	case key == "minProperties":
		n.minProperties = r.count(v, path)
	case key == "maxProperties":
		n.maxProperties = r.count(v, path)
	case key == "dependentRequired" && !r.draft7, key == "dependentSchemas" && !r.draft7, key == "dependencies":
		r.dependencies(n, key, v, path)
	case key == "unevaluatedProperties" && !r.draft7:
		n.unevaluatedProperties, r.tracksEvaluated = r.schema(v, path, n.res), true
	default:
		return false
	}
	return true
}

func (r *reader) patternProperties(n *node, v any, path []string) {
	nodes := r.namedSchemas(n, v, path)
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if p := r.pattern(name, append(path[:len(path):len(path)], name)); p != nil {
			n.patterns = append(n.patterns, patternNode{*p, nodes[name]})
		}
	}
}

// dependencies reads dependentRequired and dependentSchemas, and dependencies, which they replaced in
// 2020-12.
func (r *reader) dependencies(n *node, key string, v any, path []string) {
	m, ok := v.(map[string]any)
	if !ok {
		r.fail(path, "expected an object, got %s", gotWords(v))
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		d, at := dependency{keyword: key, property: name}, append(path[:len(path):len(path)], name)
		if _, list := m[name].([]any); key == "dependentRequired" || key == "dependencies" && list {
			d.required = r.texts(m[name], at)
		} else {
			d.schema = r.schema(m[name], at, n.res)
		}
		n.dependent = append(n.dependent, d)
	}
}
