package tool

import (
	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// ResultSchema returns the schema of the object that a model gets: the schema of the output, or else that of the declared
// outputs. It is nil if the tool has neither.
func (d *Definition) ResultSchema() *dataschema.Schema {
	if d.OutputSchema != nil || len(d.Outputs) == 0 {
		return d.OutputSchema
	}
	var required []Value
	var properties []Entry
	text := func(s string) Value { return Value{Scalar: s, Text: &Text{S: s}} }
	for _, o := range d.Outputs {
		property := Value{Map: []Entry{}}
		if o.Type != "" {
			property.Map = append(property.Map, Entry{Key: "type", Value: text(o.Type)})
		}
		if o.Description != "" {
			property.Map = append(property.Map, Entry{Key: "description", Value: text(o.Description)})
		}
		properties = append(properties, Entry{Key: o.Name, Value: property})
		if !o.Optional {
			required = append(required, text(o.Name))
		}
	}
	all := []Entry{{Key: "type", Value: text("object")}, {Key: "properties", Value: Value{Map: properties}}}
	if required != nil {
		all = append(all, Entry{Key: "required", Value: Value{List: required}})
	}
	s, err := dataschema.Parse(Value{Map: all}.JSON())
	if err != nil {
		panic(err) // it has nothing but known types
	}
	return s
}

// outputSchema returns the field output-schema.
func outputSchema() keytable.Field {
	f := keytable.ValueMap("output-schema", "", "JSON Schema of the output, which is one JSON object. What a model gets is checked against it. See calls.md.",
		func(t *Draft, v []Entry) { t.outputSchema = v })
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		read(d, into, n)
		t := into.(*Draft)
		if t.outputSchema == nil {
			return
		}
		all := Value{Pos: d.Pos(n), Map: t.outputSchema}
		var err error
		if t.OutputSchema, err = dataschema.ParseOutput(all.JSON()); err == nil {
			return
		}
		for _, p := range dataschema.Problems(err) {
			at, part := positionIn(all, p.Path)
			reportAt(d, at, Error, "bad-schema", part, p.Message, "write a JSON Schema of an object, such as {type: object, properties: {NAME: {type: string}}}")
		}
	}
	return f
}
