package keytable

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// stored is what the fields of a table stored, as KEY=VALUE.
type stored struct{ all []string }

// keep returns a setter for a field.
func keep[V any](key string) func(*stored, V) {
	return func(s *stored, v V) { s.all = append(s.all, fmt.Sprint(key, "=", v)) }
}

// kinds has a field of each kind, named for it.
func kinds() *Object {
	texts := func(key string) func(*stored, []diagnostic.Text) {
		return func(s *stored, list []diagnostic.Text) { keep[[]string](key)(s, stringsOf(list)) }
	}
	entries := func(key string) func(*stored, []Entry) {
		return func(s *stored, list []Entry) {
			for _, e := range list {
				keep[any](key+"."+e.Key)(s, e.Value.Scalar)
			}
		}
	}
	inner := NewObject("a part", "", func() []Field { return []Field{String("name", "", "", keep[string]("name"))} })
	same := func(s *stored) *stored { return s }
	short := func(s *stored, t diagnostic.Text) { keep[string]("short")(s, t.S) }
	return NewObject("a table", "", func() []Field {
		return []Field{
			Text("text", "", "", func(s *stored, t diagnostic.Text) { keep[string]("text")(s, t.S) }),
			Texts("texts", "", "", texts("texts")), Strings("strings", "", "", keep[[]string]("strings")),
			Choice("choice", "", []string{"number", "string"}, "", keep[string]("choice")),
			Choices("choices", "", []string{"a", "b"}, "", keep[[]string]("choices")),
			Boolean("boolean", "", "", keep[bool]("boolean")),
			Integers("integers", "", 0, 255, "", keep[[]int]("integers")),
			Number("number", "", "", keep[float64]("number")),
			Duration("duration", "", "", keep[time.Duration]("duration")),
			Size("size", "", "", keep[int64]("size")),
			AnyValue("value", "", "", func(s *stored, v Value) { keep[any]("value")(s, v.Scalar) }),
			AnyValues("values", "", "", func(s *stored, v []Value) { keep[int]("values")(s, len(v)) }),
			ValueMap("value-map", "", "", entries("value-map")), TextMap("text-map", "", "", func(s *stored, list []Entry) {
				for _, e := range list {
					keep[string]("text-map."+e.Key)(s, e.Value.Text.S)
				}
			}),
			Nested("object", "", inner, "", same),
			Mixed("mixed", "", inner, "", same, short),
			Named("named", "", inner, "", func(s *stored, name string, _ diagnostic.Pos) *stored { keep[string]("entry")(s, name); return s }),
			NamedOrText("named-or-text", "", inner, "", func(s *stored, _ string, _ diagnostic.Pos) *stored { return s }, short),
		}
	}).WithHint("foreign", FixedHint("write text"))
}

// TestKinds: each kind of field stores what it says, or reports where the value is wrong.
func TestKinds(t *testing.T) {
	for text, want := range map[string]string{
		"text: 1.10": "text=1.10", "text: 2024-01-02": "text=2024-01-02", "text: true": "text=true",
		"text: ~": "1:7 empty-value", "text: [a]": "1:7 wrong-type",
		"text: {A}": "1:7 unquoted-reference", "text: |\n  a\n  b\n": "text=a\nb\n",
		"texts: a": "texts=[a]", "texts: [a, 1]": "texts=[a 1]", "texts: [a, [b]]": "texts=[a] 1:12 wrong-type",
		"texts: {a: b}": "1:8 wrong-type", "strings: []": "strings=[]",
		"choice: string": "choice=string", "choice: strnig": `1:9 bad-choice did you mean "string"? (number, string)`,
		"choice: int":     `1:9 bad-choice did you mean "number"? (number, string)`,
		"choice: x":       "1:9 bad-choice use one of: number, string",
		"choices: [a, b]": "choices=[a b]", "choices: c": "1:10 bad-choice use one of: a, b",
		"boolean: true": "boolean=true", "boolean: True": "boolean=true", "boolean: FALSE": "boolean=false", "boolean: tRue": "1:10 wrong-type", "boolean: !!bool yes": "1:10 wrong-type", "boolean: yes": "1:10 wrong-type",
		"boolean: 1": "1:10 wrong-type", "boolean:": "1:9 wrong-type", "boolean: 'true'": "1:10 wrong-type",
		"integers: 75": "integers=[75]", "integers: [0, 255]": "integers=[0 255]",
		"integers: [1, 256]": "integers=[1] 1:15 out-of-range",
		"number: 1.5":        "number=1.5", "number: -2": "number=-2", "number: x": "1:9 wrong-type",
		"duration: 5000": "duration=5s", "duration: 1h": "duration=1h0m0s", `duration: "250ms"`: "duration=250ms",
		"duration: 012": "duration=12ms", "duration: 0": "1:11 bad-duration",
		"duration: 1e30": "1:11 bad-duration", "duration: 9223372036854775807": "1:11 bad-duration",
		"duration: 5 minutes": "1:11 bad-duration", "duration: 9999h": "1:11 bad-duration",
		"duration: 1.5": "1:11 bad-duration", `duration: "5000"`: "1:11 bad-duration",
		"duration: true": "1:11 bad-duration", "duration: [1]": "1:11 wrong-type",
		"duration: {A}": "1:11 unquoted-reference",
		"size: 512":     "size=512", "size: 1KB": "size=1000", "size: 1KiB": "size=1024", "size: 2 GiB": "size=2147483648",
		"size: 1TB": "size=1000000000000",
		"size: 1mb": "1:7 bad-size", "size: 1EB": "1:7 bad-size", "size: -1": "1:7 bad-size",
		"size: 0": "1:7 bad-size", "size: 1.5GB": "1:7 bad-size", "size: 99999999999TB": "1:7 bad-size",
		"size: ~":  "1:7 bad-size",
		"value: 1": "value=1", "value: a": "value=a", "values: [1, {a: b}]": "values=2", "values: 1": "1:9 wrong-type",
		"value-map: {b: 1, a: x}": "value-map.b=1 value-map.a=x", "value-map: [1]": "1:12 wrong-type",
		"text-map: {B: 1, A: true}": "text-map.B=1 text-map.A=true", "text-map: {A: [1]}": "1:15 wrong-type",
		"object: {name: a}": "name=a", "object: a": "1:9 wrong-type",
		"object: {nmae: a}": `1:10 unknown-key did you mean "name"?`,
		"mixed: a":          "short=a", "mixed: {name: a}": "name=a", "mixed: [a, {name: b}]": "short=a name=b",
		"mixed: [[a]]":                 "1:9 wrong-type",
		"named: {x: {name: a}, y: {}}": "entry=x name=a entry=y", "named: {x: 1}": "entry=x 1:12 wrong-type",
		"named: a":                            "1:8 wrong-type",
		"named-or-text: {x: a, y: {name: b}}": "short=a name=b", "named-or-text: [a]": "1:16 wrong-type",
		"x-note: {any: [thing]}": "", "foreign: a": "1:1 unknown-key write text",
		"txet: a": `1:1 unknown-key did you mean "text"?`, "name: a": `1:1 unknown-key did you mean "named"?`,
		"x-b: &b {text: a, number: 1}\nx-m: &m {number: 2, choice: string}\n<<: [*b, *m]\nnumber: 3": "number=3 text=a choice=string",
		"x-a: " + strings.Repeat("[", 250) + strings.Repeat("]", 250):                                "1:205 too-deep", "x-a: " + strings.Repeat("[", 20000): "1:1 too-deep",
		"text: a\n---\n": "text=a 2:1 second-document", strings.Repeat("#", diagnostic.MaxFileSize+1): "1:1 file-too-large",
		`{"text": "a\/b\ud83d\ude00c\ud800 \"d\""}`: "text=a/b😀c\ufffd \"d\"",
	} {
		var s stored
		d := &Decoder{Src: diagnostic.NewSource("f.yaml", []byte(text)), Root: kinds()}
		if problem, bad := d.Src.Problem(); bad {
			d.Report(problem)
		} else if root := d.Parse(); root != nil && d.Shape(root) {
			d.Object(d.Root, &s, root)
		}
		for _, one := range d.Found.Sorted() {
			s.all = append(s.all, fmt.Sprintf("%d:%d %s", one.Pos.Line, one.Pos.Col, one.Code))
			if one.Code == "bad-choice" || one.Code == "unknown-key" {
				s.all = append(s.all, one.Hint)
			}
		}
		if got := strings.Join(s.all, " "); got != want {
			t.Errorf("%.60s: %.200s, want %s", text, got, want)
		}
	}
}
