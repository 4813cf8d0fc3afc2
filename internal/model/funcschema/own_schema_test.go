package funcschema_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/funcschema"
	"github.com/flowrun/flowrun/internal/test/readingtest"
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
	schema, err := dataschema.Parse([]byte(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"a":{"$ref":"#/$defs/a"}}}}}`))
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
	whole := `{"$schema":"https://json-schema.org/draft/2020-12/schema",` + head[1:] + properties + `"if":{"required":["n"]},"then":{"required":["who"]},` + tail
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
		s, err := dataschema.Parse([]byte(ownSchema))
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

// TestPublished holds how schemas of tools are declared to clients of MCP: with the description of alternatives. In every
// format they are valid JSON Schema 2020-12.
func TestPublished(t *testing.T) {
	readingtest.Check(t, filepath.Join("testdata", "published.txt"), 20, func(t *testing.T, input string) string {
		var shown string
		for _, format := range funcschema.Formats() {
			s, err := dataschema.Parse([]byte(input))
			if err != nil {
				t.Fatalf("%s: %v", input, err)
			}
			def := &tool.Definition{Name: "t", Description: "Does it", Schema: s, OutputSchema: s, Parameters: tool.ParametersOf(s), Format: tool.JavaScript}
			fn, found := funcschema.Of(def, none, funcschema.Format(format))
			if found.Err() != nil {
				t.Fatal(found)
			}
			validAs2020(t, text(t, fn.Parameters))
			validAs2020(t, text(t, fn.Output))
			if format == string(funcschema.MCP) {
				shown = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(fn.Description, "Does it"), ". ") + " " + text(t, fn.Parameters))
			}
			if format == string(funcschema.OpenAI) && strings.ContainsAny(fn.Description, "\n") {
				t.Errorf("%s: %q", input, fn.Description)
			}
		}
		return shown
	})
}

// validAs2020 checks a schema against the schema of JSON Schema 2020-12, and compiles it.
func validAs2020(t *testing.T, schema string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	meta, err := c.Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	if err := meta.Validate(doc); err != nil {
		t.Errorf("%s: %v", schema, err)
	}
	if err := c.AddResource("parameters.json", doc); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile("parameters.json"); err != nil {
		t.Errorf("%s: %v", schema, err)
	}
}
