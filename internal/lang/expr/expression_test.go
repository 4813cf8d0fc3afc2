package expr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/google/go-cmp/cmp"
)

// TestRanges checks what is allowed at the ends of a range.
func TestRanges(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		v    expr.Value
		want any // a list, or the start of the error
	}{
		"text of a step":     {"1..{a.output}", output(" 3\n"), []int{1, 2, 3}},
		"text of a caller":   {"{P}..3", caller("2"), []int{2, 3}},
		"a number":           {"1..{N}", caller(json.Number("2")), []int{1, 2}},
		"a number with .0":   {"1..{a.json.n}", expr.Value{V: json.Number("2.0")}, []int{1, 2}},
		"a sum":              {"1..{N} + 1", caller(json.Number("2")), []int{1, 2, 3}},
		"from below":         {"-1..{N}", caller(json.Number("0")), []int{-1, 0}},
		"a word":             {"1..{a.output}", output("five"), "cannot make a range from or to 'five'"},
		"a broken number":    {"1..{N}", caller(json.Number("2.5")), "cannot make a range from or to 2.5"},
		"nothing":            {"1..{a.output}", expr.Value{}, "cannot make a range from or to null"},
		"empty text":         {"1..{a.output}", output(""), "cannot make a range from or to ''"},
		"more than there is": {"1..{N}", caller(json.Number("1e300")), "cannot make a range from or to a text of 301"},
	} {
		t.Run(name, func(t *testing.T) {
			e, problems := expr.ParseExpression(c.src, names{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got, err := e.Value(same(c.v))
			if says, refused := c.want.(string); refused {
				if err == nil || !strings.HasPrefix(err.Error(), says) {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestExpressionProblems checks that messages say "expression", not "condition", and have a hint.
func TestExpressionProblems(t *testing.T) {
	for src, want := range map[string]string{
		"":                          "expression is empty; write [a, b]",
		"a b":                       `invalid expression: unexpected "b"`,
		"a = 1":                     `invalid expression: unexpected "="; write == to compare`,
		"let x = 1; [x]":            "an expression cannot use let",
		"map([1], map([2], #))":     "an expression cannot nest",
		"1..len":                    "len is a function, but it is not called; write len(...)",
		"lne([1])":                  "unknown function lne()",
		"1..'x'":                    "invalid expression: ",
		strings.Repeat("1+", 10000): "expression is longer than",
	} {
		_, problems := expr.ParseExpression(src, names{})
		if len(problems) == 0 || !strings.HasPrefix(problems[0].Message+"; "+problems[0].Hint, want) {
			t.Errorf("%.40s: %v", src, problems)
		}
		if len(problems) > 0 && problems[0].Hint == "" {
			t.Errorf("%.40s: no way out: %v", src, problems)
		}
	}
}
