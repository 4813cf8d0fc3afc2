package dataschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
)

const orderForm = `{"properties": {
	"size": {"type": "string", "enum": ["s", "m"], "default": "m", "title": "Size", "description": "How large"},
	"count": {"type": "integer", "minimum": 1},
	"lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
	"at": {"type": "string", "format": "date"}}, "required": ["count"]}`

// values are what JSON holds, numbers as written.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// said is what problems say, one a line.
func said(list []dataschema.Problem) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%s: %s", p.Field, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(&b, " (%s)", p.Hint)
		}
		if p.Missing {
			b.WriteString(" missing")
		}
		if p.Unknown {
			b.WriteString(" unknown")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFormFields(t *testing.T) {
	f, err := dataschema.ParseForm([]byte(orderForm))
	if err != nil {
		t.Fatal(err)
	}
	want := []dataschema.FormField{
		{Name: "size", Type: "string", Title: "Size", Description: "How large", Enum: []any{"s", "m"}, Default: "m"},
		{Name: "count", Type: "integer", Required: true},
		{Name: "lines", Type: "array"},
		{Name: "at", Type: "string"},
	}
	if diff := cmp.Diff(want, f.Fields); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"size": "m"}, f.Defaults()); diff != "" {
		t.Error(diff)
	}
	if f.Field("count") == nil || f.Field("colour") != nil {
		t.Error("a field is found by its name, and no other is")
	}
	text, err := f.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := dataschema.ParseForm(text)
	if err != nil || !f.Equal(again) {
		t.Errorf("a form that was written and read is another: %v", err)
	}
	other, err := dataschema.ParseForm([]byte(`{"properties": {"a": {}}}`))
	if err != nil || f.Equal(other) || f.Equal(nil) {
		t.Errorf("different forms are equal: %v", err)
	}
}

func TestFormCheck(t *testing.T) {
	for _, c := range []struct{ form, values, want string }{
		{orderForm, `{"count": 2, "size": "s"}`, ""},
		{orderForm, `{"size": "s"}`, "count: is missing missing\n"},
		{orderForm, `{"count": 2, "sizee": "s"}`, "sizee: is not in the form (did you mean size?) unknown\n"},
		{orderForm, `{"count": 2, "zzzzzzz": 1}`, "zzzzzzz: is not in the form (the form has size, count, lines, at) unknown\n"},
		{orderForm, `{"count": 0}`, "count: 0 is below the minimum of 1\n"},
		{orderForm, `{"count": 1, "lines": [{"sku": "a"}, {"sku": 7}]}`, "lines[1].sku: expected text, got a number\n"},
		{orderForm, `{"count": 1, "at": "tomorrow"}`, "at: "},
		{`{"properties": {"a": {}}, "additionalProperties": true}`, `{"b": 1}`, ""},
		{`{"properties": {"a": {}}, "additionalProperties": false}`, `{"b": 1}`, " unknown\n"},
	} {
		f, err := dataschema.ParseForm([]byte(c.form))
		if err != nil {
			t.Fatal(err)
		}
		if got := said(f.Check(values(t, c.values))); got != c.want && (c.want == "" || !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1) {
			t.Errorf("%s: got %q, want %q", c.values, got, c.want)
		}
	}
}

func TestFormsThatAreNone(t *testing.T) {
	for source, want := range map[string]string{
		`{`:                  "cannot read the form: ",
		`[]`:                 "the form is not a mapping",
		`{} {}`:              "more text follows",
		`{"type": "string"}`: "type: the type of a form must be object",
		`{}`:                 "the form has no properties",
		`{"properties": []}`: "properties: ",
		`{"properties": {"a": {"type": "integer", "default": "x"}}}`: "properties.a.default: invalid default: ",
		`{"properties": {"a": {"type": "nothing"}}}`:                 "properties.a.type: ",
	} {
		if _, err := dataschema.ParseForm([]byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}

func TestJSONSchema(t *testing.T) {
	const source = `{"type": "object", "properties": {"n": {"type": "integer", "default": 12345678901234567890}, "in": {"type": "object", "properties": {"x": {"default": [1]}}}}, "required": ["n"]}`
	s, err := dataschema.Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(s); err != nil || !strings.Contains(string(text), `"default":12345678901234567890`) {
		t.Errorf("%v: %s", err, text)
	}
	given := values(t, `{"in": {}}`)
	if got, err := json.Marshal(s.Defaults(given)); err != nil || string(got) != `{"in":{"x":[1]},"n":12345678901234567890}` {
		t.Errorf("%v: with its defaults it is %s", err, got)
	}
	if len(given) != 1 || len(given["in"].(map[string]any)) != 0 {
		t.Errorf("what was given became %v", given)
	}
	if got := said(s.Check(values(t, `{"in": 1}`))); !strings.Contains(got, "missing") || !strings.Contains(got, "in: ") {
		t.Errorf("%q", got)
	}
	for source, open := range map[string]bool{`{"properties": {"a": {}}}`: false, `{"additionalProperties": false}`: true, `{"$ref": "#/$defs/a", "$defs": {"a": {}}}`: true, `true`: false} {
		if s, err := dataschema.Parse([]byte(source)); err != nil || s.Open() != open {
			t.Errorf("%s: open %t, %v", source, !open, err)
		}
	}
}

// TestSchemaProblems: all that is wrong with a schema is said, each with its place.
func TestSchemaProblems(t *testing.T) {
	_, err := dataschema.Parse([]byte(`{"properties": {"a": {"type": "no"}, "b": {"minimum": "x"}}}`))
	if err == nil || !strings.Contains(err.Error(), "properties.a.type: ") || !strings.Contains(err.Error(), "; properties.b.minimum: ") {
		t.Errorf("%v", err)
	}
	list := dataschema.Problems(fmt.Errorf("wrapped: %w", err))
	if len(list) != 2 || list[0].Field != "properties.a.type" || list[1].Field != "properties.b.minimum" {
		t.Errorf("%+v", list)
	}
	_, err = dataschema.Parse([]byte(`{`))
	if list := dataschema.Problems(err); len(list) != 1 || list[0].Field != "" || list[0].Message != err.Error() {
		t.Errorf("%+v", list)
	}
}
