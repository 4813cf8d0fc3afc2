package expr_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// echo returns for every reference the text with which it was written.
type echo struct{}

func (echo) Lookup(r expr.Ref) (expr.Value, error) {
	return expr.Value{V: r.String(), Author: true}, nil
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "{P}", "{{P}}", "{{{P}}}", "${P}", "{P:trim}", "{P ? 'a' : 'b'}", "awk '{print $1}' {P}", `echo "{P}" '{P}' $(( {N} ))`, "cat <<EOF\n{P}\nEOF",
		"{RAW:P}", "{a.json[0].x}", "p `{P}`", "p ${v:-{P}}", "[[ {P} -eq 1 ]]", "p {P} # {P}", "a=({P})", "{P}", "{", "}", "{P", "é{P}", "$HOME{P}", "p \\{P}",
		"{a.b.c.d[", "declare -i x={P}", "{P:format(}))}", strings.Repeat("{", 100), strings.Repeat("$(", 100) + "{P}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, sh := range []expr.Shell{expr.Plain, expr.Argv, expr.Bash, expr.Sh, expr.Cmd, expr.PowerShell, expr.Python} {
			tmpl, problems := expr.ParseTemplate(src, sh, names{})
			for _, p := range problems {
				if p.Off < 0 || p.Len < 0 || p.Off+p.Len > len(src) || p.Message == "" {
					t.Fatalf("%q: problem outside the text: %+v", src, p)
				}
			}
			for _, r := range tmpl.Refs() {
				if r.Off < 0 || r.Off+r.Len > len(src) || !strings.Contains(src[r.Off:r.Off+r.Len], r.Root) {
					t.Fatalf("%q: reference outside the text: %+v", src, r)
				}
			}
			if len(errorsOf(problems)) > 0 {
				continue
			}
			tmpl.Display(echo{}, nil)
			render(t, tmpl, sh, src)
		}
	})
}

// render checks that values equal to their placeholders give the source back, and that a script never contains a
// value.
func render(t *testing.T, tmpl *expr.Template, sh expr.Shell, src string) {
	switch sh {
	case expr.Plain:
		text, err := tmpl.Text(echo{})
		if err == nil && !strings.ContainsAny(src, ":?") && !strings.Contains(src, "{{") && text != src {
			t.Fatalf("%q came back as %q", src, text)
		}
	case expr.Argv:
		_, _ = tmpl.Argv(echo{})
	case expr.Python:
		_, _ = tmpl.Script(echo{})
	default:
		const value = "a[$(touch PWNED)]"
		script, err := tmpl.Script(same(expr.Value{V: value, Author: true}))
		if err == nil && !strings.Contains(src, "RAW:") && strings.Contains(script.Text, "PWNED") && !strings.Contains(src, "PWNED") {
			t.Fatalf("%q: the value is in the script: %s", src, script.Text)
		}
		if tmpl.Static() && !strings.Contains(src, "{{") && script.Text != src {
			t.Fatalf("%q came back as %q", src, script.Text)
		}
	}
}

func FuzzCondition(f *testing.F) {
	for _, seed := range []string{
		"", "true", "{a.exit-code} == 0", "'{a.output}' === 'ok'", "success() && !failure()", "{P} in ['a', \"b\"]", "all({LIST}, {# == 'x'})", "{N} > 1 ? true : false",
		"null == nil", "{nope} == 1", "now()", "((((", "'", "{P} matches '['", "let x = 1; x", "1..1000000", "é == ü", "{a.json}.x?.y[0] ?? 1 == 1", "_r0", "#", "{", "-{N} ** 2 < 0",
		"if true { true } else { false }", "\x00", "a\n==\nb", "true | filter()", "0x", "1e", "{P}[0:1] == 'x'", "map({LIST}, #) == 1",
	} {
		f.Add(seed)
	}
	scopes := []expr.Scope{same{}, same{V: "5", Text: true}, same{V: 5}, same{V: []any{"x"}}, same{V: map[string]any{"x": 1.5}}, same{V: true}, scope{}}
	f.Fuzz(func(t *testing.T, src string) {
		c, problems := expr.ParseCondition(src, names{})
		for _, p := range problems {
			if p.Off < 0 || p.Len < 0 || p.Off+p.Len > len(src) || p.Message == "" {
				t.Fatalf("%q: problem outside the text: %+v", src, p)
			}
		}
		for _, sc := range scopes {
			yes, err := c.Eval(sc, expr.Status{})
			if len(problems) > 0 && err == nil && len(errorsOf(problems)) > 0 {
				t.Fatalf("%q: an invalid condition is %v", src, yes)
			}
			verdict, why := c.Explain(sc, expr.Status{})
			if why == "" && src != "" {
				t.Fatalf("%q: no reason", src)
			}
			if err == nil && (verdict == expr.True) != yes {
				t.Fatalf("%q: decided %v, explained %v", src, yes, verdict)
			}
		}
	})
}
