package bind_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/bind"
	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// TestArguments converts an object to arguments, with the kinds of the conversions, or refuses it with a code.
func TestArguments(t *testing.T) {
	one := func(name string) *schema.Schema { return &schema.Schema{Types: []string{name}} }
	s := &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
		{Name: "text", Schema: one("string"), Required: true}, {Name: "maxCount", Schema: one("integer")}, {Name: "loud", Schema: one("boolean")},
		{Name: "mode", Schema: &schema.Schema{Enum: []any{"slow-motion", "fast"}}}, {Name: "tags", Schema: schema.ArrayOf(schema.Text())},
		{Name: "both", Schema: &schema.Schema{Types: []string{"number", "boolean"}}},
		{Name: "size", Schema: one("number"), HasDefault: true, Default: json.Number("5")},
	}}
	for text, want := range map[string]string{
		`{"text": "x", "size": 1.50}`:            `{"size":1.50,"text":"x"} []`,
		`{"text": 5, "max_count": "10"}`:         `{"maxCount":10,"size":5,"text":"5"} [text name number]`,
		`{"text": "x", "loud": "yes"}`:           `{"loud":true,"size":5,"text":"x"} [boolean]`,
		`{"text": "x", "mode": "Slow Motion"}`:   `{"mode":"slow-motion","size":5,"text":"x"} [enum]`,
		`{"text": "x", "tags": "a"}`:             `{"size":5,"tags":["a"],"text":"x"} [array]`,
		`{"text": "x", "tags": "a, b"}`:          `{"size":5,"tags":["a","b"],"text":"x"} [list]`,
		`{"text": "x", "tags": "['a', 'b']"}`:    `{"size":5,"tags":["a","b"],"text":"x"} [json-text]`,
		`{"text": "x", "text": "x"}`:             `{"size":5,"text":"x"} []`,
		`{"text": "x", "size": null}`:            `{"size":5,"text":"x"} []`,
		`{"text": "x", "text": "y"}`:             "duplicate-key",
		`{"text": "x", "Text": "x"}`:             "duplicate-key",
		`{"text": "x", "txet": 1}`:               "undeclared",
		`{"size": 1}`:                            "missing",
		`{"text": "x", "maxCount": 1.5}`:         "type",
		`{"text": "x", "maxCount": "1.000,5"}`:   "number",
		`{"text": "x", "mode": "quick"}`:         "enum",
		`{"text": "x", "size": "2 * 3"}`:         "code",
		`{"text": "x", "both": "1"}`:             "ambiguous",
		`{"text": "x", "tags": "red, dark red"}`: "ambiguous",
	} {
		n, _, _, _ := node.ReadJSON(node.Source{Text: text}, 0)
		r := grammar.NewReading(s, "", len(text))
		got := ""
		if res, ok := bind.Arguments(r, &n); ok {
			value, _ := json.Marshal(res.Value)
			var kinds []string
			for _, c := range res.Coercions {
				kinds = append(kinds, c.Kind)
			}
			got = fmt.Sprint(string(value), " ", kinds)
		} else {
			got = r.Bad.Code
		}
		if r.End(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
