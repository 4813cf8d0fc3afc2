package funcschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// ownSchema returns the schema of a tool that has one: as its author wrote it, without what the dialect does
// not accept. When the tool is called, values are validated against the whole schema.
func (m *builder) ownSchema() *Schema {
	source, err := m.def.Schema.MarshalJSON()
	if err != nil {
		return &Schema{Type: "object"}
	}
	read, _ := readOrdered(source)
	doc, _ := read.(ordered)
	doc = modern(doc)
	o := &ownSchema{builder: m, doc: doc}
	top := o.inlineRefs(doc)
	if defs := doc.get("$defs"); defs != nil {
		top = top.with("$defs", defs)
	}
	if defs := doc.get("definitions"); defs != nil {
		top = top.with("definitions", defs)
	}
	if m.format != JSONSchema {
		top = o.union(top, 0)
	}
	top = o.dropDefaulted(o.hideSecrets(top.without("$schema", "$id", "$comment")))
	if m.format == OpenAI || m.format == Anthropic { // these providers reject the keywords at the top level
		top = top.without("not", "if", "then", "else", "enum", "const")
	}
	if m.format == Gemini {
		top = o.gemini(top, 0)
	}
	if top.get("properties") == nil {
		top = top.with("properties", ordered{})
	}
	own := append(ordered{{"type", "object"}}, top.without("type")...)
	if dialect := doc.text("$schema"); dialect != "" && (m.format == MCP || m.format == JSONSchema) {
		own = append(ordered{{"$schema", dialect}}, own...)
	}
	return &Schema{own: own}
}

// output returns the schema of the output, nil if none is declared.
func output(s *dataschema.Schema) *Schema {
	if s == nil {
		return nil
	}
	source, err := s.MarshalJSON()
	if err != nil {
		return nil
	}
	read, _ := readOrdered(source)
	doc, ok := read.(ordered)
	if !ok {
		return nil
	}
	return &Schema{own: modern(doc)}
}

// ownSchema is the state of one call of builder.ownSchema.
type ownSchema struct {
	*builder
	doc ordered
}

// dropDefaulted removes properties with a default from required.
func (o *ownSchema) dropDefaulted(top ordered) ordered {
	list, _ := top.get("required").([]any)
	var must []any
	for _, name := range list {
		if !slices.ContainsFunc(o.def.Parameters, func(p *tool.Parameter) bool { return p.Name == name && p.Default != nil }) {
			must = append(must, name)
		}
	}
	if must == nil {
		return top.without("required")
	}
	return top.with("required", must)
}

// hideSecrets removes keywords that would show the value of a secret.
func (o *ownSchema) hideSecrets(top ordered) ordered {
	properties, ok := top.get("properties").(ordered)
	if !ok {
		return top
	}
	properties = slices.Clone(properties)
	for i, p := range properties {
		if one, ok := p.value.(ordered); ok && o.secret(p.key) {
			properties[i].value = one.without("default", "examples", "enum", "const")
		}
	}
	return top.with("properties", properties)
}

// maxInlined is how many levels of $ref are replaced by their targets.
const maxInlined = 8

// inlineRefs returns a schema in which $ref is replaced by its target, if that is in the document.
func (o *ownSchema) inlineRefs(s ordered) ordered {
	for range maxInlined {
		to, ok := o.schemaAt(s.text("$ref"))
		if !ok {
			break
		}
		rest := s.without("$ref")
		for _, m := range to {
			if rest.get(m.key) == nil {
				rest = append(rest, m)
			}
		}
		s = rest
	}
	return s
}

func (o *ownSchema) schemaAt(ref string) (ordered, bool) {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	var v any = o.doc
	for part := range strings.SplitSeq(rest, "/") {
		switch in := v.(type) {
		case ordered:
			v = in.get(unescaped(part))
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		}
	}
	s, ok := v.(ordered)
	return s, ok
}

// gemini returns the part of a schema that Gemini accepts, a subset of OpenAPI 3.0.
func (o *ownSchema) gemini(v any, depth int) ordered {
	s, _ := v.(ordered)
	s = o.inlineRefs(s)
	var kept ordered
	for _, m := range s {
		switch m.key {
		case "title", "description", "default", "required", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties", "maxProperties":
			kept = append(kept, m)
		}
	}
	typ, nullable := typeOf(s)
	if depth > maxInlined {
		return ordered{{"type", typ}}
	}
	if nullable {
		kept = append(kept, member{"nullable", true})
	}
	switch properties, _ := s.get("properties").(ordered); {
	case typ == "array":
		kept = kept.with("items", o.gemini(s.get("items"), depth+1))
	case typ == "object" && properties != nil:
		properties = slices.Clone(properties)
		for i := range properties {
			properties[i].value = o.gemini(properties[i].value, depth+1)
		}
		kept = kept.with("properties", properties)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := s.get(key).([]any); ok {
			forms := make([]any, len(list))
			for i, one := range list {
				forms[i] = o.gemini(one, depth+1)
			}
			kept = kept.with("anyOf", forms)
		}
	}
	return append(ordered{{"type", typ}}, addChoices(kept, s, typ)...)
}

// addChoices adds the allowed values: as enum if all are texts, otherwise in the description.
func addChoices(kept, s ordered, typ string) ordered {
	list, _ := s.get("enum").([]any)
	if v := s.get("const"); v != nil {
		list = []any{v}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == "" || v == nil })
	switch {
	case len(list) == 0:
		return kept
	case typ == "string" && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok }):
		return kept.with("enum", list)
	}
	return kept.with("description", sentence(kept.text("description"), "One of: "+joinValues(list)+"."))
}

// typeOf returns the one type with which a schema is declared, and whether null is allowed too.
func typeOf(s ordered) (typ string, nullable bool) {
	switch t := s.get("type").(type) {
	case string:
		return t, false
	case []any:
		for _, one := range t {
			name, _ := one.(string)
			if nullable = nullable || name == "null"; name != "null" && typ == "" {
				typ = name
			}
		}
	}
	switch {
	case typ != "":
	case s.get("properties") != nil:
		typ = "object"
	case s.get("items") != nil:
		typ = "array"
	default:
		typ = "string"
	}
	return typ, nullable
}
