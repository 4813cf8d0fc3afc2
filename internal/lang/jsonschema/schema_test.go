package jsonschema

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said returns problems as lines: the path in the value, the place in the schema, the message.
func said(list []Problem) string {
	var lines []string
	for _, p := range list {
		mark := ""
		if p.Missing {
			mark = " (missing)"
		}
		if p.Unknown {
			mark = " (unknown)"
		}
		lines = append(lines, fmt.Sprintf("%s | %s | %s%s", strings.Join(p.Path, "."), p.Schema, p.Message, mark))
	}
	return strings.Join(lines, "\n")
}

// TestProblems checks the messages about values: all problems are reported together, with their paths.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"types", `{"type":["integer","boolean"]}`, `"a"`, " | /type | expected true or false or a whole number, got text"},
		{"a number is no text", `{"type":"string"}`, `1`, " | /type | expected text, got a number"},
		{"several at once", `{"required":["a","b"],"properties":{"c":{"type":"number"},"d":{"minimum":3}},"additionalProperties":false}`, `{"c":"x","d":1,"e":0}`,
			"a | /required | is missing (missing)\nb | /required | is missing (missing)\nc | /properties/c/type | expected a number, got text\nd | /properties/d/minimum | 1 is below the minimum of 3\ne | /additionalProperties | is unknown (unknown)"},
		{"inside lists", `{"properties":{"l":{"items":{"required":["n"]}}}}`, `{"l":[{"n":1},{}]}`, "l.1.n | /properties/l/items/required | is missing (missing)"},
		{"enum", `{"enum":["eu","us",1,null]}`, `"mars"`, ` | /enum | "mars" is not one of eu, us, 1, null`},
		{"const", `{"const":{"a":1}}`, `2`, ` | /const | must be {"a":1}`},
		{"pattern and length", `{"pattern":"^a\\d+$","maxLength":2}`, `"bcd"`, " | /maxLength | has 3 characters, at most 2 are allowed\n | /pattern | \"bcd\" does not match pattern \"^a\\\\d+$\""},
		{"anyOf is one problem", `{"anyOf":[{"type":"string"},{"minimum":3}]}`, `1`, " | /anyOf | matches none of the alternatives (anyOf)"},
		{"oneOf is one problem", `{"oneOf":[{},true]}`, `1`, " | /oneOf | must match exactly one of the alternatives (oneOf)"},
		{"not", `{"not":{"type":"number"}}`, `1`, " | /not | is a value that is not allowed (not)"},
		{"a reference tells what it leads to", `{"$ref":"#/$defs/a/b","$defs":{"a/b":{},"a":{"b":{"maximum":1}}}}`, `2`, " | /$defs/a/b/maximum | 2 is above the maximum of 1"},
		{"then", `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, "b | /then/required | is missing (missing)"},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, "a | /properties/a | is not allowed"},
		{"a dependency", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "b | /dependentRequired | is missing: it is required with a (missing)"},
		{"names", `{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, "ab | /propertyNames | has an invalid name: has 2 characters, at most 1 are allowed"},
		{"contains", `{"contains":{"type":"string"},"minContains":2}`, `["a",1]`, " | /contains | has 1 matching items, at least 2 are needed (contains)"},
		{"the same in two ways", `{"allOf":[{"type":"string"},{"type":"string"}]}`, `1`, " | /allOf/0/type | expected text, got a number"},
		{"unevaluated", `{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":1}`, "b | /unevaluatedProperties | is unknown (unknown)"},
		{"characters", `{"maxLength":2}`, `"💩💩"`, ""},
		{"decimals", `{"multipleOf":0.01}`, `19.99`, ""},
		{"no multiple", `{"multipleOf":0.1}`, `0.35`, " | /multipleOf | 0.35 is not a multiple of 0.1"},
		{"beyond 2^53", `{"maximum":9007199254740992}`, `9007199254740993`, " | /maximum | 9007199254740993 is above the maximum of 9007199254740992"},
		{"beyond float64", `{"minimum":1e400,"type":"integer"}`, `2e400`, ""},
		{"equal spellings", `{"enum":[1.0,100]}`, `1e2`, ""},
		{"draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"number"}},"items":[{"$ref":"#/definitions/n","maximum":1}],"additionalItems":false,"dependencies":{"a":["b"]}}`,
			`["x",2]`, "0 | /definitions/n/type | expected a number, got text\n1 | /additionalItems | is not allowed"},
		{"a format", `{"format":"email"}`, `"x"`, ` | /format | "x" is not a valid email: it has no @`},
		{"a long value is cut", `{"enum":[1]}`, `"` + strings.Repeat("ä", 99) + `"`, ` | /enum | "` + strings.Repeat("ä", 60) + `…" is not one of 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, bad := Compile(decode(t, []byte(c.schema)))
			if bad != nil {
				t.Fatal(said(bad))
			}
			if diff := cmp.Diff(c.want, said(s.Validate(decode(t, []byte(c.value))))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBadSchemas checks the messages about invalid schemas.
func TestBadSchemas(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"no schema", `7`, " |  | expected a schema (an object, true or false), got a number"},
		{"an unknown type", `{"type":"text"}`, `type | /type | unknown type "text": use string, number, integer, boolean, array, object or null`},
		{"several", `{"properties":{"a":{"minimum":"1"},"b":{"required":"c"}},"maxLength":-1,"title":5}`,
			"maxLength | /maxLength | expected a whole number that is 0 or greater, got -1\nproperties.a.minimum | /properties/a/minimum | expected a number, got text\n" +
				"properties.b.required | /properties/b/required | expected a list of text, got text\ntitle | /title | expected text, got a number"},
		{"a pattern that looks around", `{"pattern":"a(?=b)"}`, `pattern | /pattern | invalid pattern "a(?=b)": (?=...) is a look-around, which is not supported (patterns are matched in linear time)`},
		{"a pattern that refers back", `{"patternProperties":{"(a)\\1":{}}}`, `patternProperties.(a)\1 | /patternProperties/(a)\1 | invalid pattern "(a)\\1": \1 is a back-reference, which is not supported (patterns are matched in linear time)`},
		{"a broken pattern", `{"pattern":"("}`, "pattern | /pattern | invalid pattern \"(\": missing closing ): `(`"},
		{"nowhere", `{"$ref":"#/$defs/a"}`, `$ref | /$ref | "#/$defs/a" does not exist in this schema`},
		{"another document", `{"items":{"$ref":"other.json"}}`, `items.$ref | /items/$ref | "other.json" is in another document; references work only within the same document`},
		{"a circle", `{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`, `$defs.b.$ref | /$defs/b/$ref | refers to itself, so no value can be checked`},
		{"another draft", `{"$schema":"http://json-schema.org/draft-04/schema#"}`, `$schema | /$schema | unsupported $schema "http://json-schema.org/draft-04/schema#": use https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#`},
		{"items of draft-07", `{"items":[{}]}`, "items | /items | expected a schema, got a list: use prefixItems for a schema for each element"},
		{"one name twice", `{"required":["a","a"]}`, `required.1 | /required/1 | "a" is listed twice`},
		{"an empty list", `{"anyOf":[]}`, "anyOf | /anyOf | expected a list of schemas, got an empty list"},
		{"a step of nothing", `{"multipleOf":0}`, "multipleOf | /multipleOf | expected a number above 0, got 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, bad := Compile(decode(t, []byte(c.schema)))
			if diff := cmp.Diff(c.want, said(bad)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestGoValues checks values that encoding/json does not create, but Go programs do.
func TestGoValues(t *testing.T) {
	s, bad := Compile(map[string]any{"type": "number", "multipleOf": 0.1, "maximum": 5})
	if bad != nil {
		t.Fatal(said(bad))
	}
	for v, want := range map[any]bool{int64(3): true, 0.3: true, float32(0.5): true, uint8(6): false, math.NaN(): false, struct{}{}: false} {
		if got := len(s.Validate(v)) == 0; got != want {
			t.Errorf("%v: valid is %v", v, got)
		}
	}
}

// TestHostile checks schemas and values that could take endless time or memory.
func TestHostile(t *testing.T) {
	var chain strings.Builder // each refers to the next one twice
	for i := range 60 {
		fmt.Fprintf(&chain, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	var kinds, defs strings.Builder // defaults that contain each other
	for i := range 12 {
		fmt.Fprintf(&kinds, `"p%d":{"$ref":"#/$defs/k%d"},`, i, i)
	}
	for i := range 12 {
		fmt.Fprintf(&defs, `,"k%d":{"default":{},"properties":{%s"z":{}}}`, i, kinds.String())
	}
	for _, c := range []struct{ name, schema, value, want string }{
		{"doubling", `{"$ref":"#/$defs/d0","$defs":{` + chain.String() + `"d60":{}}}`, `1`, " |  | cannot be checked: the schema never ends or needs too many steps"},
		{"doubling defaults", `{"$ref":"#/$defs/n","$defs":{"n":{"default":{},"properties":{` + kinds.String() + `"z":{}}}` + defs.String() + `}}`, `{}`, ""},
		{"a dynamic circle", `{"$dynamicAnchor":"x","$dynamicRef":"#x"}`, `1`, " |  | cannot be checked: the schema never ends or needs too many steps"},
		{"a huge exponent", `{"multipleOf":3,"maximum":1e999999999999}`, `1e999999999`, " | /multipleOf | 1e999999999 is not a multiple of 3"},
		{"a deep value", `{"items":{"$ref":"#"}}`, strings.Repeat("[", 4000) + strings.Repeat("]", 4000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, bad := Compile(decode(t, []byte(c.schema)))
			if bad != nil {
				t.Fatal(said(bad))
			}
			v := decode(t, []byte(c.value))
			if diff := cmp.Diff(c.want, said(s.Validate(v))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			s.Defaults(v)
		})
	}
	var deep any = map[string]any{}
	for range 5000 {
		deep = map[string]any{"not": deep}
	}
	if _, bad := Compile(deep); said(bad) != " |  | schemas are nested more than 1000 levels deep" {
		t.Error(said(bad))
	}
}

// TestDefaults checks that missing properties are filled in and that the value itself does not change.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"left out", `{"properties":{"a":{"default":1},"b":{"default":null},"c":{}}}`, `{}`, `{"a":1,"b":null}`},
		{"given, also as null", `{"properties":{"a":{"default":1},"b":{"default":2}}}`, `{"a":null,"b":0}`, `{"a":null,"b":0}`},
		{"in objects and lists", `{"properties":{"o":{"properties":{"a":{"default":1}}},"l":{"prefixItems":[{}],"items":{"properties":{"b":{"default":2}}}}}}`, `{"o":{},"l":[{},{},3]}`, `{"l":[{},{"b":2},3],"o":{"a":1}}`},
		{"an object left out is not made", `{"properties":{"o":{"properties":{"a":{"default":1}}}}}`, `{}`, `{}`},
		{"a default is filled in as well", `{"properties":{"o":{"default":{},"properties":{"a":{"default":1}}}}}`, `{}`, `{"o":{"a":1}}`},
		{"by reference and allOf", `{"$ref":"#/$defs/x","allOf":[{"properties":{"b":{"$ref":"#/$defs/y"}}}],"$defs":{"x":{"properties":{"a":{"default":1}}},"y":{"default":2}}}`, `{}`, `{"a":1,"b":2}`},
		{"not under alternatives", `{"anyOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{}`},
		{"a default of its own kind", `{"default":{},"properties":{"next":{"$ref":"#"}}}`, `{}`, `{"next":{}}`},
		{"no object", `{"properties":{"a":{"default":1}}}`, `[]`, `[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, bad := Compile(decode(t, []byte(c.schema)))
			if bad != nil {
				t.Fatal(said(bad))
			}
			v := decode(t, []byte(c.value))
			if diff := cmp.Diff(c.want, text(s.Defaults(v))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decode(t, []byte(c.value)), v); diff != "" {
				t.Errorf("the value was changed:\n%s", diff)
			}
		})
	}
}

// TestPatterns checks that regular expressions have the meaning of ECMAScript.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, value string
		want           bool
	}{
		{`^\d$`, "৪", false}, {`^\w$`, "é", false}, {`^\s$`, "\u00a0", true}, {`^\s$`, "\u2029", true}, {`^\S$`, "\ufeff", false}, {`^[\S]$`, "a", true}, {`^[^\s]$`, "\u2003", false},
		{`^.$`, "\r", false}, {`^.$`, "💩", true}, {`^[^]$`, "\n", true}, {`[]`, "a", false}, {`^[[a]$`, "[", true}, {`^[\b]$`, "\b", true}, {`a\b`, "a", true},
		{`^a$`, "a\n", false}, {`^\u00e9$`, "é", true}, {`^\uD83D\uDCA9$`, "💩", true}, {`^\u{1F4A9}$`, "💩", true}, {`^\x41$`, "A", true}, {`^\cC$`, "\x03", true}, {`^\0$`, "\x00", true},
		{`^\/$`, "/", true}, {`^\p{Script=Greek}$`, "λ", true}, {`^\p{Lu}$`, "Ä", true}, {`^(?<y>\d{4})$`, "2026", true}, {`^[a-z]{2,3}$`, "abcd", false}, {`^[.]$`, "x", false},
	} {
		p, err := compilePattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		} else if got := p.re.MatchString(c.value); got != c.want {
			t.Errorf("%s matches %q: %v", c.pattern, c.value, got)
		}
	}
	for _, bad := range []string{`\`, `\a`, `^abc\Z`, `\pL`, `\u12`, `\uD83D`, `(?<=a)b`, `(?!a)`, `\k<a>`, `a**`, `[b-a]`} {
		if _, err := compilePattern(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestFormats checks formats with valid and invalid examples, most of them from the optional part of the official
// suite.
func TestFormats(t *testing.T) {
	for _, c := range []struct{ format, good, bad string }{
		{"date", "2024-02-29 0001-01-01", "2023-02-29 2024-1-01 2024-13-01 24-01-01 2024-01-01T ১৯৬৩-06-19"},
		{"time", "08:30:06Z 08:30:06.283185z 15:59:60-08:00 23:59:60Z 01:29:60+01:30 12:00:00+23:59", "24:00:00Z 08:60:00Z 08:30:61Z 22:59:60Z 12:00:00 12:00:00+24:00 8:30:06Z 08:30:06.Z 08:30:06+1 12:00Z 01:02:03Z+00:30"},
		{"date-time", "1963-06-19T08:30:06.28Z 1990-12-31t15:59:60-08:00", "1963-06-19 1963-06-19X08:30:06Z 1990-02-31T15:59:59Z 1998-12-31T23:58:60Z 1963-06-19T08:30:06"},
		{"duration", "P4DT12H30M5S P4Y PT0S P1M PT1M P1W P2W P1YT1H", "P PT 4D P1D2H PT1D P2S PT1Y2W P1W2D P1 PT P1YT P1D1Y P২Y P1M2Y P1D2W"},
		{"email", `a@b a.b+c@example.com "joe\"b"@x te~st@x joe@[127.0.0.1] joe@[IPv6:::1]`, "2962 .a@b a.@b a..b@c @b a@ a@-b a@[300.1.1.1] a,b@c \"a\"b\"@c"},
		{"idn-email", "실례@실례.테스트 a@b", "2962 a@"},
		{"hostname", "a www.example.com 4u xn--4gbwdl.xn--wgbh1c a-b", "-a a- a_b a..b .a . a*b " + strings.Repeat("a", 64)},
		{"ipv4", "192.168.0.1 0.0.0.0", "1.2.3 1.2.3.256 01.2.3.4 1.2.3.4/24 ::1 1.2.3.4.5"},
		{"ipv6", "::1 :: ::abef 1:2:3:4:5:6:7:8 ::ffff:192.168.0.1", "12345:: 1:2 1::2::3 1.2.3.4 ::1%eth0 ::1/64 :2:3:4:5:6:7:8"},
		{"uri", "http://foo.bar/?baz=qux#quux ftp://a@b:21/x urn:oasis:names mailto:a@b.c tel:+1-816 http://[2001:db8::1]:80/ file:///etc", "//foo.bar /abc \\\\WIN abc http://a|b http://a<b http://2001:db8::1/ http://a/%zz bar,baz :// http://[1]/ http://a#b#c http://a/[x]"},
		{"uri-reference", "/abc //foo.bar abc #frag ?q=1 http://a", "\\\\WIN #frag\\x http://[1 a%2"},
		{"iri", "http://ƒøø.ßår/?∂éœ=πîx#πîüx http://[::1]", "/abc \\\\x http://2001:0db8::7334"},
		{"iri-reference", "/âππ #ƒrägmênt", "#ƒräg\\mênt"},
		{"uri-template", "http://x/{term:1}/{?q*} plain", "http://x/{a }x{ {{a}}"},
		{"uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638 2eb8aa08aa9811eab4aa73b441d16380 2eb8aa08-aa98-11ea-b4ga-73b441d16380"},
		{"regex", `a.c ^\d+$`, `( \a`},
		{"json-pointer", "/a/b~0c~1/0 / //", "a /~ /a~2 #/a"},
		{"relative-json-pointer", "0 1/a 2# 10/b", "-1 01/a a 0## /a"},
	} {
		for i, list := range []string{c.good, c.bad} {
			for _, v := range strings.Fields(list) {
				if err := formatError(c.format, v); (err == nil) != (i == 0) {
					t.Errorf("%s: %q: %v", c.format, v, err)
				}
			}
		}
	}
	if formatError("of another standard", "x") != nil {
		t.Error("an unknown format is refused")
	}
}

func BenchmarkValidate(b *testing.B) {
	s, _ := Compile(decode(b, []byte(`{"type":"object","properties":{"l":{"items":{"type":"object","properties":{"n":{"type":"integer","minimum":0},"s":{"pattern":"^a"}},"required":["n"]}}}}`)))
	v := decode(b, []byte(`{"l":[`+strings.TrimSuffix(strings.Repeat(`{"n":1,"s":"abc"},`, 100), ",")+`]}`))
	for b.Loop() {
		if s.Validate(v) != nil {
			b.Fatal("refused")
		}
	}
}
