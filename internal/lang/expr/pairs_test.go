package expr_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestHostilePairs puts two values side by side. The first may turn the second into an operand that is evaluated: an
// option, an operator, the name of a builtin. Nothing may run, whichever values are accepted.
func TestHostilePairs(t *testing.T) {
	firsts := []string{"", "-v", "-eq", "!", "x", "eval", "printf", "declare", // one of each kind
		"-R", "-p", "-a", "-C", "(", "=", "command", "builtin", "exec", "test", "[", "let", "trap", "source", "read", "unset", "export", "time", "set", "alias", "mapfile", "wait", "--", "exit", "print"}
	seconds := []string{"x[$(touch F)]", "touch F", "x[$(touch F)]=1", "$(touch F)", "x=($(touch F))"}
	firsts, seconds = firsts[:sizetest.Of(8, len(firsts), len(firsts))], seconds[:sizetest.Of(2, len(seconds), len(seconds))]
	scripts := []string{
		`{A} {B}`, `{A} {B} {B}`, `{A} {A} {B}`, `"{A}" {B}`, `{LIST}`, `{LIST} {B}`, `x={A} {A} {B}`, `{A} -v {B}`, `{A} -v x {B}`, `{A} {B} EXIT`, `{X}{A} {B}`, `{X} {A} {B}`,
		`[ {A} {B} ]`, `[ {A} {B} x ]`, `[ x {A} {B} ]`, `[ ! {A} {B} ]`, `[ x = x -a {A} {B} ]`, `[ {A} {B} -a x = x ]`, `[ {LIST} ]`, `[ "{A}" "{B}" ]`, `test {A} {B}`, `test {LIST}`,
		`[ '(' {A} {B} ')' ]`, `[ {A} = {B} ]`, `[ {A} = {B} -o {B} = {A} ]`, `[ -n {A} -a {B} ]`,
		`printf {A} {B} x`, `printf {LIST}`, `printf -- {A} {B}`, `printf %s {A} {B}`, `command {A} {B}`, `command {LIST}`, `command -p {A} {B}`, `builtin {A} {B}`, `exec {A} {B}`,
		`wait {A} {B}`, `read {A} {B} </dev/null`, `read -t 0 {A} {B} </dev/null`, `unset {A} {B}`, `unset -v {B}`, `getopts {A} {B}`, `export {A} {B}`, `set {A} {B}`,
		`echo {A} {B}`, `cd {A} {B}`, `type {A} {B}`, `shift {A} {B}`, `return {A} {B}`, `kill {A} {B}`, `umask {B}`, `ulimit {B}`, `ulimit -n {B}`, `hash {A} {B}`, `let {A} {B}`,
		`mapfile {A} {B} </dev/null`, `declare {A} {B}`, `declare {A}={B}`, `local {A} {B}`, `enable {A} {B}`, `shopt {A} {B}`, `jobs {A} {B}`, `times {A}`, `caller {B}`, `compopt {A} {B}`,
		`v={B}; echo "$v" '$v'`, `for v in {A} {B}; do :; done`, `case {A} in {B}) ;; esac`, `f() { :; }; f {A} {B}`, `[[ {A} == {B} ]]`, `[[ {B} ]]`, `[[ -f {B} && {A} < {B} ]]`,
		`x=1; echo ${x:+{B}} "${x:+{B}}"`, `x=({A} {B}); echo ${#x[@]}`, `echo {1..{B}}`, `echo x >/dev/null {B}`, `: {B} <<<{B}`, `echo ~{B}`, `cat </dev/null 2>"{B}"`,
		`exec 3>&1; echo >&{B}`, `echo &>{B}`, `echo &>>{B}`, `echo >|{B}`, `cat <>{B}`, `cat <&{B}`, `echo 2>&{B}`, `echo {A}>&{B}`, `{ echo; } >>{B}`,
		`echo "${x:?{B}}"`, `: ${x?{B}}`, `x=a; echo "${x/a/{B}}" ${x/{B}} ${x^{B}} "${x,,{B}}" ${x%%{B}}`, `x=(a b); echo "${x[@]/a/{B}}" "${x[@]#{B}}"`, `declare -A m=([{B}]=1)`,
		`declare -A m; m[{B}]=1`, `printf '%d %(x)T' {B} {B}`, `read -n {B} v </dev/null`, `read -u {B} v`, `read -d {B} v </dev/null`, `mapfile -n {B} v </dev/null`, `mapfile -O {B} v </dev/null`,
		`source {B}`, `. ./{B}`, `exec -a {B} true`, `trap - {B}`, `history -s {B}`, `fc -s {B}`, `pushd {B}; dirs {B}`, `disown {B}`, `bg {B}; fg {B}; suspend {B}`, `HISTFILE={B}`, `IFS={B} x={B}; echo $x`,
		`PATH={B} true`, `x={B} y=$x; declare y; local z=$x`, `TMOUT={B}`, `LINES={B}`, `BASH_XTRACEFD={B}`, `POSIXLY_CORRECT={B}`, `GLOBIGNORE={B}; echo *`, `FUNCNEST={B}`, `COMP_WORDBREAKS={B}`,
		`HISTTIMEFORMAT={B}`, `PROMPT_DIRTRIM={B}`, `BASH_COMPAT={B}`, `EPOCHREALTIME={B}`, `BASH_ARGV0={B}`, `DIRSTACK={B}`, `DIRSTACK[1]={B}`, `GROUPS={B}`, `FUNCNAME={B}`, `BASH_ALIASES={B}`, `BASH_CMDS={B}`,
		`CHILD_MAX={B}`, `MAILCHECK={B}`, `TIMEFORMAT={B}; time :`, `OPTERR={B}`, `_={B}`, `echo $"x" "{B}"`, `coproc cat {B}; wait`, `select v in {B}; do break; done </dev/null`, `time {A} {B}`, `! {A} {B}`,
	}
	for _, sh := range []struct {
		program string
		shell   expr.Shell
	}{{"bash", expr.Bash}, {"bash", expr.Sh}, {"sh", expr.Sh}} {
		t.Run(fmt.Sprint(sh), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, src := range scripts {
				var batch []string
				for _, a := range firsts {
					for _, b := range seconds {
						batch = append(batch, pair(src, sh.shell, a, b))
					}
				}
				slices.Sort(batch)
				batch = slices.Compact(batch) // those without {A} are the same for every first
				cmd := exec.Command(sh.program, "-c", strings.Join(batch, ""))
				cmd.Dir = dir
				_ = cmd.Run()
				if _, err := os.Stat(filepath.Join(dir, "F")); err == nil {
					t.Errorf("%s: a value was executed", src)
					_ = os.Remove(filepath.Join(dir, "F"))
				}
			}
		})
	}
}

// pair renders one script in its own subshell, "" if the values are rejected.
func pair(src string, sh expr.Shell, a, b string) string {
	tmpl, problems := expr.ParseTemplate(src, sh, names{})
	if len(errorsOf(problems)) > 0 {
		return ""
	}
	author := func(v any) expr.Value { return expr.Value{V: v, Author: true} }
	script, err := tmpl.Script(scope{"{A}": author(a), "{B}": author(b), "{LIST}": author([]any{a, b}), "{X}": {Absent: true}})
	if err != nil {
		return ""
	}
	var text strings.Builder
	text.WriteString("(\n")
	for _, v := range script.Vars {
		fmt.Fprintf(&text, "%s=%s\n", v.Name, singleQuoted(v.Value))
	}
	text.WriteString(script.Text + "\n) >/dev/null 2>&1 </dev/null\n")
	return text.String()
}
