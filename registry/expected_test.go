package registry_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// TestExpectedFormat: the example that a refusal shows is a valid call.
func TestExpectedFormat(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"properties": {"list": {"$ref": "#/$defs/node"}, "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]}, "when": {"type": "string", "format": "date-time"}},
			"required": ["list", "kind", "when"], "$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}, "required": ["v"]}}}`, ``},
		{`{"anyOf": [{"properties": {"id": {"type": "integer"}}, "required": ["id"]}, {"properties": {"name": {"type": "string"}}, "required": ["name"]}]}`, `{"id":1}`},
		{`{"properties": {"n": {"type": "integer", "minimum": 50}, "s": {"type": "string", "pattern": "^[a-z]{3}$"}}, "required": ["n", "s"]}`, `{"n":50,"s":"aaa"}`},
		{`{"properties": {"n": {"type": "integer", "examples": [7]}, "m": {"type": "integer", "examples": ["no"]}, "d": {"type": "integer", "default": 5}}}`, `{"n":7,"m":1,"d":5}`},
		{`{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "maxProperties": 1, "required": ["b"], "minProperties": 1}`, `{"b":"text"}`},
		{`{"properties": {"v": {"type": "null"}}, "required": ["v"]}`, `{"v":null}`},
		{`{"properties": {"v": {"allOf": [{"type": "string"}, {"enum": ["x", 1]}]}}, "required": ["v"]}`, `{"v":"x"}`},
		{`{"properties": {"v": {"type": "array", "items": {"type": "string", "format": "email"}, "minItems": 2}}, "required": ["v"]}`, `{"v":["name@example.com","name@example.com"]}`},
	} {
		schema, err := dataschema.Parse([]byte(`{"type": "object", ` + c.schema[1:]))
		if err != nil {
			t.Fatal(err)
		}
		got := expectedOf(t, schema)
		if got == "" || c.want != "" && got != c.want {
			t.Errorf("%s: %s, want %s", c.schema, got, c.want)
		}
	}
}

// expectedOf returns the example in a refusal of a tool with this schema, "" if there is none. The tool must accept it.
func expectedOf(t *testing.T, schema *dataschema.Schema) string {
	t.Helper()
	lib := library.New(library.Config{Home: t.TempDir(), WorkingDirectory: t.TempDir()})
	if err := lib.Add(flowrun.GoTool{Name: "it", Schema: schema, Run: func(context.Context, *flowrun.StepInput) (any, error) { return nil, nil }}.Definition()); err != nil {
		t.Fatal(err)
	}
	tl, err := registry.New(lib, registry.Options{}).Get("it")
	if err != nil {
		t.Fatal(err)
	}
	_, refused := parse(tl, `no arguments`)
	if refused == nil {
		return "" // a tool that accepts any text
	}
	if refused.ExpectedFormat == nil {
		return ""
	}
	if _, again := parse(tl, string(refused.ExpectedFormat)); again != nil || !json.Valid(refused.ExpectedFormat) {
		text, _ := schema.MarshalJSON()
		t.Errorf("%s: the example %s is refused: %v", text, refused.ExpectedFormat, again)
	}
	return string(refused.ExpectedFormat)
}

// TestExpectedFormatOfAll: the examples for all schemas of the repository are valid, those of the test suite of JSON Schema and
// of other programs among them. Few have no example: what no value matches, and what needs more room.
func TestExpectedFormatOfAll(t *testing.T) {
	all, without := 0, 0
	check := func(doc map[string]any) {
		schema, _, err := dataschema.Foreign(doc)
		if err != nil {
			return // it cannot be the schema of a tool
		}
		if all++; expectedOf(t, schema) == "" {
			without++
		}
	}
	for _, doc := range schemasInLines(t, "../internal/model/mcpclient/testdata/foreign/schemas.txt", "../internal/model/funcschema/testdata/published.txt") {
		check(doc)
	}
	for _, doc := range schemasInFiles(t, "../docs/schemas/*.json") {
		check(doc)
	}
	for _, one := range schemasOfSuite(t) {
		check(map[string]any{"type": "object", "properties": map[string]any{"v": one}, "required": []any{"v"}})
	}
	if all < 350 || without > all/10 {
		t.Errorf("%d schemas, %d without an example", all, without)
	}
	t.Logf("%d schemas, %d without an example", all, without)
}

// schemasInLines returns the objects in lines of files.
func schemasInLines(t *testing.T, files ...string) (list []map[string]any) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var doc map[string]any
			if strings.HasPrefix(line, "{") && value.DecodeJSON(line, &doc) == nil {
				list = append(list, doc)
			}
		}
	}
	return list
}

// schemasInFiles returns the objects in files.
func schemasInFiles(t *testing.T, pattern string) (list []map[string]any) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := value.DecodeJSON(text, &doc); err != nil {
			t.Fatal(err)
		}
		list = append(list, doc)
	}
	return list
}

// schemasOfSuite returns the schemas of the test suite of JSON Schema that can be part of another one.
func schemasOfSuite(t *testing.T) (list []any) {
	t.Helper()
	files, err := filepath.Glob("../internal/lang/jsonschema/testdata/suite/draft2020-12/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct{ Schema any }
		if err := value.DecodeJSON(text, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			doc, ok := g.Schema.(map[string]any)
			delete(doc, "$schema")
			written, err := json.Marshal(g.Schema)
			if whole := strings.Contains(string(written), `"$`); ok && err == nil && !whole {
				list = append(list, doc)
			}
		}
	}
	return list
}
