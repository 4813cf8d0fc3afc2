package expr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// page is the Markdown chain of the tests: a parameter url, pre-processing, and the steps search and web.get. search is
// the previous step.
type page struct{}

func (page) Symbol(id string) expr.Symbol {
	switch id {
	case "url":
		return expr.Symbol{Class: expr.Parameter, Type: "string"}
	case "opts":
		return expr.Symbol{Class: expr.Parameter, Type: "object"}
	case "input", "preprocess":
		return expr.Symbol{Class: expr.Step, As: "preprocess"}
	case "prev_step":
		return expr.Symbol{Class: expr.Step, As: "search"}
	case "search", "web.get":
		return expr.Symbol{Class: expr.Step}
	case "args":
		return expr.Symbol{Class: expr.Arguments}
	case "date":
		return expr.Symbol{Class: expr.Variable, As: "DATE"}
	}
	return expr.Symbol{}
}

// Property reports the properties of the input that can be written without input: made, and a parameter input.
func (page) Property(name string, alone bool) bool { return name == "made" || name == "input" && alone }

// paths looks up references by what they mean.
type paths map[string]expr.Value

func (p paths) Lookup(r expr.Ref) (expr.Value, error) {
	v, ok := p[standsFor(r)]
	if !ok {
		return v, errors.New("no such part")
	}
	return v, nil
}

func standsFor(r expr.Ref) string {
	s := r.Root
	for _, seg := range r.Path {
		if seg.IsIndex {
			s += fmt.Sprintf("/%d", seg.Index)
		} else {
			s += "/" + seg.Field
		}
	}
	return s
}

// TestMarkdownReferences is the table of references in Markdown tools.
func TestMarkdownReferences(t *testing.T) {
	for _, test := range []struct {
		src  string
		want []string
	}{
		{"input.url", []string{"preprocess/value/url"}},
		{"input.list[0].x", []string{"preprocess/value/list/0/x"}},
		{`input["a key"].x`, []string{"preprocess/value/a key/x"}},
		{`input['a "key"']`, []string{`preprocess/value/a "key"`}},
		{`input["a \"k\u00e9y\""]`, []string{`preprocess/value/a "kéy"`}},
		{"prev_step.output", []string{"search/value"}},
		{"prev_step.output[0].path", []string{"search/value/0/path"}},
		{"prev_step.outputText", []string{"search/output"}},
		{"preprocess.query", []string{"preprocess/value/query"}},
		{"{{preprocess.query}}", []string{"preprocess/value/query"}},
		{"{{ input }}", []string{"preprocess/value/input"}}, // a parameter has that name
		{"{{input.x}} {{preprocess}}", []string{"preprocess/value/x", "preprocess/value"}},
		{"{{made}} {{made[0].x}}", []string{"preprocess/value/made", "preprocess/value/made/0/x"}},
		{"{{search.output.x}} {{search.x}} {{search}}", []string{"search/value/x", "search/value/x", "search/value"}},
		{"{{web.get[0]}}", []string{"web.get/value/0"}}, // the longest name
		{"{{web.get.output[0].größe}}", []string{"web.get/value/0/größe"}},
		{"https://x?q={{url}}&d={{date}}", []string{"url", "DATE"}},
		{"{{args.undeclared}}", []string{"args/undeclared"}},
		{"{{opts.a}}", []string{"opts/a"}},

		{"", nil},
		{"GET", nil},
		{"input", nil}, // a word
		{"input.url is bad", nil},
		{"input.", nil},
		{"input..x", nil},
		{"input[x]", nil},
		{"input[00]", nil},
		{`input["x]`, nil},
		{" input.url", nil},
		{"search.output", nil}, // names of steps need braces
		{"myinput.url", nil},
		{`\input.url`, nil},
		{`\{{input.url}}`, nil},
		{"{input.url} ${input.url}", nil}, // the spelling of YAML tools
	} {
		tmpl, problems := expr.ParseMarkdown(test.src, page{})
		if len(problems) > 0 {
			t.Errorf("%s: %v", test.src, problems)
		}
		var got []string
		for _, r := range tmpl.Refs() {
			got = append(got, standsFor(r))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.src, diff)
		}
	}
}

// TestMarkdownValue checks that exactly one reference keeps its type, and that lists and objects in a longer text become
// JSON.
func TestMarkdownValue(t *testing.T) {
	list := []any{"a b", 1.0, nil}
	sc := paths{
		"preprocess/value/n": {V: json.Number("5")}, "preprocess/value/list": {V: list}, "search/value": {V: map[string]any{"a": "<b>"}},
		"url": {V: "a {{url}} b"}, "preprocess/value/gone": {Absent: true}, "preprocess/value/null": {},
	}
	for _, test := range []struct {
		src  string
		want any
	}{
		{"input.n", json.Number("5")},
		{"{{input.list}}", list},
		{" {{input.list}}", ` ["a b",1,null]`},
		{"{{search}}!", `{"a":"<b>"}!`},
		{"{{url}}", "a {{url}} b"}, // values are not read again
		{"{{url}}{{url}}", "a {{url}} ba {{url}} b"},
		{"n={{input.n}}", "n=5"},
		{"[{{input.gone}}]", "[]"},
		{"[{{input.null}}]", "[null]"},
		{"input.gone", nil},
		{"input.null", nil},
		{`\input.url`, "input.url"},
		{`a \{{input.url}} b`, "a {{input.url}} b"},
		{`\plain`, `\plain`},
		{"a {{ no reference", "a {{ no reference"},
		{"", ""},
	} {
		tmpl, _ := expr.ParseMarkdown(test.src, page{})
		got, err := tmpl.Value(sc)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", test.src, err, diff)
		}
	}
	// a missing element is an error, not an empty text
	tmpl, _ := expr.ParseMarkdown("x {{input.list[7]}}", page{})
	if _, err := tmpl.Text(sc); err == nil || err.Error() != "input.list[7]: no such part" {
		t.Errorf("an error was expected, not %v", err)
	}
}

func TestMarkdownProblems(t *testing.T) {
	for _, test := range []struct{ src, code, at, says string }{
		{"output.x", expr.CodeUnknown, "output", `unknown name "output"`},
		{"a {{ nope.x }}", expr.CodeUnknown, "nope", `unknown name "nope"`},
		{"{{url.x}}", "expr-field", "url", "has no parts"},
		{"{{date.x}}", "expr-field", "date", "has no parts"},
		{"prev_step.x", "expr-field", "prev_step", "output and outputText"},
		{"{{prev_step}}", "expr-field", "prev_step", "output and outputText"},
		{"prev_step.outputText.x", "expr-field", "prev_step", "outputText is text"},
		{"{{#each list}}", expr.CodeUndeclared, "{{#each list}}", "kept as text"},
		{"a {{ input.url } b", expr.CodeUndeclared, "{{", "{{ has no matching }}"},
		{"{{url", expr.CodeUndeclared, "{{", "{{url is kept as text"},
	} {
		_, problems := expr.ParseMarkdown(test.src, page{})
		if len(problems) != 1 {
			t.Errorf("%s: %v", test.src, problems)
			continue
		}
		p := problems[0]
		if at := test.src[p.Off : p.Off+p.Len]; p.Code != test.code || at != test.at || !strings.Contains(p.Message, test.says) {
			t.Errorf("%s: at %q: %+v", test.src, at, p)
		}
	}
}

// FuzzMarkdownReferences checks that a reference is at the offset it reports, and that its text parses as the same
// reference.
func FuzzMarkdownReferences(f *testing.F) {
	for _, seed := range []string{
		"", "input.url", `input["a key"][0]['b']`, "{{preprocess.query}}", "a {{search.output[0].x}} b {{date}}", "prev_step.output", "prev_step.outputText",
		`\input.url`, `\{{input.url}}`, "{{", "}}", "{{}}", "{{{url}}}", "{{ web.get.x }}", "{{web.get.x.y}", `input["\u00e9\""]`, `input["`, "input.größe", "output.x", "\xff{{url}}\xff",
		strings.Repeat("{{", 500), "{{" + strings.Repeat("a.", 600) + "a}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tmpl, problems := expr.ParseMarkdown(src, page{})
		for _, p := range problems {
			if p.Off < 0 || p.Len <= 0 || p.Off+p.Len > len(src) || p.Message == "" {
				t.Fatalf("%q: problem outside the text: %+v", src, p)
			}
		}
		if len(errorsOf(problems)) > 0 {
			return
		}
		for _, r := range tmpl.Refs() {
			if r.Off < 0 || r.Len <= 0 || r.Off+r.Len > len(src) {
				t.Fatalf("%q: reference outside the text: %+v", src, r)
			}
			again, problems := expr.ParseMarkdown("{{"+r.String()+"}}", page{})
			if strings.Contains(r.String(), "}}") || len(r.String()) > 900 { // a key that does not fit a placeholder
				continue
			}
			if refs := again.Refs(); len(problems) > 0 || len(refs) != 1 || standsFor(refs[0]) != standsFor(r) || refs[0].String() != r.String() {
				t.Fatalf("%q: %s became %v %v", src, r, refs, problems)
			}
		}
		if text, err := tmpl.Text(same(expr.Value{V: "x", Author: true})); err == nil && tmpl.Static() && !strings.Contains(src, `\`) && text != src {
			t.Fatalf("%q came back as %q", src, text)
		}
	})
}
