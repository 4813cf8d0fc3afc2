package find_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/find"
	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// TestCall finds the object with the arguments, which has a query of cats, or refuses the text with a code.
func TestCall(t *testing.T) {
	s := &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
		{Name: "query", Schema: schema.Text()}, {Name: "limit", Schema: &schema.Schema{Types: []string{"integer"}}},
	}}
	for text, want := range map[string]string{
		`{"query": "cats"}`: "",
		"Here it is:\n```json\n{\"query\": \"cats\"}\n```":              "fence",
		`<think>{"query": "dogs"}</think>{"query": "cats"}`:             "thinking",
		`<tool_call>{"query": "cats"}</tool_call>`:                      "tag",
		`<search><query>cats</query></search>`:                          "tag",
		`<function=search><parameter=query>cats</parameter></function>`: "tag",
		`search(query="cats", limit=5)`:                                 "call",
		`print(search({"query": "cats"}))`:                              "call",
		`[search(query='cats')]`:                                        "call",
		`{\"query\": \"cats\"}`:                                         "escape json-text",
		`'{"query": "cats"}'`:                                           "quotes json-text",
		`{&quot;query&quot;: &quot;cats&quot;}`:                         "escape json-text",
		`"query": "cats"}`:                                              "bracket",
		"query: cats\nlimit: 5":                                         "lines",
		`{"name": "search", "arguments": {"query": "cats"}}`:            "envelope",
		`[{"query": "cats"}] and {"query": "cats"}`:                     "envelope repeated",
		`{"query": "cats"} {"query": "dogs"}`:                           "several-calls",
		`{"name": "find", "arguments": {"query": "cats"}}`:              "wrong-tool",
		`There is nothing.`:                                             "not-arguments",
		`The query: {"query": "cats"}`:                                  "ambiguous",
		`search(query="cats").first`:                                    "code",
		`<tool_call>{"query": "cats`:                                    "truncated",
	} {
		r := grammar.NewReading(s, "search", len(text))
		n, ok := find.Call(r, text)
		got := ""
		switch {
		case !ok:
			got = r.Bad.Code
		case n.Member("query") == nil || n.Member("query").Text != "cats":
			t.Errorf("%s: %+v", text, n)
		default:
			for _, word := range strings.Fields(want) {
				for _, repair := range r.Repairs {
					if repair.Kind == word {
						got += " " + word
						break
					}
				}
			}
			got = strings.TrimSpace(got)
		}
		if r.End(); got != want || want == "" && r.Repaired {
			t.Errorf("%s: %s, want %s, repairs %v", text, got, want, r.Repairs)
		}
	}
}

// TestEmptyObject: {} beside the arguments is not a call if something is required.
func TestEmptyObject(t *testing.T) {
	for _, c := range []struct {
		text     string
		required bool
		want     string
	}{
		{`{}{"e": "X"}`, true, "prose"}, {`{} {"e": "X"}`, true, "prose"}, {`{"e": "X"}{}`, true, "prose"}, {`{}{}{"e": "X"}{"e": "X"}`, true, "prose"},
		{"{}\n```json\n{\"e\": \"X\"}\n```", true, "fence"}, {`{}{"e": "X"}{"e": "Y"}`, true, "several-calls"}, {`{}{"e": "X"}`, false, "several-calls"},
		{"{}\n```json\n{}\n```", true, "{}"},
	} {
		s := &schema.Schema{Properties: []schema.Property{{Name: "e", Schema: schema.Text(), Required: c.required}}}
		r := grammar.NewReading(s, "", len(c.text))
		n, ok := find.Call(r, c.text)
		got := ""
		switch {
		case !ok:
			got = r.Bad.Code
		case len(n.Children) == 0:
			got = "{}"
		case slices.ContainsFunc(r.Repairs, func(fix report.Repair) bool { return fix.Kind == c.want }):
			got = c.want
		}
		if r.End(); got != c.want {
			t.Errorf("%q: %s, want %s, repairs %v", c.text, got, c.want, r.Repairs)
		}
	}
}

// TestUnknownTool: where the name of the tool is not known, a tag with the tags of parameters is the call.
func TestUnknownTool(t *testing.T) {
	for text, want := range map[string]string{
		"I read it.\n<read_file>\n<query>cats</query>\n</read_file>":                           "",
		"<read_file>\n<query>cats</query>\n<limit>5</limit>\n</read_file>":                     "",
		"<read_file><query>cats</query></read_file><read_file><query>dogs</query></read_file>": "several-calls",
		"<read_file><query>cats</query>":                                                       "truncated",
		"<read_file>the cats</read_file>":                                                      "not-arguments",
		"<ul><li>cats</li></ul>":                                                               "not-arguments",
		"<html><query>cats</query><p>and more</p></html>":                                      "ambiguous",
	} {
		s := &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
			{Name: "query", Schema: schema.Text()}, {Name: "limit", Schema: &schema.Schema{Types: []string{"integer"}}},
		}}
		r := grammar.NewReading(s, "", len(text))
		n, ok := find.Call(r, text)
		switch {
		case ok && want == "" && n.Member("query") != nil && n.Member("query").Text == "cats":
		case !ok && r.Bad.Code == want:
		default:
			t.Errorf("%s: %+v %v, want %q", text, n, r.Bad, want)
		}
	}
}
