package find_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/find"
	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// searchSchema describes the tool search.
var searchSchema = &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
	{Name: "query", Schema: schema.Text()}, {Name: "limit", Schema: &schema.Schema{Types: []string{"integer"}}},
	{Name: "sites", Schema: schema.ArrayOf(schema.Text())},
}}

// written writes arguments as NAME=VALUE, and lists in brackets.
func written(n *node.Node) string {
	var parts []string
	for i := range n.Children {
		part := written(&n.Children[i])
		if n.Kind == node.Object {
			part = n.Children[i].Name + "=" + part
		}
		parts = append(parts, part)
	}
	switch n.Kind {
	case node.Object:
		return strings.Join(parts, " ")
	case node.Array:
		return "[" + strings.Join(parts, " ") + "]"
	}
	return n.Text
}

// found returns the arguments that are found in a text, and the kinds of repairs after a bar; or why it is refused.
func found(s *schema.Schema, text string) string {
	r := grammar.NewReading(s, "search", len(text))
	defer r.End()
	n, ok := find.Call(r, text)
	if !ok {
		return r.Bad.Code
	}
	var kinds []string
	for _, repair := range r.Repairs {
		if !slices.Contains(kinds, repair.Kind) {
			kinds = append(kinds, repair.Kind)
		}
	}
	return strings.TrimSpace(written(&n) + " | " + strings.Join(kinds, " "))
}

// check holds each text against what is found in it.
func check(t *testing.T, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		if got := found(searchSchema, c[0]); got != c[1] {
			t.Errorf("%s\n\t%s\n\twant %s", c[0], got, c[1])
		}
	}
}

// The arguments are inside of what models write around them. Where this is not clear, nothing is removed, and the names are refused later.
func TestEnvelopes(t *testing.T) {
	check(t, [][2]string{
		{`{"type": "function", "id": "call_1", "function": {"name": "search", "arguments": {"query": "cats"}}}`, `query=cats | envelope`},
		{`{"function": {"name": "search", "arguments": "{\"query\": \"cats\"}"}}`, `query=cats | envelope json-text`},
		{`{"tool_calls": [{"name": "search", "arguments": {"query": "cats"}}]}`, `query=cats | envelope`},
		{`{"tool_calls": [{"name": "search", "arguments": {"query": "cats"}}, {"name": "search", "arguments": {"query": "dogs"}}]}`, `several-calls`},
		{`[{"query": "cats"}, {"query": "cats"}]`, `several-calls`},
		{`{"search": {"query": "cats"}}`, `query=cats | envelope`},
		{`{"find": {"query": "cats"}}`, `find=query=cats |`},
		{`{"tool": "search", "query": "cats"}`, `query=cats | envelope`},
		{`{"tool": "find", "query": "cats"}`, `tool=find query=cats |`},
		{`{"name": "search"}`, `| envelope`},
		{`{"name": "search", "arguments": null}`, `| envelope empty`},
		{`{"name": "search", "arguments": {}, "arguments": {"query": "cats"}}`, `duplicate-key`},
		{`{"name": "search", "name": "search", "arguments": {"query": "cats"}}`, `duplicate-key`},
		{`{"name": "search", "arguments": {"query": "cats"}, "extra": {"a": 1}}`, `name=search arguments=query=cats extra=a=1 |`},
		{`{"query": "cats", "arguments": {"query": "dogs"}}`, `query=cats arguments=query=dogs |`},
		{`{"arguments": {"query": "cats"}, "parameters": {"query": "dogs"}}`, `arguments=query=cats parameters=query=dogs |`},
		{`{"arguments":{"arguments":{"arguments":{"arguments":{"arguments":{"query":"cats"}}}}}}`, `query=cats | envelope`},
		{`{"arguments":{"arguments":{"arguments":{"arguments":{"arguments":{"arguments":{"query":"cats"}}}}}}}`, `ambiguous`},
	})
}

// The text is the arguments as a whole: none, JSON, JSON in quotes or with escaped quotes.
func TestWholeText(t *testing.T) {
	check(t, [][2]string{
		{``, `| empty`},
		{"\n \t", `| empty`},
		{`null`, `| empty`},
		{`None`, `| empty`},
		{`{}`, `|`},
		{`[]`, `not-arguments`},
		{`"cats"`, `not-arguments`},
		{`5`, `not-arguments`},
		{`"{\"query\": \"cats\"}"`, `query=cats | json-text`},
		{`"\"{\\\"query\\\": \\\"cats\\\"}\""`, `query=cats | json-text`},
		{`'{"query": "it\'s"}'`, `query=it's | quotes escape json-text`},
		{`'{\"query\": \"cats\"}'`, `query=cats | quotes json-text`},
		{`'{"query": "C:\\dir"}'`, `query=C:\dir | quotes json-text`},
		{"`{\"query\": \"cats\"}`", `query=cats | quotes json-text`},
		{`{\'query\': \'cats\'}`, `query=cats | escape quotes json-text`},
		{`{\n\"query\": \"cats\"\n}`, `query=cats | escape json-text`},
		{`{&#39;query&#39;: &#39;cats&#39;}`, `query=cats | escape quotes json-text`},
		{`{&quot;query&quot;: "cats"}`, `syntax`},
	})
}

// Lines of names and values, after what may stand before them.
func TestNamesOnLines(t *testing.T) {
	check(t, [][2]string{
		{"---\nquery: cats\n...", `query=cats | lines bare-text`},
		{"search:\n  query: cats\n  limit: 5", `query=cats limit=5 | lines bare-text envelope`},
		{"name: search\narguments:\n  query: cats", `query=cats | lines bare-text envelope`},
		{"search\nquery: cats", `query=cats | lines bare-text`},
		{"The arguments are:\nquery: cats\nlimit: 5", `query=cats limit=5 | prose lines bare-text`},
		{"- query: cats\n  limit: 5", `query=cats limit=5 | lines bare-text envelope`},
		{"- query: cats\n- query: dogs", `several-calls`},
		{`search query="cats" limit=5`, `query=cats limit=5 | lines separator prose`},
		{`"query": "cats", "limit": 5}`, `query=cats limit=5 | bracket`},
		{`(query="cats", limit=5)`, `query=cats limit=5 | bracket`},
		{`[query="cats"]`, `query=cats | separator bracket`},
	})
}

// Values between tags, and the object in the tags of a call.
func TestTags(t *testing.T) {
	check(t, [][2]string{
		{`<tool_call><name>search</name><arguments>{"query": "cats"}</arguments></tool_call>`, `query=cats | tag`},
		{`<invoke name="search"><parameter name="query">cats</parameter><parameter name="limit">5</parameter></invoke>`, `query=cats limit=5 | tag`},
		{`<invoke name="find"><parameter name="query">cats</parameter></invoke>`, `wrong-tool`},
		{`<invoke name="search"><parameter name="query">a < b && c</parameter></invoke>`, `query=a < b && c | tag`},
		{`<invoke name="search"><parameter name="query"><b>cats</b></parameter></invoke>`, `query=<b>cats</b> | tag`},
		{`<invoke name="search"><parameter name="sites"><item>a</item><item>b</item></parameter></invoke>`, `sites=[a b] | tag`},
		{`<invoke name="search"><parameter name="query"><![CDATA[a </parameter> b]]></parameter></invoke>`, `query=a </parameter> b | tag`},
		{`<invoke name="search"><parameter name="query">cats`, `truncated`},
		{`<search query="cats" limit="5"/>`, `query=cats limit=5 | tag`},
		{`<search>{"query": "cats"}</search>`, `query=cats | tag`},
		{`<search>some prose</search>`, `not-arguments`},
		{"<search>\n  <query>\n    cats\n  </query>\n</search>", `query=cats | tag`},
		{`<tool_call>search<arg_key>query</arg_key><arg_value>cats</arg_value></tool_call>`, `query=cats | tag`},
		{`<tool_call>search<arg_key>query</arg_key>cats</arg_value></tool_call>`, `query=cats | tag`},
		{`<tool_call>find<arg_key>query</arg_key><arg_value>cats</arg_value></tool_call>`, `wrong-tool`},
		{`<tool_call>search<arg_key>query</arg_key><arg_value>cats</arg_value>`, `truncated`},
		{`<example>{"query": "cats"}</example>`, `ambiguous`},
		{`<thinking>not {"query": "dogs"}</thinking>`, `not-arguments`},
		{"<think>I will search.</think>\nsearch(query=\"cats\")", `query=cats | thinking call prose`},
		{`{"query": "<think>cats</think>"}`, `query=<think>cats</think> |`},
		{`<think>{"query": "cats"}`, `truncated`},
	})
}

// A call is read as it is written; nothing of it is evaluated.
func TestFunctionCalls(t *testing.T) {
	check(t, [][2]string{
		{`search()`, `| call`},
		{`search("cats")`, `positional`},
		{`search({"query": "cats"}, 5)`, `positional`},
		{`search(query="cats", "x")`, `ambiguous`},
		{`search(**{"query": "cats"})`, `query=cats | call`},
		{`search(*args)`, `code`},
		{`search(query="a" + "b")`, `code`},
		{`search(query="cats")[0]`, `code`},
		{`len(search(query="cats"))`, `code`},
		{`functions.search(query="cats")`, `query=cats | call`},
		{`find(query="cats")`, `wrong-tool`},
		{`call_tool("search", {"query": "cats"})`, `query=cats | call`},
		{`call_tool("find", {"query": "cats"})`, `wrong-tool`},
		{`dict(query="cats")`, `query=cats | call`},
		{`x = search(query="cats")`, `query=cats | call prose`},
		{`await search(query="cats")`, `query=cats | call prose`},
		{`I would call search(query="cats") now.`, `query=cats | call prose`},
	})
}

// What prose around an object says about it.
func TestProse(t *testing.T) {
	check(t, [][2]string{
		{`{"query": "cats"} is the call.`, `query=cats | prose`},
		{`I would call other(thing) now: {"query": "cats"}`, `query=cats | prose`},
		{`Use {name} here: {"query": "cats"}`, `query=cats | prose`},
		{"Action: search\nAction Input: {\"query\": \"cats\"}", `query=cats | prose`},
		{"Action: find\nAction Input: {\"query\": \"cats\"}", `wrong-tool`},
		{`<|channel|>commentary to=functions.search <|message|>{"query": "cats"}`, `query=cats | prose`},
		{`<|channel|>commentary to=functions.find <|message|>{"query": "cats"}`, `wrong-tool`},
		{`[TOOL_CALLS][{"name": "search", "arguments": {"query": "cats"}}]`, `query=cats | envelope prose`},
		{`[TOOL_CALLS]search{"query": "cats"}`, `query=cats | prose`},
		{`[TOOL_CALLS] search[ARGS]{"query": "cats"}`, `query=cats | prose`},
		{`[TOOL_CALLS]find{"query": "cats"}`, `wrong-tool`},
		{`[TOOL_CALLS] find [ARGS]{"query": "cats"}`, `wrong-tool`},
		{`[TOOL_CALLS]find[CALL_ID]9xa[ARGS]{"query": "cats"}`, `wrong-tool`},
		{`[TOOL_CALLS]Here it is: {"query": "cats"}`, `query=cats | prose`},
		{`{{"query": "cats"}}`, `query=cats | bracket`},
		{`{"query": "cats"}}`, `query=cats | prose`},
		{`{"query": "cats"}, "limit": 5}`, `ambiguous`},
		{`{"query": "cats"} limit: 5`, `ambiguous`},
		{`{"query": "cats"} limit=high`, `ambiguous`},
		{`{"query": "cats"}, "dogs"`, `ambiguous`},
		{"```json\n{\"query\": \"cats\"}\n```\nor\n```json\n{\"query\": \"dogs\"}\n```", `several-calls`},
		{"```json\n{\"query\": \"cats\"}\n```\nor {\"other\": 1}", `query=cats | fence`},
		{"```\nquery: cats\n```", `query=cats | fence lines bare-text`},
		{"```json\n{\"query\": \"cats\"", `truncated`},
		{`...`, `ellipsis`},
	})
}
