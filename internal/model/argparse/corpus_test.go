package argparse_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// TestCorpus checks the parser with cases that were written from the specification, not from
// the code.
func TestCorpus(t *testing.T) {
	cases := readCorpus(t)
	if len(cases) < 500 {
		t.Errorf("%d cases, want 500 at least", len(cases))
	}
	for _, c := range cases {
		t.Run(c.class+"/"+strings.ReplaceAll(c.name, "/", "|"), func(t *testing.T) {
			t.Parallel() // the cases share their declarations
			got, refusal := parse(t, c.schema, c.tool, c.input)
			if refusal != nil {
				checkRefusal(t, c, refusal)
				return
			}
			checkValue(t, c, got)
		})
	}
}

func checkValue(t *testing.T, c *sample, got *argparse.Result) {
	t.Helper()
	text := encode(t, got.Value)
	switch {
	case !isOneOf(t, got.Value, c.want):
		t.Errorf("%s\ninput   %s\ngot     %s\nwant    %s\nreason  %s", "another value", cut(c.input), cut(text), wanted(c), c.why)
	case c.repaired != nil && *c.repaired != got.Repaired:
		t.Errorf("repaired = %v, want %v\ninput   %s\nvalue   %s\nrepairs %v\nreason  %s", got.Repaired, *c.repaired, cut(c.input), cut(text), got.Repairs, c.why)
	case c.defaults != nil && !slices.Equal(c.defaults, got.Defaults):
		t.Errorf("defaults = %q, want %q\ninput   %s\nreason  %s", got.Defaults, c.defaults, cut(c.input), c.why)
	}
	for _, p := range c.schema.Properties {
		v, given := got.Value[p.Name]
		if given && !conforms(p.Schema, v) || !given && p.Required {
			t.Errorf("%s is not as it is declared in %s\ninput   %s", p.Name, cut(text), cut(c.input))
		}
	}
	if !got.Repaired && !json.Valid([]byte(c.input)) {
		t.Errorf("no JSON, and not repaired\ninput   %s", cut(c.input))
	}
	if got.Repaired != (len(got.Repairs) > 0) {
		t.Errorf("repaired = %v with repairs %v\ninput   %s", got.Repaired, got.Repairs, cut(c.input))
	}
	for _, r := range slices.Concat(got.Repairs, got.Coercions) {
		if r.Kind == "" || r.Offset < 0 || r.Offset > len(c.input) {
			t.Errorf("repair %+v of a text of %d bytes\ninput   %s", r, len(c.input), cut(c.input))
		}
	}
}

// conforms reports whether a value has the declared type, at any depth. null is
// allowed inside values, and enums are the responsibility of the caller.
func conforms(s *argparse.Schema, v any) bool {
	if s == nil || len(s.Types) == 0 {
		return true
	}
	return slices.ContainsFunc(s.Types, func(kind string) bool {
		switch v := v.(type) {
		case string:
			return kind == "string"
		case bool:
			return kind == "boolean"
		case json.Number:
			return kind == "number" || kind == "integer" && isInteger(string(v))
		case []any:
			return kind == "array" && !slices.ContainsFunc(v, func(item any) bool { return item != nil && !conforms(s.Items, item) })
		case map[string]any:
			return kind == "object" && !slices.ContainsFunc(s.Properties, func(p argparse.Property) bool {
				member := v[p.Name]
				return member != nil && !conforms(p.Schema, member)
			})
		}
		return kind == "null"
	})
}

// isInteger reports whether the fraction is zero. Numbers with an exponent are left to the
// cases.
func isInteger(digits string) bool {
	_, fraction, _ := strings.Cut(digits, ".")
	return strings.ContainsAny(digits, "eE") || strings.Trim(fraction, "0") == ""
}

func checkRefusal(t *testing.T, c *sample, got *argparse.Refusal) {
	t.Helper()
	switch {
	case len(c.refused) == 0 && !c.may:
		t.Errorf("refused: %s: %s\ninput   %s\nwant    %s\nreason  %s", got.Code, got.Message, cut(c.input), wanted(c), c.why)
	case len(c.refused) > 0 && !slices.Contains(c.refused, got.Code) && !slices.Contains(c.refused, "any"):
		t.Errorf("refused: %s: %s\ninput   %s\nwant    %s\nreason  %s", got.Code, got.Message, cut(c.input), wanted(c), c.why)
	case c.offset >= 0 && c.offset != got.Offset:
		t.Errorf("offset %d, want %d: %s: %s\ninput   %s\nreason  %s", got.Offset, c.offset, got.Code, got.Message, cut(c.input), c.why)
	}
	for _, name := range c.suggests {
		if !slices.Contains(got.Suggestions, name) {
			t.Errorf("suggestions %q, want %s\ninput   %s\nreason  %s", got.Suggestions, name, cut(c.input), c.why)
		}
	}
	if got.Code == "panic" {
		return
	}
	if got.Message == "" || got.Hint == "" || got.Offset < 0 || got.Offset > len(c.input) {
		t.Errorf("refusal %+v of a text of %d bytes", got, len(c.input))
	}
	if form, err := json.Marshal(got); err != nil || len(form) > 2048 {
		t.Errorf("a refusal of %d bytes as JSON (%v)\ninput   %s", len(form), err, cut(c.input))
	}
	if _, again := parse(t, c.schema, c.tool, got.ExpectedFormat); again != nil {
		t.Errorf("the example call %s is refused: %s: %s", got.ExpectedFormat, again.Code, again.Message)
	}
}

// TestCorpusAgain checks that the value of a call, written as JSON, needs no repair.
func TestCorpusAgain(t *testing.T) {
	for _, c := range readCorpus(t) {
		if !c.accepted() {
			continue
		}
		for _, want := range c.want {
			got, refusal := parse(t, c.schema, c.tool, want)
			switch {
			case refusal != nil:
				t.Errorf("%s/%s: %s is refused: %s: %s", c.class, c.name, cut(want), refusal.Code, refusal.Message)
			case got.Repaired || !isOneOf(t, got.Value, []string{want}):
				t.Errorf("%s/%s: %s became %s, repaired = %v", c.class, c.name, cut(want), cut(encode(t, got.Value)), got.Repaired)
			}
		}
	}
}

// TestCorpusCutOff checks that a truncated call in braces is refused or is the same call.
func TestCorpusCutOff(t *testing.T) {
	for _, c := range readCorpus(t) {
		if len(c.want) == 0 || !strings.HasPrefix(strings.TrimSpace(c.input), "{") || len(c.input) > 5000 {
			continue
		}
		for i := strings.IndexByte(c.input, '{') + 1; i < len(c.input); i++ {
			if json.Valid([]byte(c.input[:i])) {
				continue // a call of its own
			}
			got, refusal := parse(t, c.schema, c.tool, c.input[:i])
			if refusal == nil && !isOneOf(t, got.Value, c.want) {
				t.Errorf("%s/%s: %s became %s", c.class, c.name, cut(c.input[:i]), cut(encode(t, got.Value)))
				break
			}
		}
	}
}

// parse reports a panic as an error, so that the other cases run too.
func parse(t *testing.T, s *argparse.Schema, tool, text string) (got *argparse.Result, refusal *argparse.Refusal) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v\ninput   %s", p, cut(text))
			refusal = &argparse.Refusal{Code: "panic", Message: "panic", Hint: "panic", ExpectedFormat: "{}"}
		}
	}()
	return argparse.Parse(s, tool, []byte(text))
}

// isOneOf compares numbers by their digits.
func isOneOf(t *testing.T, got map[string]any, wants []string) bool {
	t.Helper()
	for _, want := range wants {
		d := json.NewDecoder(strings.NewReader(want))
		d.UseNumber()
		var value map[string]any
		if err := d.Decode(&value); err != nil {
			t.Fatalf("the case wants %s: %v", want, err)
		}
		if len(value) == 0 && len(got) == 0 || reflect.DeepEqual(value, got) {
			return true
		}
	}
	return false
}

func encode(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func wanted(c *sample) string {
	want := strings.Join(c.want, "  or  ")
	if len(c.refused) > 0 {
		return strings.TrimSpace(want + " a refusal " + strings.Join(c.refused, "|"))
	}
	if c.may {
		return want + "  or a refusal"
	}
	return want
}

func cut(text string) string {
	if len(text) > 600 {
		return text[:400] + " [...] " + text[len(text)-150:]
	}
	return text
}
