package grammar_test

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// typed has a property of each type.
var typed = &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
	{Name: "text", Schema: schema.Text()}, {Name: "number", Schema: &schema.Schema{Types: []string{"number"}}},
	{Name: "flag", Schema: &schema.Schema{Types: []string{"boolean"}}}, {Name: "list", Schema: schema.ArrayOf(schema.Text())},
	{Name: "numbers", Schema: schema.ArrayOf(&schema.Schema{Types: []string{"number"}})},
	{Name: "object", Schema: &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{{Name: "x", Schema: schema.Text()}}}},
}}

// read returns what is read and the kinds of repairs, or why it is refused.
func read(text string, with func(*grammar.Reading, node.Source) (node.Node, bool)) string {
	r := grammar.NewReading(typed, "", len(text))
	defer r.End()
	n, ok := with(r, node.Source{Text: text})
	if !ok {
		return r.Bad.Code
	}
	var kinds []string
	for _, repair := range r.Repairs {
		kinds = append(kinds, repair.Kind)
	}
	return fmt.Sprint(written(&n), " ", kinds)
}

// check reads each text as one value.
func check(t *testing.T, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		got := read(c[0], func(r *grammar.Reading, src node.Source) (node.Node, bool) { return r.Whole(src, typed) })
		if got != c[1] {
			t.Errorf("%s\n\t%s\n\twant %s", c[0], got, c[1])
		}
	}
}

// checkLines reads each text as lines of names and values.
func checkLines(t *testing.T, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		got := read(c[0], func(r *grammar.Reading, src node.Source) (node.Node, bool) { return r.NewParser(src).Lines() })
		if got != c[1] {
			t.Errorf("%s\n\t%s\n\twant %s", c[0], got, c[1])
		}
	}
}

// Where a text in quotes ends, and which quotes are part of it.
func TestQuotes(t *testing.T) {
	check(t, [][2]string{
		{`{"text": ""}`, `{text:''} []`},
		{`{"text": "it's"}`, `{text:'it's'} []`},
		{`{"text": 'it's', "number": 1}`, `{text:'it's' number:1} [unescaped-quote quotes]`},
		{`{"text": "say "hi" now"}`, `{text:'say "hi" now'} [unescaped-quote]`},
		{`{"text": "say "hi", "number": 1}`, `ambiguous`},
		{`{"text": "a", "b", "number": 1}`, `ambiguous`},
		{`{"text": "a" "b"}`, `ambiguous`},
		{`{"text": ""quoted""}`, `{text:'"quoted"'} [unescaped-quote]`},
		{`{"text": “smart”}`, `{text:'smart'} [quotes]`},
		{"{\"text\": `a b`}", `{text:'a b'} [quotes]`},
		{"{\"text\": `a ${b}`}", `code`},
		{`{"text": f"a b"}`, `{text:'a b'} [quotes]`},
		{`{"text": f"a {b}"}`, `code`},
		{`{"text": r"C:\new"}`, `{text:'C:\new'} [quotes]`},
		{`{"text": b"a"}`, `ambiguous`},
		{`{"object": "{"x": "y"}"}`, `{object:{x:'y'}} [json-text]`},
		{`{"text": "{"x": "y"}"}`, `{text:'{"x": "y"}'} [unescaped-quote]`},
	})
}

// What a backslash stands for, and where that is not clear.
func TestEscapes(t *testing.T) {
	check(t, [][2]string{
		{`{"text": "\d+\s"}`, `{text:'\d+\s'} [escape]`},
		{`{"text": "C:\new\dir"}`, `ambiguous`},
		{`{"text": '\x41'}`, `{text:'A'} [escape quotes]`},
		{`{"text": "\x41"}`, `ambiguous`},
		{`{"text": "\0"}`, `ambiguous`},
		{`{"text": "\ud83d\ude00"}`, `{text:'😀'} []`},
		{`{"text": "\ud83d"}`, `encoding`},
		{"{\"text\": \"a\nb\"}", "{text:'a\nb'} [raw-newline]"},
		{"{\"text\": \"a\\\nb\"}", `ambiguous`},
		{"{\"text\": \"a\x01b\"}", `syntax`},
	})
}

// Where a value without quotes ends, by the type that is declared for it.
func TestBareValues(t *testing.T) {
	check(t, [][2]string{
		{`{"text": x, y, "number": 1}`, `{text:x, y number:1} [bare-text]`},
		{`{"text": x: y, "number": 1}`, `{text:x: y number:1} [bare-text]`},
		{`{"text": name.attr}`, `{text:name.attr} [bare-text]`},
		{`{"text": items[0]}`, `ambiguous`},
		{`{"text": "a" + "b"}`, `code`},
		{`{"text": undefined}`, `code`},
		{`{"text": ...}`, `ellipsis`},
		{`{"text": }`, `syntax`},
		{`{"text": ,}`, `syntax`},
		{`{"text": True}`, `{text:True} [bare-text]`},
		{`{"flag": True}`, `{flag:True} [literal]`},
		{`{"number": 1,000, "text": "x"}`, `number`},
		{`{"number": 1,5}`, `number`},
		{`{"number": (5)}`, `{number:5} [bracket]`},
		{`{"number": (5, 6)}`, `code`},
	})
}

// What can be a name, and what a name without a value is.
func TestNames(t *testing.T) {
	check(t, [][2]string{
		{`{"text" "x"}`, `{text:'x'} [missing-colon]`},
		{`{"text"}`, `syntax`},
		{`{text}`, `syntax`},
		{`{**other, "text": "x"}`, `code`},
	})
}

// Where an item of an array begins.
func TestItems(t *testing.T) {
	check(t, [][2]string{
		{`{"numbers": [1 2 3]}`, `{numbers:[1 2 3]} [missing-comma missing-comma]`},
		{`{"list": ["a" "b"]}`, `{list:['a' 'b']} [missing-comma]`},
		{`{"list": ["a""b"]}`, `ambiguous`},
		{`{"list": [a, b]}`, `{list:[a b]} [bare-text bare-text]`},
		{`{"list": [x for x in y]}`, `code`},
		{`{"list": ["a"]], "number": 1}`, `{list:['a'] number:1} [bracket]`},
		{`{"list": ["a"}`, `syntax`},
		{`{"list": ["a", ...]}`, `ellipsis`},
	})
}

// A comment is skipped unless it could be the rest of a text.
func TestComments(t *testing.T) {
	check(t, [][2]string{
		{`{"text": "x", /* note */ "number": 1}`, `{text:'x' number:1} [comment]`},
		{"{\"text\": \"x\" # it's \"text\"\n}", `ambiguous`},
		{"{\"text\": // x\n\"y\"}", `ambiguous`},
		{`{"text": /* x */ "y"}`, `{text:'y'} [comment]`},
	})
}

// What a value on a line is, and what its name has below it.
func TestLineValues(t *testing.T) {
	checkLines(t, [][2]string{
		{"text=a\nnumber=1", `{text:a number:1} [lines separator bare-text separator]`},
		{"text: a, number: 1", `{text:a number:1} [lines bare-text]`},
		{"text: a: b", `{text:a: b} [lines bare-text]`},
		{"text: 'a' b", `ambiguous`},
		{"text: a # b", `ambiguous`},
		{"number: 1 # b", `{number:1} [lines comment]`},
		{"text: a\nmore words\nnumber: 1", `ambiguous`},
		{"text:\nnumber: 1", `syntax`},
		{"text: &a b", `ambiguous`},
		{"text: *a", `ambiguous`},
		{"text: - a", `ambiguous`},
		{"object:\n  x: a\nnumber: 1", `{object:{x:a} number:1} [lines bare-text]`},
		{"object:\n  x: a\n y: b", `ambiguous`},
		{"object:\n  x: a\n   y: b", `ambiguous`},
		{"object:\nx: a", `syntax`},
		{"list:\n  - a\n  - b", `{list:[a b]} [lines]`},
		{"list:\n  - a\n - b", `ambiguous`},
		{"list:\n- a: b", `ambiguous`},
		{"list:\n- a # b", `ambiguous`},
	})
}

// Which line breaks of a block are kept.
func TestBlocks(t *testing.T) {
	checkLines(t, [][2]string{
		{"text: |\n  a\n  b\n\nnumber: 1", "{text:'a\nb\n' number:1} [lines]"},
		{"text: |-\n  a\n  b\n", "{text:'a\nb'} [lines]"},
		{"text: |+\n  a\n\n", "{text:'a\n\n'} [lines]"},
		{"text: >\n  a\n  b\n", "{text:'a b\n'} [lines]"},
		{"text: >\n  a\n    b\n", `ambiguous`},
		{"text: |\n  a\n b\n", `ambiguous`},
		{"number: |\n  1\n", `ambiguous`},
		{"text: | a", `ambiguous`},
	})
}
