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

// TestCommaText reads a text with commas as a list only if it cannot be one item.
func TestCommaText(t *testing.T) {
	kinds := map[string]*schema.Schema{
		"texts": schema.Text(), "any": nil, "numbers": {Types: []string{"number"}}, "wholes": {Types: []string{"integer"}},
		"booleans": {Types: []string{"boolean"}}, "choices": {Enum: []any{"read", "write", "Rome, Italy", "a", "b", "a,b"}},
		"objects": {Types: []string{"object"}}, "maybe": {Types: []string{"string", "null"}}, "mixed": {Types: []string{"number", "string"}},
	}
	for _, c := range []struct{ kind, text, want string }{
		{"texts", "report,final.pdf", "ambiguous"}, {"texts", "Rome, Italy", "ambiguous"}, {"texts", "Doe, John", "ambiguous"}, {"texts", "1,5", "ambiguous"},
		{"texts", "red,green,blue", "ambiguous"}, {"texts", ",", "ambiguous"}, {"any", "a,b", "ambiguous"}, {"any", "1,2", "ambiguous"},
		{"maybe", "a,b", "ambiguous"}, {"mixed", "1,b", "ambiguous"}, {"objects", "a,b", "ambiguous"},
		{"numbers", "1,5", "ambiguous"}, {"numbers", "1.000,5", "ambiguous"}, {"numbers", "1, 5", "[1,5]"}, {"numbers", "1.5,2.5", "[1.5,2.5]"}, {"numbers", "1,2,3", "[1,2,3]"},
		{"numbers", "-1,5", "ambiguous"}, {"wholes", "1,5", "[1,5]"}, {"wholes", "1,234", "ambiguous"}, {"wholes", "1,234,567", "ambiguous"}, {"wholes", "1, 234", "[1,234]"},
		{"wholes", "1234,567", "[1234,567]"}, {"wholes", "1,b", "type"}, {"wholes", "1,,2", "ambiguous"}, {"booleans", "true,false", "[true,false]"},
		{"choices", "read,write", `["read","write"]`}, {"choices", "Rome, Italy", `["Rome, Italy"]`}, {"choices", "rome, italy", `["Rome, Italy"]`},
		{"choices", "a,b", "ambiguous"}, {"choices", "read,delete", "enum"},
	} {
		s := &schema.Schema{Properties: []schema.Property{{Name: "v", Schema: schema.ArrayOf(kinds[c.kind])}}}
		for _, kind := range []node.Node{{Kind: node.Quoted}, {Kind: node.Bare}} {
			kind.Name, kind.Text = "v", c.text
			r := grammar.NewReading(s, "", 100)
			res, ok := bind.Arguments(r, &node.Node{Kind: node.Object, Children: []node.Node{kind}})
			got := ""
			if ok {
				list, _ := json.Marshal(res.Value["v"])
				got = string(list)
			} else {
				got = r.Bad.Code
			}
			if r.End(); got != c.want {
				t.Errorf("%s: %q: %s, want %s", c.kind, c.text, got, c.want)
			}
		}
	}
}

// TestUnfilled refuses the name of a parameter in angle brackets, which a model left in place of a value.
func TestUnfilled(t *testing.T) {
	s := &schema.Schema{Properties: []schema.Property{
		{Name: "city", Schema: schema.Text()}, {Name: "maxCount", Schema: &schema.Schema{Types: []string{"integer"}}}, {Name: "any"}, {Name: "tags", Schema: schema.ArrayOf(schema.Text())},
		{Name: "tag", Schema: &schema.Schema{Enum: []any{"<city>", "x"}}},
		{Name: "opts", Schema: &schema.Schema{Properties: []schema.Property{{Name: "label", Schema: schema.Text()}}}},
	}}
	bare := func(name, text string) node.Node { return node.Node{Kind: node.Bare, Name: name, Text: text} }
	in := func(kind node.Node, name string, child node.Node) node.Node {
		kind.Name, kind.Children = name, []node.Node{child}
		return kind
	}
	for want, members := range map[string][]node.Node{
		"ellipsis": {
			bare("city", "<city>"), bare("city", " <City> "), bare("maxCount", "<max_count>"), bare("any", "<any>"), bare("city", "<maxCount>"), bare("tags", "<tags>"),
			in(node.Node{Kind: node.Array}, "tags", bare("", "<tags>")), in(node.Node{Kind: node.Object}, "opts", bare("label", "<label>")),
		},
		"": {
			bare("city", "<b>"), bare("city", "<city>Rome</city>"), bare("city", "city"), bare("city", "<>"), bare("tag", "<city>"),
			{Kind: node.Quoted, Name: "city", Text: "<city>"},
		},
	} {
		for _, member := range members {
			r := grammar.NewReading(s, "", 100)
			got := ""
			if _, ok := bind.Arguments(r, &node.Node{Kind: node.Object, Children: []node.Node{member}}); !ok {
				got = r.Bad.Code
			}
			if r.End(); got != want {
				t.Errorf("%+v: %q, want %q", member, got, want)
			}
		}
	}
}
