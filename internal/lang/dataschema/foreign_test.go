package dataschema

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/value"
)

// TestForeignSchema: deviations of other programs cost a keyword, and not the tool.
func TestForeignSchema(t *testing.T) {
	const properties = `"type":"object","properties":`
	for _, c := range []struct {
		schema  string
		leftOut string
		good    string // arguments that it accepts
		bad     string // and others that it does not; "" for none
	}{
		{`{` + properties + `{"a":{"type":"string","pattern":"^(?!x)"}}}`, "properties/a/pattern", `{"a":"x"}`, `{"a":1}`},
		{`{` + properties + `{"a":{"type":"string","pattern":"^.{1,5000}$","maxLength":3}}}`, "properties/a/pattern", `{"a":"x"}`, `{"a":"xxxx"}`},
		{`{` + properties + `{"a":{"type":"STRING"}},"required":["a","a"]}`, "", `{"a":"x"}`, `{}`},
		{`{` + properties + `{"a":{"type":"string","required":true}}}`, "properties/a/required", `{"a":"x"}`, `{"a":1}`},
		{`{` + properties + `{"required":true}}`, "", `{"required":1}`, ""},
		{`{` + properties + `{"n":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, "", `{"n":1}`, `{"n":0}`},
		{`{"type":"object","properties":null,"required":null}`, "", `{}`, ""},
		{`{` + properties + `{"a":{"type":"string","description":null}}}`, "", `{"a":"x"}`, `{"a":1}`},
		{`{` + properties + `{"a":{"type":"object","properties":[]}}}`, "", `{"a":{}}`, `{"a":1}`},
		{`{` + properties + `{"a":{"type":"int"},"b":{"type":["str","NULL"]}}}`, "", `{"a":1,"b":null}`, `{"a":"x"}`},
		{`{` + properties + `{"a":"string","b":[],"c":null},"additionalProperties":false,"required":"a"}`, "", `{"a":"x","b":1,"c":2}`, `{"b":1}`},
		{`{` + properties + `{"a":{"type":"string","enum":[]}}}`, "properties/a/enum", `{"a":"x"}`, `{"a":1}`},
		{`{"$schema":"https://json-schema.org/draft-07/schema",` + properties + `{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`, "", `{"a":["x"]}`, `{"a":["x","y"]}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#",` + properties + `{"a":{"type":"string"}}}`, "", `{"a":"x"}`, `{"a":1}`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema",` + properties + `{"a":{"type":"string"}}}`, "", `{"a":"x"}`, `{"a":1}`},
		{`{"$schema":"https://example.com/own",` + properties + `{"a":{"type":"string"}}}`, "", `{"a":"x"}`, `{"a":1}`},
		{`{` + properties + `{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`, "", `{"a":["x"]}`, `{"a":["x","y"]}`},
		{`{` + properties + `{"a":{"type":"nonsense"},"b":{"type":"string"}}}`, "properties/a/type", `{"a":1,"b":"x"}`, `{"b":1}`},
		{`{` + properties + `{"a":{"$ref":"#/$defs/nowhere"},"b":{"type":"string"}}}`, "properties/a/$ref", `{"a":1,"b":"x"}`, `{"b":1}`},
		{`{` + properties + `{"a":{"type":"string"}},"patternProperties":{"^x-(?!y)":{"type":"string"},"^n":{"type":"number"}},"additionalProperties":false}`, "patternProperties/^x-(?!y)", `{"a":"x","x-a":1,"n":2}`, `{"n":"x"}`},
		{`{` + properties + `{"a":5,"b":{"type":"string"}}}`, "properties/a", `{"b":"x"}`, `{"b":1}`},
	} {
		var doc map[string]any
		if err := value.DecodeJSON([]byte(c.schema), &doc); err != nil {
			t.Fatal(err)
		}
		s, leftOut, err := Foreign(doc)
		if err != nil || strings.Join(leftOut, " ") != c.leftOut {
			t.Errorf("%s: left out %q, %v; want %q", c.schema, leftOut, err, c.leftOut)
			continue
		}
		accepts := func(text string) bool {
			var v any
			if err := value.DecodeJSON([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			return s.Accepts(v)
		}
		if !accepts(c.good) || c.bad != "" && accepts(c.bad) {
			text, _ := s.MarshalJSON()
			t.Errorf("%s became %s, which accepts %s: %v", c.schema, text, c.good, accepts(c.good))
		}
	}
}
