package jsonschema

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// libraryCompile compiles a schema with santhosh-tekuri/jsonschema, with which this package is compared.
func libraryCompile(doc any) (*library.Schema, error) {
	c := library.NewCompiler()
	c.DefaultDraft(library.Draft2020)
	c.AssertFormat()
	c.UseLoader(library.SchemeURLLoader{})
	if err := c.AddResource("https://flowrun.invalid/schema", doc); err != nil {
		return nil, err
	}
	return c.Compile("https://flowrun.invalid/schema")
}

// FuzzLibrary compares random schemas and values with the library: the results must be the same.
func FuzzLibrary(f *testing.F) {
	for seed := range uint64(1500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := &generator{rand.New(rand.NewPCG(seed, 7))}
		doc := reread(t, g.schema(3, true))
		ours, bad := Compile(doc)
		if len(bad) > 0 && strings.Contains(bad[0].Message, "refers to itself") {
			return // the library finds this only with a value, or never
		}
		theirs, err := libraryCompile(doc)
		if bad != nil || err != nil {
			t.Fatalf("%s\nours: %v\ntheirs: %v", text(doc), bad, err)
		}
		for range 4 {
			v := reread(t, g.value(3))
			if err, got := theirs.Validate(v), ours.Validate(v); (err == nil) != (len(got) == 0) {
				t.Fatalf("%s\nvalue %s\nours: %v\ntheirs: %v", text(doc), text(v), got, err)
			}
		}
	})
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func reread(t testing.TB, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, b)
}

// generator creates small schemas, and values that are related to them.
type generator struct{ *rand.Rand }

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g *generator) count() any { return g.IntN(4) }

func (g *generator) number() any {
	return json.Number(g.pick("0", "1", "-1", "2", "0.1", "0.3", "2.5", "1e1", "10.0", "9007199254740993", "9007199254740992", "1e30"))
}

func (g *generator) name() string { return g.pick("a", "b", "ab", "c") }

func (g *generator) value(depth int) any {
	switch n := g.IntN(10); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for range g.IntN(4) {
			m[g.name()] = g.value(depth - 1)
		}
		return m
	case n < 5 && depth > 0:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	case n < 7:
		return g.number()
	case n < 8:
		return g.IntN(2) == 0
	case n < 9:
		return g.pick("", "a", "ab", "äö", "2026-01-31", "1.2.3.4", "x@y.z")
	}
	return nil
}

func (g *generator) schemas(depth int) []any {
	list := []any{}
	for range 1 + g.IntN(2) {
		list = append(list, g.schema(depth, false))
	}
	return list
}

func (g *generator) named(depth int) map[string]any {
	m := map[string]any{}
	for range 1 + g.IntN(2) {
		m[g.name()] = g.schema(depth, false)
	}
	return m
}

func (g *generator) schema(depth int, top bool) any {
	if g.IntN(12) == 0 && !top {
		return g.IntN(3) > 0
	}
	s := map[string]any{}
	if top {
		s["$defs"] = map[string]any{"x": g.schema(1, false), "y": map[string]any{"$anchor": "why", "type": g.pick("string", "object", "integer")}}
	}
	for range 1 + g.IntN(3) {
		g.keyword(s, depth)
	}
	return s
}

func (g *generator) keyword(s map[string]any, depth int) {
	simple := []func(){
		func() { s["type"] = g.pick("string", "number", "integer", "boolean", "object", "array", "null") },
		func() { s["type"] = []any{"object", g.pick("string", "number", "array", "null")} },
		func() { s["enum"] = []any{g.value(1), g.value(1)} },
		func() { s["const"] = g.value(1) },
		func() { s[g.pick("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")] = g.number() },
		func() { s["multipleOf"] = json.Number(g.pick("0.1", "2", "3", "0.5", "1e1")) },
		func() {
			s[g.pick("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")] = g.count()
		},
		func() { s["pattern"] = g.pick("^a", "b$", `\d`, "[^a]") },
		func() { s["format"] = g.pick("date", "ipv4", "email", "unknown") },
		func() { s["uniqueItems"] = true },
		func() { s["required"] = []any{g.name()} },
		func() { s["dependentRequired"] = map[string]any{g.name(): []any{g.name()}} },
		func() { s["$ref"] = g.pick("#/$defs/x", "#why", "#/$defs/y") },
	}
	nested := []func(){
		func() { s[g.pick("allOf", "anyOf", "oneOf")] = g.schemas(depth - 1) },
		func() { s["not"] = g.schema(depth-1, false) },
		func() {
			s["if"] = g.schema(depth-1, false)
			s[g.pick("then", "else")] = g.schema(depth-1, false)
		},
		func() { s["properties"] = g.named(depth - 1) },
		func() { s["patternProperties"] = map[string]any{g.pick("^a", "b"): g.schema(depth-1, false)} },
		func() { s[g.pick("additionalProperties", "unevaluatedProperties")] = g.schema(depth-1, false) },
		func() { s["propertyNames"] = map[string]any{"maxLength": 1} },
		func() { s["dependentSchemas"] = g.named(depth - 1) },
		func() { s["prefixItems"] = g.schemas(depth - 1) },
		func() { s[g.pick("items", "unevaluatedItems")] = g.schema(depth-1, false) },
		func() {
			s["contains"] = g.schema(depth-1, false)
			s[g.pick("minContains", "maxContains")] = g.count()
		},
	}
	if n := g.IntN(len(simple) + len(nested)); n < len(simple) {
		simple[n]()
	} else if depth > 0 {
		nested[n-len(simple)]()
	}
}

// FuzzCompile checks that every compilation and validation ends without a panic, and that the result equals that of the
// library if both accept the schema.
func FuzzCompile(f *testing.F) {
	for _, s := range [][2]string{
		{`{"$ref":"#"}`, `1`},
		{`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"type":"null"},{"properties":{"b":{"$ref":"#"}}}]}}}`, `{"b":{"b":null}}`},
		{`{"multipleOf":1e-5}`, `1e400`}, {`{"pattern":"^[\\s\\S]\\u00e9$"}`, `"xé"`}, {`{"$id":"http://a/b","$anchor":"x","$ref":"c#x"}`, `{}`},
		{`{"format":"uri"}`, `"http://[::1]:80/a?b#c"`}, {`{"format":"duration"}`, `"P1Y2DT3H"`}, {`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}],"additionalItems":false}`, `[1,2]`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		var doc, v any
		if readJSON(schema, &doc) != nil || readJSON(value, &v) != nil {
			return
		}
		ours, bad := Compile(doc)
		for _, p := range bad {
			if p.Message == "" {
				t.Errorf("a problem without words: %v", p)
			}
		}
		if bad == nil {
			ours.Validate(v)
			ours.Validate(ours.Defaults(v))
		}
	})
}

// FuzzFormats checks that no text makes a format panic.
func FuzzFormats(f *testing.F) {
	for _, s := range []string{"12:00:00.5+01:00", "http://[::1]:80/%41?#", `"a\"@[IPv6:::1]`, "P1DT1H", "/a~1", "1#", "{a}", `\uD83D\uDCA9`, "xn--a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range []string{"date", "time", "date-time", "duration", "email", "idn-email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri",
			"iri-reference", "uri-template", "uuid", "regex", "json-pointer", "relative-json-pointer"} {
			if err := formatError(format, s); err != nil && err.Error() == "" {
				t.Errorf("%s refuses %q without words", format, s)
			}
		}
	})
}

func readJSON(s string, into any) error {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	return d.Decode(into)
}
