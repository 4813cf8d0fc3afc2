package grammar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// written writes a node as text: a quoted text as 'x', an unquoted one as x.
func written(n *node.Node) string {
	var parts []string
	for i := range n.Children {
		k := &n.Children[i]
		if parts = append(parts, written(k)); n.Kind == node.Object {
			parts[i] = k.Name + ":" + parts[i]
		}
	}
	switch n.Kind {
	case node.Object:
		return "{" + strings.Join(parts, " ") + "}"
	case node.Array:
		return "[" + strings.Join(parts, " ") + "]"
	case node.Quoted:
		return "'" + n.Text + "'"
	}
	return n.Text
}

// TestWhole reads one value, with the kinds of its repairs, or refuses it with a code.
func TestWhole(t *testing.T) {
	words := schema.Text()
	s := &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
		{Name: "a", Schema: words}, {Name: "b", Schema: &schema.Schema{Types: []string{"number"}}}, {Name: "c", Schema: schema.ArrayOf(words)},
	}}
	for text, want := range map[string]string{
		`{"a": "x", "b": 1}`:        "{a:'x' b:1} []",
		`{'a': 'x', b: 1,}`:         "{a:'x' b:1} [quotes quotes bare-key comma]",
		`{"a": x y, "b": 1}`:        "{a:x y b:1} [bare-text]",
		`{"b": 1 "a": "x"}`:         "{b:1 a:'x'} [missing-comma]",
		`{"a" = "x"; "b" => 1}`:     "{a:'x' b:1} [separator comma separator]",
		`{"c": ("x", "y",)}`:        "{c:['x' 'y']} [tuple comma]",
		`{"c": "["x", "y"]"}`:       "{c:['x' 'y']} [json-text]",
		`{"a": r'\d'} // done`:      "{a:'\\d'} [quotes comment]",
		`{"a": """x "y" z"""}`:      "{a:'x \"y\" z'} [quotes]",
		`{"a": 'it\'s'}`:            "{a:'it's'} [escape quotes]",
		`{"a": "x`:                  "truncated",
		`{"a": "C:\dir\new"}`:       "ambiguous",
		`{"a": f(x)}`:               "code",
		`{"a": "x"]`:                "syntax",
		`{"c": ["x",, "y"]}`:        "ambiguous",
		`{"a": "x", ...}`:           "ellipsis",
		`{"a": "x"} {}`:             "syntax",
		strings.Repeat("[{a:", 150): "too-deep",
	} {
		r := grammar.NewReading(s, "", len(text))
		n, ok := r.Whole(node.Source{Text: text}, s)
		got := ""
		if ok {
			var kinds []string
			for _, repair := range r.Repairs {
				kinds = append(kinds, repair.Kind)
			}
			got = fmt.Sprint(written(&n), " ", kinds)
		} else {
			got = r.Bad.Code
		}
		if r.End(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestLines reads names and values on lines, as in YAML.
func TestLines(t *testing.T) {
	s := &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
		{Name: "a", Schema: schema.Text()}, {Name: "c", Schema: schema.ArrayOf(schema.Text())},
		{Name: "o", Schema: &schema.Schema{Types: []string{"object"}}},
	}}
	for text, want := range map[string]string{
		"a: x y\nc:\n- 1\n- two words\n": "{a:x y c:[1 two words]}",
		"a: |\n  x\n   y\n\nc: [1]":      "{a:'x\n y\n' c:[1]}",
		"a: >-\n  x\n  y\n\n  z\n":       "{a:'x y\nz'}",
		"o:\n  x: 1\n  y: 2\na: 'it''s'": "{o:{x:1 y:2} a:'it's'}",
		"a: ~":                           "{a:}",
		"a: x # y: z":                    "ambiguous",
		"o:\n  x: 1\n    y: 2":           "ambiguous",
		"c:\n-\n":                        "syntax",
	} {
		r := grammar.NewReading(s, "", len(text))
		n, ok := r.NewParser(node.Source{Text: text}).Lines()
		got := written(&n)
		if !ok {
			got = r.Bad.Code
		}
		if r.End(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
