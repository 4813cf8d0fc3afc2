package expr_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// picture draws a problem under the line it is about.
func picture(src string, p expr.Problem) string {
	start := strings.LastIndexByte(src[:p.Off], '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	severity := "error"
	if p.Warning {
		severity = "warning"
	}
	carets := strings.Repeat("^", max(1, min(p.Len, len(line)-(p.Off-start))))
	text := fmt.Sprintf("%s\n%s%s\n%s[%s]: %s\n", line, strings.Repeat(" ", p.Off-start), carets, severity, p.Code, p.Message)
	if p.Hint != "" {
		text += "  help: " + p.Hint + "\n"
	}
	return text + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run go test -update if this is right:\n%s", diff)
	}
}

func TestConditionProblems(t *testing.T) {
	var b strings.Builder
	for _, src := range []string{
		"", "{a.exit-code} ==", "({a.exit-code} == 0", "{a.exit-code} == 'ok'", "{nope.exit-code} == 0", "{a.exitcode} == 0", "{a} == 0",
		"prod == {P}", "{P} == prod", "P == 'x'", "a.exit-code == 0", "{P} == 5", "{N} == 'five'", "{DEBUG} == 'true'", "{LIST} == 'x'", "{DEBUG} > true",
		"now() > 5", "{a.exit-code}", "'text'", "{N} && true", "{P} matches '['", "let x = 1; x == 1", "all([1], any([2], true))", "repeat('x', 9) == ''",
		"success(1)", "_r0 == 1", "$env == nil", "{a.json.x} == 1 && é == 2", "'é' == 'é' && {a.nope} == 1", "_ref(1, 2)", "{P.x} == 1", "{env} == 1", "1 == 2 == true && x",
		"always", "success && true", "{a.exit-code} == 0 || failure", "len == 1", "filter", "sucess()", "{N} in 1..'x'",
		"${a.output} == 'yes'", "'yes' == \"${a.output}\"", "test {a.output} = yes", "grep -q x {a.output}", "{a.output} {P} == 1", "'x' '{P}'", "{P} matches '^\\d+$'",
		"{P} matches '\\é'", "{P} == '\\x'", "{OBJ}.{P} == 1",
	} {
		_, problems := expr.ParseCondition(src, names{})
		if len(problems) == 0 {
			t.Errorf("%s: no problem", src)
		}
		for _, p := range problems {
			if strings.Contains(p.Message+p.Hint, "_r") && !strings.Contains(src, "_r") {
				t.Errorf("%s: an internal name in %q, %q", src, p.Message, p.Hint)
			}
			b.WriteString(picture(src, p))
		}
	}
	golden(t, "conditions.txt", b.String())
}

func TestTemplateProblems(t *testing.T) {
	var b strings.Builder
	for _, test := range []struct {
		sh  expr.Shell
		src string
	}{
		{expr.Plain, "{P:nope}"}, {expr.Plain, "{P:trim:format(Q)}"}, {expr.Plain, "{a.outptu}"}, {expr.Plain, "{a}"}, {expr.Plain, "{P.field}"},
		{expr.Plain, "{RAW:a.output}"}, {expr.Plain, "{UNDECLARED} {nope.output}"}, {expr.Plain, "{P == 5 ? 'a' : 'b'}"}, {expr.Plain, "{env.a.b}"},
		{expr.Argv, `prog "{P}`}, {expr.Argv, `prog \`}, {expr.Argv, `  `},
		{expr.Bash, `eval "x {P}"`}, {expr.Bash, "trap 'echo {P}' EXIT"}, {expr.Bash, `alias x={P}`}, {expr.Bash, "v=`echo {P}`"},
		{expr.Bash, "cat <<'EOF'\n{P}\nEOF"}, {expr.Bash, `echo $'a{P}'`}, {expr.Bash, `echo $"a{P}"`}, {expr.Bash, `PS4={P}`}, {expr.Bash, `{P}() { :; }`},
		{expr.Bash, `echo ${{P}}`}, {expr.Bash, `{P}=x`}, {expr.Bash, `for {P} in a; do :; done`}, {expr.Bash, `if {P}; then`}, {expr.Bash, `echo \{P}`},
		{expr.Bash, `echo "${v:-'{P}'}"`}, {expr.Bash, `mapfile -C {P} v`}, {expr.Bash, `eval "$(echo {P})"`}, {expr.Bash, `source <(echo {P})`}, {expr.Bash, `. /dev/stdin <<<{P}`},
		{expr.Bash, `case x in @({P}|y)) ;; esac`}, {expr.Bash, "cat <<{P}\nx\n{P}"}, {expr.Bash, `command eval {P}`}, {expr.Bash, `\eval {P}`}, {expr.Bash, `'ev'al {P}`},
		{expr.Bash, `declare x[{P}]=1 "y[{P}]=1"`}, {expr.Bash, `compgen -W {P}`}, {expr.Bash, `coproc {P} { :; }`}, {expr.Bash, `"{P}"$x a`}, {expr.Bash, `{CMD} eval {P}`},
		{expr.Sh, `(({P} > 1))`}, {expr.Sh, `echo $[ {P} ]`}, {expr.Sh, `a[{P}]=x`}, {expr.Sh, `echo $'{P}'`}, {expr.Sh, `a=({P})`},
		{expr.Bash, `python3 -c "print('{P}')"`}, {expr.Bash, `awk '{print "{P}"}' f`}, {expr.Bash, `ssh host "ls {P}"`}, {expr.Bash, `find . | xargs sh -c 'echo {P}'`},
		{expr.Bash, `jq '.{P}' f`}, {expr.Bash, "bash <<EOF\necho {P}\nEOF"}, {expr.Bash, `n={P}; echo $((n + 1))`}, {expr.Bash, `n={N}; echo $((n + 1))`},
	} {
		_, problems := expr.ParseTemplate(test.src, test.sh, names{})
		if len(problems) == 0 && !strings.Contains(test.src, "{N}") {
			t.Errorf("%s: no problem", test.src)
		}
		for _, p := range problems {
			b.WriteString(picture(test.src, p))
		}
	}
	golden(t, "templates.txt", b.String())
}
