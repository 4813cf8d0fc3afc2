package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// TestSyntaxProblems: scripts without placeholders are checked too, in the words of a shell, and what some shell may
// accept is not refused.
func TestSyntaxProblems(t *testing.T) {
	for _, c := range []struct {
		shell expr.Shell
		src   string
		want  string // the offset, the message, and "warning"
	}{
		{expr.Bash, "echo \"abc", "5 bash syntax error: unclosed quote"},
		{expr.Bash, "echo a\necho 'abc\n", "12 bash syntax error: unclosed quote"},
		{expr.Bash, "echo `date", "5 bash syntax error: unclosed backquote"},
		{expr.Bash, "echo $(date\n", "5 bash syntax error: unclosed `$(`, `)` is missing"},
		{expr.Bash, "echo ${x\n", "8 bash syntax error: unclosed `${`"},
		{expr.Bash, "(echo }", "0 bash syntax error: unclosed `(`, `)` is missing"},
		{expr.Bash, "if true; then\n", "9 bash syntax error: `then` must be followed by a command"},
		{expr.Bash, "if true; then echo", "0 bash syntax error: `if` must end with `fi`"},
		{expr.Bash, "for i in a b; echo $i; done", "0 bash syntax error: `for` must be followed by `do`"},
		{expr.Bash, "case a in\n", "0 bash syntax error: `case` must end with `esac`"},
		{expr.Bash, "function f\n", "0 bash syntax error: the name of a function must be followed by its commands"},
		{expr.Bash, "echo )", "5 bash syntax error: unexpected `)`"},
		{expr.Bash, "ls |\n", "3 bash syntax error: `|` must be followed by a command"},
		{expr.Bash, "&& ls", "0 bash syntax error: `&&` can only immediately follow a statement"},
		{expr.Bash, "fi", "0 bash syntax error: `fi` can only be used to end an `if`"},
		{expr.Sh, "echo 'x", "5 sh syntax error: unclosed quote"},
		{expr.Bash, "cat <<EOF\nabc\n", "4 bash syntax error: unclosed here-document `EOF` warning"},
		// What bash accepts, although the parser does not.
		{expr.Bash, "((echo a); echo b)", ""},
		{expr.Bash, "declare -A m=([a b]=1)", ""},
		// What sh accepts where it is bash.
		{expr.Sh, "a=(1 2); cat <(ls); function f { ls; }; [[ a == b ]]", ""},
		{expr.Bash, "a=(1 2); cat <(ls); function f { ls; }; [[ a == b ]]", ""},
		{expr.Bash, "", ""},
		{expr.Bash, "# a comment's quote", ""},
		{expr.Bash, "awk '{print $1}' x | jq '.[] | {a: .b}' && echo {1..3} ${A:-b}", ""},
		// Others are not parsed: languages of their own, and scripts with placeholders, where ParseTemplate finds the errors.
		{expr.Python, "print('a", ""},
		{expr.PowerShell, "echo 'a", ""},
		{expr.Plain, "echo 'a", ""},
		{expr.Bash, "echo {P} 'a", ""},
		{expr.Bash, strings.Repeat("(", 100_000), ""},
	} {
		tmpl, _ := expr.ParseTemplate(c.src, c.shell, names{})
		got := ""
		for _, p := range tmpl.SyntaxProblems(c.src) {
			got = fmt.Sprint(p.Off, " ", p.Message)
			if p.Warning {
				got += " warning"
			}
		}
		if got != c.want {
			t.Errorf("%.50q:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}
