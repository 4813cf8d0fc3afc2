package lookahead_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/lookahead"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// inside returns the Ends of a text inside an object with a text a, a number b and a list c. The text has marks, |, whose
// positions it returns too.
func inside(text string) (d *lookahead.Ends, marks []int) {
	for i := strings.IndexByte(text, '|'); i >= 0; i = strings.IndexByte(text, '|') {
		marks, text = append(marks, i), text[:i]+text[i+1:]
	}
	words := schema.Text()
	s := &schema.Schema{Types: []string{"object"}, Properties: []schema.Property{
		{Name: "a", Schema: words}, {Name: "b", Schema: &schema.Schema{Types: []string{"number"}}}, {Name: "c", Schema: schema.ArrayOf(words)},
	}}
	b := token.NewBudget(len(text))
	ends := lookahead.New(node.Source{Text: text}, &report.Report{Call: schema.Call{Root: s}}, &b)
	ends.Open = append(ends.Open, lookahead.Frame{Closer: '}', Schema: s})
	return &ends, marks
}

// TestContinues: after a value there is a comma and a name, a closing bracket, or a name.
func TestContinues(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a": "x"|, "b": 1}`: true, `{"a": "x"|}`: true, `{"a": "x"| "b": 1}`: true, `{"a": "x"|, and}`: false, `{"a": "x"| and}`: false,
		`{"a": "x"|]`: false, `{"a": "x"|, b: 1}`: true, `{"a": "x"|`: true, `{"a": "x"|, ...}`: true,
	} {
		d, at := inside(text)
		if got := d.Continues(at[0]); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestClosingQuote: of a text with unescaped quotes, the second mark is the end; without it, the text has several readings.
func TestClosingQuote(t *testing.T) {
	for _, text := range []string{
		`{"a": "|say "x" now|"}`, `{"a": "|say "x", then "y"|", "b": 1}`,
		`{"a": "|5" wide|"}`, `{"a": "|say "x now"}`, `{"a": "|x|", "b": 1, "y"}`,
		`{"a": "|x" + "y"}`,
	} {
		d, at := inside(text)
		q := d.QuoteAt(at[0] - 1)
		end, size := d.NextClose(q, at[0])
		end, size = d.ClosingQuote(schema.Text(), q, at[0], end, size)
		if found := size > 0; found != (len(at) == 2) || found && end != at[1] || found == (d.Bad != nil) {
			t.Errorf("%s: %d, %d, %+v", text, end, size, d.Bad)
		}
	}
}

// TestBareText: an unquoted text ends at the second mark; without it, it has several ends.
func TestBareText(t *testing.T) {
	for _, text := range []string{
		`{a: |x y|, b: 1}`, `{a: |x, y|}`, `{a: |it's|}`, `{a: |x b: 1}`,
		`{a: |x "y"}`, `{a: |x` + "\n" + `y}`, `{a: |f(x)}`, `{a: |x, b}`,
	} {
		d, at := inside(text)
		if end, ok := d.BareText(at[0]); ok != (len(at) == 2) || ok && end != at[1] || ok == (d.Bad != nil) {
			t.Errorf("%s: %d, %v, %+v", text, end, ok, d.Bad)
		}
	}
}

// TestNames: a name needs a separator; one with damaged quotes must be declared too.
func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		`{|"a": 1`: "a", `{|a: 1`: "a", `{|x = 1`: "x", `{|"a" 1`: "a", `{|"x" 1`: "", `{|a": "x`: "a", `{|x": 1`: "", `{|“a": 1`: "a",
		`{|1: 2`:       "",
		`{|"a and": 1`: "a and", `{|""a"": 1`: "a", `{|:a => 1`: "a",
	} {
		d, at := inside(text)
		if got, ok := d.KeyAt(at[0]); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, ok, want)
		}
	}
}
