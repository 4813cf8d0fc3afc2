package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// TestExpectedFormat: the example that a refusal shows is a valid call.
func TestExpectedFormat(t *testing.T) {
	for i, c := range []struct{ schema, want string }{
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
		schema, err := tool.ParseSchema([]byte(`{"type": "object", ` + c.schema[1:]))
		if err != nil {
			t.Fatal(err)
		}
		lib := library.New(library.Config{Home: t.TempDir(), WorkingDirectory: t.TempDir()})
		name := fmt.Sprint("t", i)
		if err := lib.Add(flowrun.GoTool{Name: name, Schema: schema, Run: func(context.Context, *flowrun.StepInput) (any, error) { return nil, nil }}.Definition()); err != nil {
			t.Fatal(err)
		}
		tl, err := registry.New(lib, registry.Options{}).Get(name)
		if err != nil {
			t.Fatal(err)
		}
		_, refused := tl.Parse(`no arguments`)
		if refused == nil {
			t.Fatalf("%s: accepted", c.schema)
		}
		if c.want != "" && string(refused.ExpectedFormat) != c.want {
			t.Errorf("%s: %s, want %s", c.schema, refused.ExpectedFormat, c.want)
		}
		if _, again := tl.Parse(string(refused.ExpectedFormat)); again != nil || !json.Valid(refused.ExpectedFormat) {
			t.Errorf("%s: the example %s is refused: %v", c.schema, refused.ExpectedFormat, again)
		}
	}
}
