package expr_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

func BenchmarkParseTemplate(b *testing.B) {
	for _, bench := range []struct {
		name, src string
		sh        expr.Shell
	}{
		{"static", "git clone https://example.com/repo.git && make -j4 all", expr.Bash},
		{"static braces", `awk '{print $1}' f | jq '.[] | {a: .b}'`, expr.Bash},
		{"bash", "git clone {P} && make", expr.Bash},
		{"sh", "git clone {P} && make", expr.Sh},
		{"run", "git clone {P}", expr.Argv},
		{"script", strings.Repeat("if [ -d \"{P}/.git\" ]; then\n  echo \"found {P}\"\nfi\n", 20), expr.Bash},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				expr.ParseTemplate(bench.src, bench.sh, names{})
			}
		})
	}
}

func BenchmarkScript(b *testing.B) {
	tmpl, _ := expr.ParseTemplate(`git clone {P} "{A}" && make`, expr.Bash, names{})
	sc := same(caller("value"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Script(sc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseCondition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		expr.ParseCondition("{a.exit-code} == 0", names{})
	}
}

func BenchmarkEval(b *testing.B) {
	c := condition(b, "{a.exit-code} == 0")
	sc := same(expr.Value{V: 0})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Eval(sc, expr.Status{}); err != nil {
			b.Fatal(err)
		}
	}
}
