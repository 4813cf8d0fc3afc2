package expr_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// spelledNames are names that can tell misspellings of P and a: PP, PPP and aa.
type spelledNames struct{ names }

func (spelledNames) Misspelt(id string) []string {
	return map[string][]string{"PP": {"P"}, "PPP": {"OBJ", "P"}, "aa": {"a"}}[id]
}

func (spelledNames) IsText(id string) bool { return id == "TEXT" }

// TestMisspelt: a misspelled reference is an error wherever a reference could be, unless it is escaped or said to be
// text.
func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		shell    expr.Shell
		src      string
		problems string // each with its text and the beginning of its hint
		text     string // the result if there are no errors
	}{
		{expr.Plain, "x {PP} y", "expr-misspelt {PP} write {P};", ""},
		{expr.Bash, "echo {PP}", "expr-misspelt {PP} write {P};", ""},
		{expr.Argv, "echo {PP}", "expr-misspelt {PP} write {P};", ""},
		{expr.Plain, "{RAW:PP} {PP:trim}", "expr-misspelt {RAW:PP} write {RAW:P};, expr-misspelt {PP:trim} write {P:trim};", ""},
		{expr.Plain, "{PPP}", "expr-misspelt {PPP} write {OBJ} or {P};", ""},
		{expr.Plain, "{aa.output} {aa.json[0].x}", "expr-misspelt {aa.output} write {a.output};, expr-misspelt {aa.json[0].x} write {a.json[0].x};", ""},
		{expr.Plain, "{aa} {aa[0]}", "expr-misspelt {aa} write {a};, expr-misspelt {aa[0]} write {a[0]};", ""},
		{expr.Plain, "{DEBUG ? PP : ''}", "expr-misspelt PP write {P};", ""},
		{expr.Plain, "{DEBUG ? {PP} : aa.output}", "expr-misspelt {PP} write {P};, expr-misspelt aa.output write {a.output};", ""},
		{expr.Plain, "{PP ? 'x' : ''}", "expr-unknown PP put it", ""},
		{expr.Plain, "{DEBUG ? 'PP' : '{PP}'} {OTHER ? 'x' : ''}", "", "PP {OTHER ? 'x' : ''}"},
		{expr.Plain, "{{PP}} {{aa.output}} {{RAW:PP}}", "", "{PP} {aa.output} {RAW:PP}"},
		{expr.Plain, "${PP} {PP x} {{PP} { PP } {PP,PPP}", "expr-misspelt {PP} write {P};", ""},
		{expr.Plain, "{TEXT} {{TEXT}} {TEXT.output}", "", "{TEXT} {{TEXT}} {TEXT.output}"},
		{expr.Plain, "{OTHER} {{OTHER}}", "expr-undeclared {OTHER} declare, expr-undeclared {OTHER} declare", "{OTHER} {{OTHER}}"},
		{expr.Python, "print(f'{aa} {aa.x}')", "", ""},
		{expr.Python, "print({PP})", "expr-misspelt {PP} write {P};", ""},
	} {
		tmpl, problems := expr.ParseTemplate(c.src, c.shell, spelledNames{})
		var got []string
		for _, p := range problems {
			words := strings.Fields(p.Hint)
			hint := strings.Join(words[:min(2, len(words))], " ")
			if p.Warning {
				hint = words[0]
			} else if i := slices.Index(words, "or"); i == 2 {
				hint = strings.Join(words[:4], " ")
			}
			got = append(got, p.Code+" "+c.src[p.Off:p.Off+p.Len]+" "+hint)
		}
		if got := strings.Join(got, ", "); got != c.problems {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.problems)
		}
		if c.text != "" {
			if text, err := tmpl.Text(scope{"{DEBUG}": caller(true)}); text != c.text || err != nil {
				t.Errorf("%s: %q, want %q (%v)", c.src, text, c.text, err)
			}
		}
	}
}
