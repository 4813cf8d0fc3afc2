package funcschema_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/funcschema"
)

// weather is the example of specification 001, section "Function calling".
const weather = `name: weather-lookup
description: Get weather for a location
bash: curl -s 'wttr.in/{LOCATION}?format={FORMAT}'
parameters:
  LOCATION:
    type: string
    description: City or airport code
    required: true
    examples: ["London", "SFO"]
  FORMAT:
    type: string
    description: Output format
    default: "3"
`

const (
	weatherParameters = `{
    "type": "object",
    "properties": {
      "LOCATION": {
        "type": "string",
        "description": "City or airport code"
      },
      "FORMAT": {
        "type": "string",
        "description": "Output format",
        "default": "3"
      }
    },
    "required": ["LOCATION"]
  }`
	weatherHead = `"name": "weather-lookup", "description": "Get weather for a location", `
)

// TestEnvelope checks the example in every dialect.
func TestEnvelope(t *testing.T) {
	plain := "{" + weatherHead + `"parameters": ` + weatherParameters + "}"
	for format, want := range map[funcschema.Format]string{
		funcschema.JSONSchema: plain,
		funcschema.Gemini:     plain,
		funcschema.OpenAI:     `{"type": "function", "function": ` + plain + "}",
		funcschema.Anthropic:  "{" + weatherHead + `"input_schema": ` + weatherParameters + "}",
		funcschema.MCP:        "{" + weatherHead + `"inputSchema": ` + weatherParameters + "}",
	} {
		var wanted bytes.Buffer
		if err := json.Compact(&wanted, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted.String(), text(t, declare(t, weather, format, ""))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// TestParameter checks the schema of one parameter, with the settings of the tool. other is the schema for Gemini, if it
// differs.
func TestParameter(t *testing.T) {
	for _, c := range []struct{ name, parameter, settings, want, gemini string }{
		{"no type", `{description: d}`, "", `{"type":"string","description":"d"}`, ""},
		{"rules of a text", `{description: d, validation: {minLength: 1, maxLength: 9, pattern: '^\w+<$', enum: [a, "1"]}}`, "",
			`{"type":"string","description":"d","enum":["a","1"],"minLength":1,"maxLength":9,"pattern":"^\\w+<$"}`, ""},
		{"rules of a number", `{type: number, description: d, default: 2, validation: {minimum: 1, maximum: 2.5, enum: [1, 2, 2.5]}}`, "",
			`{"type":"number","description":"d","default":2,"enum":[1,2,2.5],"minimum":1,"maximum":2.5}`,
			`{"type":"number","description":"d. One of: 1, 2, 2.5.","default":2,"minimum":1,"maximum":2.5}`},
		{"a whole number stays a number", `{type: number, description: d, default: 5, validation: {minimum: 0}}`, "",
			`{"type":"number","description":"d","default":5,"minimum":0}`, ""},
		{"an empty choice", `{description: d, validation: {enum: ["", a]}}`, "",
			`{"type":"string","description":"d","enum":["","a"]}`, `{"type":"string","description":"d","enum":["a"]}`},
		{"a false default", `{type: boolean, description: d, default: false}`, "", `{"type":"boolean","description":"d","default":false}`, ""},
		{"an empty default", `{description: d, default: ""}`, "", `{"type":"string","description":"d","default":""}`, ""},
		{"a boolean of one value", `{type: boolean, description: d, validation: {enum: [true]}}`, "",
			`{"type":"boolean","description":"d","enum":[true]}`, `{"type":"boolean","description":"d. One of: true."}`},
		{"an array", `{type: array, description: d, default: [a, b]}`, "",
			`{"type":"array","description":"d","default":["a","b"],"items":{}}`, `{"type":"array","description":"d","default":["a","b"],"items":{"type":"string"}}`},
		{"rules of an array are for its elements", `{type: array, description: d, validation: {minLength: 2, enum: [aa, bb]}}`, "",
			`{"type":"array","description":"d","items":{"enum":["aa","bb"],"minLength":2}}`,
			`{"type":"array","description":"d","items":{"type":"string","enum":["aa","bb"],"minLength":2}}`},
		{"an array of numbers", `{type: array, description: d, validation: {enum: [1, 2]}}`, "",
			`{"type":"array","description":"d","items":{"enum":[1,2]}}`, `{"type":"array","description":"d. Each element one of: 1, 2.","items":{"type":"number"}}`},
		{"an object", `{type: object, description: d, default: {b: [1], a: {c: true}}}`, "",
			`{"type":"object","description":"d","default":{"a":{"c":true},"b":[1]},"additionalProperties":true}`,
			`{"type":"object","description":"d","default":{"a":{"c":true},"b":[1]}}`},
		{"deprecated", `{description: d, deprecated: true}`, "", `{"type":"string","description":"d. Deprecated.","deprecated":true}`, `{"type":"string","description":"d. Deprecated."}`},
		{"deprecated for another", `{description: d., deprecated: true, deprecated-alternative: Q}`, "",
			`{"type":"string","description":"d. Deprecated: use Q.","deprecated":true}`, `{"type":"string","description":"d. Deprecated: use Q."}`},

		{"no descriptions", `{description: d, default: x}`, "include-descriptions: false", `{"type":"string","default":"x"}`, ""},
		{"no defaults", `{description: d, default: x}`, "include-defaults: false", `{"type":"string","description":"d"}`, ""},
		{"no examples by default", `{description: d, examples: [x]}`, "", `{"type":"string","description":"d"}`, ""},
		{"examples", `{description: d, examples: [x, 1]}`, "example-generation: true", `{"type":"string","description":"d","examples":["x","1"]}`, `{"type":"string","description":"d"}`},
		{"examples of an array, whole or one element", `{type: array, description: d, examples: [[x], y]}`, "example-generation: true",
			`{"type":"array","description":"d","examples":[["x"],"y"],"items":{}}`, `{"type":"array","description":"d","items":{"type":"string"}}`},

		{"numbers as integers", `{type: number, description: d, default: 2, validation: {enum: [1, 1.5, 2]}}`, "parameter-mapping: {number: integer}",
			`{"type":"integer","description":"d","default":2,"enum":[1,2]}`, `{"type":"integer","description":"d. One of: 1, 2.","default":2}`},
		{"numbers as text", `{type: number, description: d, default: 1.10, validation: {minimum: 1}}`, "parameter-mapping: {number: string}",
			`{"type":"string","description":"d","default":"1.10"}`, ""},
		{"an array as text", `{type: array, description: d, default: [aa], validation: {minLength: 2}}`, "parameter-mapping: {array: string}", `{"type":"string","description":"d"}`, ""},
		{"text as an array", `{description: d, default: aa, validation: {minLength: 2}}`, "parameter-mapping: {string: array}",
			`{"type":"array","description":"d","items":{}}`, `{"type":"array","description":"d","items":{"type":"string"}}`},

		{"a default that mentions a parameter", `{description: d, default: "./{OTHER}"}`, "", `{"type":"string","description":"d"}`, ""},
		{"a default that mentions the environment", `{description: d, default: "{env.HOME}"}`, "", `{"type":"string","description":"d"}`, ""},
		{"a default with an escape", `{description: d, default: "{{P}}"}`, "", `{"type":"string","description":"d"}`, ""},
		{"an element that mentions", `{type: array, description: d, default: [a, "{OTHER}"]}`, "",
			`{"type":"array","description":"d","items":{}}`, `{"type":"array","description":"d","items":{"type":"string"}}`},
		{"braces that mention nothing", `{description: d, default: '{"a": "${HOME}"}'}`, "", `{"type":"string","description":"d","default":"{\"a\": \"${HOME}\"}"}`, ""},

		{"a null in a default", `{type: object, description: d, default: {a: null}}`, "",
			`{"type":"object","description":"d","additionalProperties":true}`, `{"type":"object","description":"d"}`},
		{"a null as it is", `{type: object, description: d, default: {a: null}}`, "sanitize-schemas: false",
			`{"type":"object","description":"d","default":{"a":null},"additionalProperties":true}`, `{"type":"object","description":"d","default":{"a":null}}`},
		{"a pattern of RE2", `{description: d, validation: {pattern: '(?i)^a\z'}}`, "", `{"type":"string","description":"d"}`, ""},
		{"a pattern with a backslash", `{description: d, validation: {pattern: '^C:\\Apps$'}}`, "", `{"type":"string","description":"d","pattern":"^C:\\\\Apps$"}`, ""},
		{"security is left out", `{description: d, security: {escape-shell: false}}`, "", `{"type":"string","description":"d"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := "name: t\ndescription: d\nbash: echo\nparameters:\n  P: " + c.parameter + "\n  OTHER: {description: o}\n"
			if c.settings != "" {
				src += "function-calling:\n  schema-generation:\n    " + c.settings + "\n"
			}
			if c.gemini == "" {
				c.gemini = c.want
			}
			for _, format := range funcschema.Formats() {
				want := c.want
				if format == string(funcschema.Gemini) {
					want = c.gemini
				}
				fn := declare(t, src, funcschema.Format(format), "")
				if diff := cmp.Diff(want, text(t, (*fn.Parameters.Properties)[0].Schema)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", format, diff)
				}
				compiles(t, fn)
			}
		})
	}
}

// TestSecret checks that a declaration contains nothing of a secret's value.
func TestSecret(t *testing.T) {
	fn := declare(t, `name: t
description: d
bash: echo
security: {justification: because-of-it, required-permissions: ["network:external:inner.example"]}
parameters:
  TOKEN: {description: A token, default: hunter22, examples: [hunter22], validation: {enum: [hunter22], minLength: 4}}
function-calling: {schema-generation: {example-generation: true}}
`, funcschema.JSONSchema, "TOKEN")
	want := `{"name":"t","description":"d","parameters":{"type":"object","properties":{"TOKEN":{"type":"string","description":"A token","minLength":4}}}}`
	if diff := cmp.Diff(want, text(t, fn)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTool checks what a declaration says of the whole tool.
func TestTool(t *testing.T) {
	long := strings.Repeat("a", 70)
	for _, c := range []struct {
		name, src string
		format    funcschema.Format
		want      string
	}{
		{"no parameters", "name: t\ndescription: d", funcschema.Anthropic, `{"name":"t","description":"d","input_schema":{"type":"object","properties":{}}}`},
		{"no description", "name: t", funcschema.OpenAI, `{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}`},
		{"Gemini needs one", "name: t", funcschema.Gemini, `{"name":"t","description":"t","parameters":{"type":"object","properties":{}}}`},
		{"a name with a point", "name: a.b", funcschema.MCP, `{"name":"a_b","inputSchema":{"type":"object","properties":{}}}`},
		{"a name as it is", "name: a.b\nfunction-calling: {schema-generation: {sanitize-schemas: false}}", funcschema.MCP, `{"name":"a.b","inputSchema":{"type":"object","properties":{}}}`},
		{"a long name", "name: " + long, funcschema.OpenAI, `{"type":"function","function":{"name":"` + long[:55] + `_6bd5e503","parameters":{"type":"object","properties":{}}}}`},
		{"a long name for MCP", "name: " + long, funcschema.MCP, `{"name":"` + long[:41] + `_6bd5e503","inputSchema":{"type":"object","properties":{}}}`},
		{"a number first", "name: 7zip", funcschema.MCP, `{"name":"7zip","inputSchema":{"type":"object","properties":{}}}`},
		{"a number first for Gemini", "name: 7zip\ndescription: d", funcschema.Gemini, `{"name":"_7zip","description":"d","parameters":{"type":"object","properties":{}}}`},
		{"deprecated", "name: t\ndescription: d\ndeprecated: true\ndeprecated-message: use u", funcschema.JSONSchema,
			`{"name":"t","description":"d. Deprecated: use u","parameters":{"type":"object","properties":{},"deprecated":true}}`},
		{"an output", "name: t\ndescription: d\noutput-schema: {type: object, properties: {n: {type: integer}}}", funcschema.MCP,
			`{"name":"t","description":"d","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`},
		{"an output in the plain form", "name: t\ndescription: d\noutput-schema: {type: object}", funcschema.JSONSchema,
			`{"name":"t","description":"d","parameters":{"type":"object","properties":{}},"outputSchema":{"type":"object"}}`},
		{"an output that the dialect has no place for", "name: t\ndescription: d\noutput-schema: {type: object}", funcschema.OpenAI,
			`{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object","properties":{}}}}`},
		{"deprecated for Gemini", "name: t\ndescription: d\ndeprecated: true", funcschema.Gemini,
			`{"name":"t","description":"d. Deprecated.","parameters":{"type":"object","properties":{}}}`},
		{"required without a default", "name: t\ndescription: d\nparameters: {B: {description: d, required: true}, A: {description: d, required: true, default: x}}", funcschema.JSONSchema,
			`{"name":"t","description":"d","parameters":{"type":"object","properties":{"B":{"type":"string","description":"d"},"A":{"type":"string","description":"d","default":"x"}},"required":["B"]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			fn := declare(t, c.src+"\nbash: echo\n", c.format, "")
			if diff := cmp.Diff(c.want, text(t, fn)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			compiles(t, fn)
		})
	}
}

// TestNames: names are valid, leave room for the prefix of clients of MCP, and stay distinct.
func TestNames(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	begin := strings.Repeat("server-with-a-long-name__", 3)
	for _, format := range funcschema.Formats() {
		seen := map[string]string{}
		for _, tool := range []string{"a", "a.b", "7zip", "Größe", begin + "list", begin + "get", begin + "get.all", begin + "get_all", strings.Repeat("x", 50), strings.Repeat("x", 51)} {
			name := funcschema.Name(tool, funcschema.Format(format))
			if other, twice := seen[name]; twice {
				t.Errorf("%s: %s and %s are both %s", format, other, tool, name)
			}
			seen[name] = tool
			if full := map[bool]string{true: "mcp__flowrun__"}[format == string(funcschema.MCP)] + name; !valid.MatchString(full) {
				t.Errorf("%s: %s is %s", format, tool, full)
			}
		}
	}
}

func TestCollisions(t *testing.T) {
	one := declare(t, "name: a.b\ndescription: d\nbash: echo\n", funcschema.OpenAI, "")
	two := declare(t, "name: a_b\ndescription: d\nbash: echo\n", funcschema.OpenAI, "")
	if found := funcschema.Collisions([]*funcschema.Function{one}); found != nil {
		t.Errorf("one function: %v", found)
	}
	found := funcschema.Collisions([]*funcschema.Function{one, two})
	if want := `models cannot distinguish the tools "a.b" and "a_b": both are shown as "a_b"`; len(found) != 1 || found[0].Message != want || found[0].Severity != tool.Error {
		t.Errorf("got %v, want %s", found, want)
	}

	long := strings.Repeat("P", 64)
	def := decoded(t, "name: t\ndescription: d\nbash: echo\nparameters: {"+long+"a: {description: d}, "+long+"b: {description: d}}\n")
	if _, found := funcschema.Of(def, none, funcschema.OpenAI); found.Err() == nil || found[0].Code != "schema-name" || found[0].Pos.Line != 4 {
		t.Errorf("two parameters with one name: %v", found)
	}
}

// TestPatternIsReported checks that there is a warning if a rule is left out.
func TestPatternIsReported(t *testing.T) {
	for pattern, told := range map[string]bool{
		`^[a-z]+$`: true, `(?:a|b)`: true, `\\z`: true, `\d{3}-\.`: true, `a\(?b`: true,
		`(?i)a`: false, `(?P<n>a)`: false, `a\z`: false, `\pL`: false, `[[:alpha:]]`: false, `\x{41}`: false, `\Qa.b\E`: false,
	} {
		def := decoded(t, "name: t\ndescription: d\nbash: echo\nparameters:\n  P:\n    description: d\n    validation: {pattern: '"+pattern+"'}\n")
		_, found := funcschema.Of(def, none, funcschema.JSONSchema)
		if told != (len(found) == 0) || found.Err() != nil {
			t.Errorf("%s: %v, want told %v", pattern, found, told)
		}
	}
}

func none(string) bool { return false }

func decoded(t *testing.T, src string) *tool.Definition {
	t.Helper()
	def, found := tool.DecodeDocument("", []byte(src))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return def
}

// declare declares a tool. secret is the name of its secret parameter.
func declare(t *testing.T, src string, f funcschema.Format, secret string) *funcschema.Function {
	t.Helper()
	fn, found := funcschema.Of(decoded(t, src), func(p string) bool { return p == secret }, f)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return fn
}

// text returns the JSON of a value, without the escapes that only web pages need.
func text(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// compiles checks that the parameters are valid JSON Schema 2020-12, and that defaults match their schemas.
func compiles(t *testing.T, fn *funcschema.Function) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text(t, fn.Parameters)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("parameters", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("parameters")
	if err != nil {
		t.Fatalf("no JSON Schema: %v\n%s", err, text(t, fn.Parameters))
	}
	call := map[string]any{}
	for _, name := range fn.Parameters.Required {
		call[name] = "x"
	}
	for _, p := range *fn.Parameters.Properties {
		if p.Schema.Default != nil {
			call[p.Name] = p.Schema.Default
		}
	}
	again, err := jsonschema.UnmarshalJSON(strings.NewReader(text(t, call)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(again); err != nil {
		t.Errorf("its own defaults are refused: %v\n%s", err, text(t, fn.Parameters))
	}
}
