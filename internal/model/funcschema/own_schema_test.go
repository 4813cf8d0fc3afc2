package funcschema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/funcschema"
)

const ownSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
 "mode":{"enum":["a","b"],"description":"how"},
 "n":{"type":["integer","null"],"enum":[1,2,null],"minimum":1},
 "who":{"$ref":"#/$defs/person"},
 "list":{"type":"array","items":{"type":"string","format":"email"},"default":[]},
 "key":{"type":"string","default":"hunter22","examples":["hunter22"]}},
 "required":["mode","list"],"additionalProperties":false,"if":{"required":["n"]},"then":{"required":["who"]},
 "$defs":{"person":{"type":"object","properties":{"zip":{"type":"string","pattern":"^\\d+$"},"name":{"const":"x"},"friend":{}}}}}`

// TestOwnSchema checks a tool with its own JSON Schema in every dialect: the schema is as written, without secrets and
// without what the provider does not accept.
func TestOwnSchema(t *testing.T) {
	schema, err := tool.ParseSchema([]byte(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"a":{"$ref":"#/$defs/a"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	circle := &tool.Definition{Name: "t", Schema: schema, Parameters: tool.ParametersOf(schema)}
	if _, found := funcschema.Of(circle, none, funcschema.Gemini); found.Err() != nil {
		t.Error(found)
	}
	const head, properties, tail = `{"type":"object","properties":{"mode":{"enum":["a","b"],"description":"how"},"n":{"type":["integer","null"],"enum":[1,2,null],"minimum":1},` +
		`"who":{"$ref":"#/$defs/person"},"list":{"type":"array","items":{"type":"string","format":"email"},"default":[]},"key":{"type":"string"}},`,
		`"required":["mode"],"additionalProperties":false,`,
		`"$defs":{"person":{"type":"object","properties":{"zip":{"type":"string","pattern":"^\\d+$"},"name":{"const":"x"},"friend":{}}}}}`
	whole := head + properties + `"if":{"required":["n"]},"then":{"required":["who"]},` + tail
	for format, want := range map[funcschema.Format]string{
		funcschema.JSONSchema: whole,
		funcschema.MCP:        whole,
		funcschema.OpenAI:     head + properties + tail,
		funcschema.Anthropic:  head + properties + tail,
		funcschema.Gemini: `{"type":"object","required":["mode"],"properties":{"mode":{"type":"string","description":"how","enum":["a","b"]},` +
			`"n":{"type":"integer","minimum":1,"nullable":true,"description":"One of: 1, 2."},` +
			`"who":{"type":"object","properties":{"zip":{"type":"string","pattern":"^\\d+$"},"name":{"type":"string","enum":["x"]},"friend":{"type":"string"}}},` +
			`"list":{"type":"array","default":[],"items":{"type":"string"}},"key":{"type":"string"}}}`,
	} {
		s, err := tool.ParseSchema([]byte(ownSchema))
		if err != nil {
			t.Fatal(err)
		}
		def := &tool.Definition{Name: "own", Schema: s, Parameters: tool.ParametersOf(s), Format: tool.JavaScript}
		fn, found := funcschema.Of(def, func(p string) bool { return p == "key" }, format)
		if found.Err() != nil {
			t.Fatal(found)
		}
		if diff := cmp.Diff(want, text(t, fn.Parameters)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}
