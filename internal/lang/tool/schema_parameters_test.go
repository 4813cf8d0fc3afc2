package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/google/go-cmp/cmp"
)

// TestParametersOf is what people read of a schema's properties, in their order.
func TestParametersOf(t *testing.T) {
	s, err := dataschema.Parse([]byte(`{"type":"object","required":["z"],"properties":{
		"z":{"type":"string","description":"last first","enum":["a","b"],"examples":["a"]},
		"a":{"type":"integer","default":3,"deprecated":true},
		"m":{"type":["string","null"],"default":null},
		"o":{"type":"object","default":{"b":[1.50],"a":true}},
		"any":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range ParametersOf(s) {
		line, err := json.Marshal(map[string]any{"name": p.Name, "type": p.Type, "description": p.Description, "required": p.Required, "deprecated": p.Deprecated})
		if err != nil {
			t.Fatal(err)
		}
		text := string(line)
		if p.Default != nil {
			text += " default " + string(p.Default.JSON())
		}
		for _, v := range append(p.Validation.Enum, p.Examples...) {
			text += " " + v.Text.S
		}
		lines = append(lines, text)
	}
	want := strings.Join([]string{
		`{"deprecated":false,"description":"last first","name":"z","required":true,"type":"string"} a b a`,
		`{"deprecated":true,"description":"","name":"a","required":false,"type":"integer"} default 3`,
		`{"deprecated":false,"description":"","name":"m","required":false,"type":"any"} default null`,
		`{"deprecated":false,"description":"","name":"o","required":false,"type":"object"} default {"a":true,"b":[1.50]}`,
		`{"deprecated":false,"description":"","name":"any","required":false,"type":"any"}`}, "\n")
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if ParametersOf(nil) != nil {
		t.Error("nil has parameters")
	}
}

// TestParseSchema tells everything that is wrong with a schema at once.
func TestParseSchema(t *testing.T) {
	_, err := dataschema.Parse([]byte(`{"properties":{"a":{"type":"text"},"list":{"items":[1]}},"required":"a"}`))
	want := `properties.a.type: unknown type "text": use string, number, integer, boolean, array, object or null; ` +
		"properties.list.items: expected a schema, got a list: use prefixItems for a schema for each element; required: expected a list of text, got text"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := dataschema.Parse([]byte(`{} x`)); err == nil {
		t.Error("text after the schema is taken")
	}
}
