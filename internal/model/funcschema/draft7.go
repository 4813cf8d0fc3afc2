package funcschema

import (
	"slices"
	"strconv"
	"strings"
)

// current is the dialect of all schemas that are declared.
const current = "https://json-schema.org/draft/2020-12/schema"

// modern returns a schema of the current dialect that means the same as one of draft 7. Other schemas are returned as they
// are: flowrun reads no other dialect.
func modern(doc ordered) ordered {
	if !strings.Contains(doc.text("$schema"), "draft-07") {
		return doc
	}
	d := &draft7{doc}
	return d.schema(doc).with("$schema", current)
}

// draft7 changes a document of draft 7.
type draft7 struct{ doc ordered }

// The keywords that contain schemas: one, a list, or several by name.
var (
	inOne  = []string{"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"}
	inList = []string{"allOf", "anyOf", "oneOf"}
	byName = []string{"properties", "patternProperties"}
)

// besideRef are the keywords beside $ref that draft 7 does not ignore, or that change nothing.
var besideRef = []string{"$ref", "$schema", "definitions", "title", "description", "default", "examples", "$comment", "readOnly", "writeOnly", "deprecated"}

func (d *draft7) value(v any) any {
	if s, ok := v.(ordered); ok {
		return d.schema(s)
	}
	return v
}

func (d *draft7) list(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	list = slices.Clone(list)
	for i := range list {
		list[i] = d.value(list[i])
	}
	return list
}

func (d *draft7) named(v any) any {
	named, ok := v.(ordered)
	if !ok {
		return v
	}
	named = slices.Clone(named)
	for i := range named {
		named[i].value = d.value(named[i].value)
	}
	return named
}

func (d *draft7) schema(s ordered) (out ordered) {
	_, tuple := s.get("items").([]any)
	isRef := s.text("$ref") != ""
	for _, m := range s {
		if isRef && !slices.Contains(besideRef, m.key) {
			continue
		}
		switch {
		case m.key == "$ref":
			m.value = d.pointer(s.text("$ref"))
		case m.key == "$id" && strings.HasPrefix(s.text("$id"), "#"):
			m = member{"$anchor", strings.TrimPrefix(s.text("$id"), "#")}
		case m.key == "definitions":
			m = member{"$defs", d.named(m.value)}
		case m.key == "items" && tuple:
			m = member{"prefixItems", d.list(m.value)}
		case m.key == "additionalItems" && tuple:
			m = member{"items", d.value(m.value)}
		case m.key == "additionalItems":
			continue // it has no meaning
		case m.key == "dependencies":
			out = append(out, d.dependencies(m.value)...)
			continue
		case slices.Contains(inOne, m.key):
			m.value = d.value(m.value)
		case slices.Contains(inList, m.key):
			m.value = d.list(m.value)
		case slices.Contains(byName, m.key):
			m.value = d.named(m.value)
		}
		out = append(out, m)
	}
	return out
}

// dependencies returns the keywords for dependencies: draft 7 has one for names and schemas.
func (d *draft7) dependencies(v any) (out ordered) {
	var required, schemas ordered
	all, _ := v.(ordered)
	for _, m := range all {
		if _, names := m.value.([]any); names {
			required = append(required, m)
		} else {
			schemas = append(schemas, member{m.key, d.value(m.value)})
		}
	}
	if required != nil {
		out = append(out, member{"dependentRequired", required})
	}
	if schemas != nil {
		out = append(out, member{"dependentSchemas", schemas})
	}
	return out
}

// pointer returns a reference to the same schema in the changed document.
func (d *draft7) pointer(ref string) string {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return ref
	}
	parts := strings.Split(rest, "/")
	var at any = d.doc
	name := false // the next part is a name, and not a keyword
	for i, part := range parts {
		switch in := at.(type) {
		case ordered:
			_, tuple := in.get("items").([]any)
			switch {
			case name:
				name = false
			case part == "definitions":
				parts[i], name = "$defs", true
			case slices.Contains(byName, part):
				name = true
			case part == "items" && tuple:
				parts[i] = "prefixItems"
			case part == "additionalItems" && tuple:
				parts[i] = "items"
			}
			at = in.get(unescaped(part))
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index < 0 || index >= len(in) {
				return ref
			}
			at = in[index]
		}
	}
	return "#/" + strings.Join(parts, "/")
}

// unescaped returns a part of a JSON pointer as it is in the document.
func unescaped(part string) string {
	return strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
}
