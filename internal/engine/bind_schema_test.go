package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

const personSchema = `{
  "type": "object",
  "properties": {
    "name": {"type": "string", "minLength": 2, "description": "whom"},
    "age": {"type": "integer", "minimum": 0},
    "tags": {"type": "array", "items": {"type": "string"}, "default": ["new"]},
    "opts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "loud": {"type": "boolean", "default": false}}, "required": ["name"]}},
    "extra": {"default": {"deep": {}}, "type": "object", "properties": {"deep": {"properties": {"n": {"default": 7}}}}},
    "what": {}
  },
  "required": ["name"]
}`

// dependent is a schema in which the type of data depends on action.
const dependent = `{"properties":{"action":{"default":"say"},"data":{"properties":{"col":{"default":1}}}},"allOf":[
  {"if":{"properties":{"action":{"const":"read"}}},"then":{"properties":{"data":{"type":"object"}}}},
  {"if":{"properties":{"action":{"const":"write"}}},"then":{"properties":{"data":{"type":"array","items":{"type":["array","integer"]}}}}}]}`

// bySchema is a tool whose parameters are written as JSON Schema, as those of a .tool.js
// are. It prints what it is given as JSON.
func bySchema(t testing.TB, schema string, f tool.Format) *tool.Definition {
	t.Helper()
	s, err := dataschema.Parse([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	def := gostep.GoTool{Name: "person", Description: "A person", Parameters: tool.ParametersOf(s),
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return in.Params, nil }}.Definition()
	def.Schema, def.Format = s, f
	return def
}

func planOf(t *testing.T, def *tool.Definition) (*bed, *engine.Plan) {
	b := newBed(t)
	b.define(def)
	p, err := engine.Compile(b.lib, def.Name)
	if err != nil {
		t.Fatal(err)
	}
	return b, p
}

// TestBindSchema holds what happens to parameters that a JSON Schema describes:
// coerced, filled in, held against the whole schema, all problems at once.
func TestBindSchema(t *testing.T) {
	t.Parallel()
	closed := strings.Replace(personSchema, `"type": "object",`, `"type": "object", "additionalProperties": false,`, 1)
	for _, c := range []struct{ name, schema, given, want string }{
		{"filled in, nested too", personSchema, `{"name":"Ann","age":"41","opts":"[{\"name\":\"x\"}]"}`,
			`{"age":41,"extra":{"deep":{"n":7}},"name":"Ann","opts":[{"loud":false,"name":"x"}],"tags":["new"]}`},
		{"any stays what it is", personSchema, `{"name":"Ann","what":"5","tags":[]}`, `{"extra":{"deep":{"n":7}},"name":"Ann","tags":[],"what":"5"}`},
		{"any of a list", `{"properties":{"a":{"enum":[1,"2",true]},"b":{"enum":[1,"1"]}}}`, `{"a":"true","b":"1"}`, `{"a":true,"b":"1"}`},
		{"texts for what is no text", `{"$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n"},"b":{"oneOf":[{"type":"integer"},{"type":"string","pattern":"^x"}]},` +
			`"c":{"type":["boolean","null"]},"d":{"type":"null"},"e":{"type":"array","items":{"type":"integer"}},"f":{"type":["string","integer"]},"g":{"type":"array","items":{}}}}`,
			`{"a":"3","b":"5","c":"true","d":"null","e":["1","2"],"f":"5","g":["1"]}`, `{"a":3,"b":5,"c":true,"d":null,"e":[1,2],"f":"5","g":["1"]}`},
		{"one or a list", `{"properties":{"p":{"oneOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}}]},"q":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":["number","boolean"]}}]}}}`,
			`{"p":["1","3"],"q":["2.5","true"]}`, `{"p":[1,3],"q":[2.5,true]}`},
		{"a type that depends on another parameter", dependent, `{"action":"read","data":"{\"row\":2}"}`, `{"action":"read","data":{"col":1,"row":2}}`},
		{"a list by such a type", dependent, `{"action":"write","data":["[1]","2"]}`, `{"action":"write","data":[[1],2]}`},
		{"a default decides the type", dependent, `{"data":"5"}`, `{"action":"say","data":"5"}`},
		{"a default is not read", `{"properties":{"a":{"type":"integer","default":"5"}}}`, `{}`, "a: expected a whole number, got text"},
		{"a text that is not of such a type", dependent, `{"action":"read","data":"5"}`, "data: expected an object, got text"},
		{"texts that are not what is asked for", `{"properties":{"a":{"$ref":"#/$defs/n"},"e":{"type":"array","items":{"type":"integer"}}},"$defs":{"n":{"type":"integer"}}}`,
			`{"a":"1.5","e":["1","b","2.5"]}`, "a: expected a whole number, got text\ne[1]: expected a whole number, got text\ne[2]: expected a whole number, got text"},
		{"undeclared values are kept", personSchema, `{"name":"Ann","nmae":1}`, `{"extra":{"deep":{"n":7}},"name":"Ann","nmae":1,"tags":["new"]}`},
		{"everything at once", personSchema, `{"age":-1.5,"opts":[{"name":"a"},{"loud":"x"}],"tags":[1]}`,
			"age: expected a whole number, got a number\nage: -1.5 is below the minimum of 0\nname: is required\n" +
				"opts[1].loud: expected true or false, got text\nopts[1].name: is missing\ntags[0]: expected text, got a number"},
		{"what cannot be coerced", personSchema, `{"name":"A","age":"old"}`, "age: \"old\" is not a number\nname: has 1 characters, at least 2 are needed"},
		{"a schema that is closed", closed, `{"name":"Ann","nmae":1}`, "nmae: tool person has no such parameter"},
		{"rules across parameters", `{"properties":{"a":{"type":"number"},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, ": matches none of the alternatives (anyOf)"},
		{"if and then", `{"properties":{"action":{"enum":["add","list"]},"text":{"type":"string"}},"if":{"properties":{"action":{"const":"add"}}},"then":{"required":["text"]}}`,
			`{"action":"add"}`, "text: is required"},
		{"a default with braces is only text", `{"properties":{"a":{"default":"{HOME} {a}"}}}`, `{}`, `{"a":"{HOME} {a}"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, p := planOf(t, bySchema(t, c.schema, tool.JavaScript))
			var raw map[string]any
			if err := json.Unmarshal([]byte(c.given), &raw); err != nil {
				t.Fatal(err)
			}
			args, err := p.Bind(b.world, raw)
			got := ""
			var bad *value.ParamsError
			switch {
			case errors.As(err, &bad):
				for _, problem := range bad.Problems {
					got += fmt.Sprintf("%s: %s\n", problem.Name, problem.Message)
				}
			case err != nil:
				t.Fatal(err)
			default:
				all, err := json.Marshal(args.All())
				if err != nil {
					t.Fatal(err)
				}
				got = string(all)
			}
			if diff := cmp.Diff(c.want, strings.TrimSuffix(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMissingNear: where a parameter is missing and a name was given that is much like it,
// which the tool would have been handed, that name is reported.
func TestMissingNear(t *testing.T) {
	t.Parallel()
	const asked = `"qurey" is not a parameter: did you mean query?`
	for _, c := range []struct {
		name, give, want string
		format           tool.Format
		schema           bool
	}{
		{"a page", "qurey", asked, tool.Markdown, false},
		{"a schema", "qurey", asked, tool.JavaScript, true},
		{"nothing like it", "other", "pass it as query=...", tool.Markdown, false},
		{"nothing like it, a schema", "other", "pass it as query=...", tool.JavaScript, true},
		{"a parameter like it", "quern", "pass it as query=...", tool.Markdown, false},
		{"a tool that refuses other names", "qurey", "pass it as query=...", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			def := gostep.GoTool{Name: "loose", Description: "d", Parameters: []*tool.Parameter{{Name: "query", Type: "string", Required: true}, {Name: "quern", Type: "string"}},
				Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return in.Params, nil }}.Definition()
			def.Format = c.format
			if c.schema {
				var err error
				if def.Schema, err = dataschema.Parse([]byte(`{"type":"object","properties":{"query":{"type":"string"},"quern":{"type":"string"}},"required":["query"]}`)); err != nil {
					t.Fatal(err)
				}
				def.Parameters = tool.ParametersOf(def.Schema)
			}
			b, p := planOf(t, def)
			var bad *value.ParamsError
			if _, err := p.Bind(b.world, map[string]any{c.give: "x"}); !errors.As(err, &bad) || bad.Problems[0].Code != "missing" || bad.Problems[0].Hint != c.want {
				t.Errorf("%v; want the hint %q", err, c.want)
			}
		})
	}
}

// TestLooseParameters: a Markdown or JavaScript tool is handed what no parameter is
// declared for, with a warning; a YAML tool refuses it.
func TestLooseParameters(t *testing.T) {
	t.Parallel()
	plain := gostep.GoTool{Name: "loose", Description: "d", Parameters: []*tool.Parameter{{Name: "query", Type: "string", Description: "d"}},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return in.Params, nil }}.Definition()
	strict := *plain
	plain.Format = tool.Markdown
	b, p := planOf(t, plain)
	res, err := engine.New(b.config).Run(context.Background(), p, map[string]any{"qurey": "x"}, engine.WithRunEnv(b.world))
	if err != nil || res.Output != `{"qurey":"x"}` {
		t.Fatalf("%v %+v", err, res)
	}
	if len(res.Notices) != 1 || res.Notices[0].Message != "tool loose does not declare parameter qurey, but the value was passed on: did you mean query?" {
		t.Errorf("notices: %+v", res.Notices)
	}
	_, p = planOf(t, &strict)
	var bad *value.ParamsError
	if _, err := p.Bind(b.world, map[string]any{"qurey": "x"}); !errors.As(err, &bad) {
		t.Errorf("a tool of another format takes it: %v", err)
	}
}

// TestLooseWith: what a use-tool step gives such a tool beyond its parameters is a
// warning when the definition is read, and arrives; an alias's default counts as given.
func TestLooseWith(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.define(bySchema(t, personSchema, tool.JavaScript))
	b.file("ann.yaml", "name: ann\ndescription: Ann\ntype: alias\nbase-tool: person\ndefault-parameters: {name: Ann, age: 3}\n")
	p := b.compile("steps:\n  - name: a\n    use-tool: ./ann.yaml\n    with: {shoe: 40, tags: [x]}\n")
	res, err := engine.New(b.config).Run(context.Background(), p, nil, engine.WithRunEnv(b.world))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"age":3,"extra":{"deep":{"n":7}},"name":"Ann","shoe":40,"tags":["x"]}`, res.Output); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	found := false
	for _, d := range p.Warnings {
		found = found || d.Code == "unknown-parameter" && d.Severity == tool.Warning
	}
	if !found {
		t.Errorf("no warning: %v", p.Warnings)
	}
}

// TestStaticWith: values under with that are known when the definition is read are held
// against such a tool's schema then, each at its place.
func TestStaticWith(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.define(bySchema(t, personSchema, tool.JavaScript))
	_, err := engine.Compile(b.lib, b.file("bad.yaml", `name: bad
description: d
steps:
  - name: a
    use-tool: person
    with:
      name: A
      opts: [{name: x}, {loud: loud}]
`))
	want := []string{
		`bad.yaml:7:13: error: tool person: parameter name: has 1 characters, at least 2 are needed`,
		`bad.yaml:8:13: error: tool person: parameter opts[1].loud: expected true or false, got text`,
		`bad.yaml:8:13: error: tool person: parameter opts[1].name: is missing`,
	}
	var found tool.Diagnostics
	if !errors.As(err, &found) {
		t.Fatalf("%v", err)
	}
	var got []string
	for _, d := range found {
		got = append(got, fmt.Sprintf("bad.yaml:%d:%d: %s: %s", d.Pos.Line, d.Pos.Col, d.Severity, d.Message))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
