package funcschema

import "bytes"

// Schema is the part of JSON Schema (draft 2020-12) that declarations use. Keywords that are not used are
// zero.
type Schema struct {
	Type                 string      `json:"type,omitempty"`
	Description          string      `json:"description,omitempty"`
	Default              any         `json:"default,omitempty"`
	Examples             []any       `json:"examples,omitempty"`
	Enum                 []any       `json:"enum,omitempty"`
	MinLength            *int        `json:"minLength,omitempty"`
	MaxLength            *int        `json:"maxLength,omitempty"`
	Pattern              string      `json:"pattern,omitempty"`
	Minimum              *float64    `json:"minimum,omitempty"`
	Maximum              *float64    `json:"maximum,omitempty"`
	Items                *Schema     `json:"items,omitempty"`
	Properties           *Properties `json:"properties,omitempty"`
	Required             []string    `json:"required,omitempty"`
	AdditionalProperties *bool       `json:"additionalProperties,omitempty"`
	Deprecated           bool        `json:"deprecated,omitempty"`

	own ordered // the whole schema, if its author wrote it
}

// MarshalJSON writes the keywords that are used.
func (s *Schema) MarshalJSON() ([]byte, error) {
	if s.own != nil {
		return encode(s.own)
	}
	type plain Schema
	return encode((*plain)(s))
}

// Properties are the properties of a schema in their order, in which models read them.
type Properties []Property

// Property is one property.
type Property struct {
	Name   string
	Schema *Schema
}

// MarshalJSON writes an object with the properties in their order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(one.Name)
		if err != nil {
			return nil, err
		}
		schema, err := encode(one.Schema)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(schema)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
