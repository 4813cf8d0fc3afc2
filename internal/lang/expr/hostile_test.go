package expr_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// hostileValues returns known attacks, and values generated from their parts. FILE in them is replaced by the name of a
// file that must not appear.
func hostileValues() []string {
	values := []string{
		"", " ", "a b", "'", `"`, `\`, `\\`, "`", "$", "$$", "${HOME}", "$HOME", "{HOME}", "{P}", "~", "*", "?", "[a]", "!", "!!", "#", "%s", "%n",
		"$(touch FILE)", "`touch FILE`", "a[$(touch FILE)]", "a[`touch FILE`]", "x[$(touch FILE)]=1", "[$(touch FILE)]=1",
		"'; touch FILE; '", `"; touch FILE; "`, "; touch FILE", "| touch FILE", "& touch FILE", "&& touch FILE", "\ntouch FILE\n", "\n",
		"'$(touch FILE)'", `"$(touch FILE)"`, `'"$(touch FILE)"'`, "${x:=$(touch FILE)}", "${x@P}", "$((a[$(touch FILE)]))", "$[a[$(touch FILE)]]",
		"($(touch FILE))", "(a $(touch FILE))", "<(touch FILE)", ">FILE", ">(touch FILE)", "<<EOF", "EOF", "EOF\ntouch FILE\n",
		"\\\ntouch FILE", "a\r", "a\r\n", "trailing\n", "trailing\n\n", "-n", "-e", "-v", "-eq", "-", "--", "--help", "-v\nx[$(touch FILE)]",
		"1;touch FILE", "1+a[$(touch FILE)]", "a=b[$(touch FILE)]", "0 ? 1 : b[$(touch FILE)]", "08", "-5", "1e3", "0x1f", "1.5",
		"é", "日本語", "\u202e", "\xff\xfe", "\x01\x7f", "\x1b[31m", "a\tb", "}", "})", "))", "]]", "fi", "done", "esac", ";;", "{a,b}", "{1..3}",
		"eval", "declare", "=", "a=b", "(", ")", "]", "&", ";", "#{", "$'\\x24(touch FILE)'", `$"x"`, "${", "$(", "`", "/dev/tcp/x", "@(a|b)", "+(x)", "&",
		strings.Repeat("x", 100<<10) + "$(touch FILE)",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"'", `"`, `\`, "`", "$(touch FILE)", "`touch FILE`", "a[", "]", "$((", "))", "${", "}", "\n", " ", ";", "&", "|", "<", ">",
		"(", ")", "x", "1", "-", "=", "+", "*", "?", "~", "!", "#", "%", "{", ",", "@P", "EOF", "é", "\t", "\r", "touch FILE", "\\\n", "$", "\xff"}
	for len(values) < 1100 {
		var b strings.Builder
		for range 1 + rng.IntN(8) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		values = append(values, b.String())
	}
	return values
}

// hostilePositions are templates that print every value they get, each followed by a NUL. got() is a program that does
// so.
var hostilePositions = []struct {
	name, script string
	bashOnly     bool
	guarded      bool // only numbers or names are accepted
}{
	{name: "bare", script: `p {X}`},
	{name: "mid-word", script: `f() { v=${1#pre}; p "${v%post}"; }; f pre{X}post`},
	{name: "double quotes", script: `p "{X}"`},
	{name: "single quotes", script: `p '{X}'`},
	{name: "after text in double quotes", script: `v="a $HOME {X}"; p "${v#"a $HOME "}"`},
	{name: "here-document", script: "v=$(cat <<EOF\n{X}.\nEOF\n); p \"${v%.}\""},
	{name: "here-document with tabs", script: "v=$(cat <<-EOF\n\t{X}.\n\tEOF\n); p \"${v%.}\""},
	{name: "substitution", script: `v=$(printf %s. {X}); p "${v%.}"`},
	{name: "nested substitution", script: `v="$(printf %s. "$(printf '%s.' '{X}')")"; p "${v%..}"`},
	{name: "substitution in a here-document", script: "v=$(cat <<EOF\n$(printf '%s.' \"{X}\")\nEOF\n); p \"${v%.}\""},
	{name: "assignment", script: `v={X}; p "$v"`},
	{name: "assignment before a command", script: `v={X} sh -c 'printf "%s\0" "$v"'`},
	{name: "export", script: `export v={X}; p "$v"`},
	{name: "export in quotes", script: `export "v={X}"; p "$v"`},
	{name: "local", script: `f() { local v={X}; p "$v"; }; f`},
	{name: "for", script: `for v in {X}; do p "$v"; done`},
	{name: "case word", script: `case {X} in *) p {X};; esac`},
	{name: "case pattern", script: `v={X}; case "$v" in {X}) p {X};; esac`},
	{name: "case pattern in quotes", script: `v={X}; case "$v" in "{X}") p {X};; esac`},
	{name: "test", script: `v={X}; if [ "$v" = {X} ]; then p "$v"; fi`},
	{name: "test alone", script: `[ -n "{X}" ]; p "{X}"`},
	{name: "redirect", script: `(p x >"$D/{X}") 2>/dev/null; p {X}`},
	{name: "default", script: `unset u; p "${u:-{X}}"`},
	{name: "default, bare", script: `unset u; p ${u:-{X}}`},
	{name: "assign default", script: `unset u; : "${u:={X}}"; p "$u"`},
	{name: "prefix pattern", script: `v={X}.; v2=${v#{X}}; p {X}; [ "$v2" = . ] || p mismatch`},
	{name: "prefix pattern in quotes", script: `v={X}.; v2="${v#{X}}"; p {X}; [ "$v2" = . ] || p mismatch`},
	{name: "set", script: `set -- {X}; p "$1"`},
	{name: "subshell", script: `( p {X} )`},
	{name: "function", script: `f() { p "{X}"; }; f`},
	{name: "pipe", script: `p {X} | cat`},
	{name: "comment", script: "p {X} # {X} `{X}` $({X})\n"},
	{name: "array", script: `v=({X}); p "${v[@]}"`, bashOnly: true},
	{name: "array element", script: `v[1]={X}; p "${v[1]}"`, bashOnly: true},
	{name: "array append", script: `v=(a); v+=({X}); p "${v[1]}"`, bashOnly: true},
	{name: "associative array", script: `declare -A v; v=([k]={X}); p "${v[k]}"`, bashOnly: true},
	{name: "here-string", script: `v=$(cat <<<{X}; printf .); p "${v%??}"`, bashOnly: true},
	{name: "extended test", script: `v={X}; [[ $v == {X} ]] && p {X}`, bashOnly: true},
	{name: "extended test in quotes", script: `v={X}; [[ "$v" == "{X}" ]] && p "$v"`, bashOnly: true},
	{name: "regular expression", script: `v={X}; [[ $v =~ {X} ]]; p "$v"`, bashOnly: true},
	{name: "replacement", script: `v=qaq; r=${v/a/{X}}; r=${r#q}; p "${r%q}"`, bashOnly: true},
	{name: "replacement in quotes", script: `v=qaq; r="${v/a/{X}}"; r=${r#q}; p "${r%q}"`, bashOnly: true},
	{name: "process substitution", script: `IFS= read -rd '' v < <(printf '%s\0' {X}); p "$v"`, bashOnly: true},
	{name: "printf -v", script: `printf -v v %s {X}; p "$v"`, bashOnly: true},

	{name: "arithmetic", script: `p "$(( {X} ))"`, guarded: true},
	{name: "arithmetic in quotes", script: `p $(( "{X}" + 0 ))`, guarded: true, bashOnly: true},
	{name: "test -eq", script: `[ {X} -eq 1 ]; p {X}`, guarded: true},
	{name: "unset", script: `unset {X}; p {X}`, guarded: true},
	{name: "read", script: `read -r {X} </dev/null; p {X}`, guarded: true},
	{name: "export name", script: `export {X}; p {X}`, guarded: true},
	{name: "exit", script: `(exit {X}); p {X}`, guarded: true},
	{name: "double parentheses", script: `(({X} > 1)); p {X}`, guarded: true},
	{name: "dollar bracket", script: `v=$[ {X} ]; p {X}`, guarded: true},
	{name: "let", script: `let "v = {X}"; p {X}`, guarded: true},
	{name: "let bare", script: `let v={X}; p {X}`, guarded: true},
	{name: "test -v, sh", script: `[ -v {X} ]; p {X}`, guarded: true},
	{name: "extended test, sh", script: `[[ {X} -eq 1 ]]; p {X}`, guarded: true},
	{name: "command", script: `{X} 'a[$(touch F)]' 2>/dev/null; p {X}`},
	{name: "command after builtin", script: `command {X} 'a[$(touch F)]' 2>/dev/null; p {X}`},
	{name: "echoed into arithmetic", script: `v=$(( $(echo {X}) )); p {X}`, guarded: true},
	{name: "operator of test", script: `[ {X} 'a[$(touch F)]' ] 2>/dev/null; p {X}`},
	{name: "option of printf", script: `printf {X} 'a[$(touch F)]' >/dev/null 2>&1; p {X}`},
	{name: "RANDOM", script: `RANDOM={X}; p {X}`, guarded: true, bashOnly: true},
	{name: "OPTIND", script: `OPTIND={X}; p {X}`, guarded: true, bashOnly: true},
	{name: "declare -i", script: `declare -i n={X}; p {X}`, guarded: true, bashOnly: true},
	{name: "declared earlier", script: `declare -i n; n={X}; p {X}`, guarded: true, bashOnly: true},
	{name: "declare -a", script: `declare -a n={X}; p "$n"`, bashOnly: true},
	{name: "local array", script: `f() { local -a n={X}; p "$n"; }; f`, bashOnly: true},
	{name: "declare again", script: `declare -a n; declare n={X}; p "$n"`, bashOnly: true},
	{name: "declare -n", script: `declare -n n={X}; p {X}`, guarded: true, bashOnly: true},
	{name: "subscript", script: `v[{X}]=1; p {X}`, guarded: true, bashOnly: true},
	{name: "subscript read", script: `v=(1); p "${v[{X}]}" >/dev/null; p {X}`, guarded: true, bashOnly: true},
	{name: "substring", script: `v=abc; p "${v:{X}}" >/dev/null; p {X}`, guarded: true, bashOnly: true},
	{name: "substring length", script: `v=abcdefgh; p "${v:0:{X}}" >/dev/null; p {X}`, guarded: true, bashOnly: true},
	{name: "for arithmetic", script: `for ((i={X}; i<0; i++)); do :; done; p {X}`, guarded: true, bashOnly: true},
	{name: "extended -eq", script: `[[ {X} -eq 1 ]]; p {X}`, guarded: true, bashOnly: true},
	{name: "extended -v", script: `[[ -v {X} ]]; p {X}`, guarded: true, bashOnly: true},
	{name: "test -v", script: `test -v {X}; p {X}`, guarded: true, bashOnly: true},
	{name: "printf -v name", script: `printf -v {X} %s a; p {X}`, guarded: true, bashOnly: true},
	{name: "mapfile", script: `mapfile {X} </dev/null; p {X}`, guarded: true, bashOnly: true},
	{name: "read -a", script: `read -ra {X} </dev/null; p {X}`, guarded: true, bashOnly: true},
	{name: "getopts", script: `getopts ab {X}; p {X}`, guarded: true, bashOnly: true},
	{name: "array index", script: `v=([{X}]=1); p {X}`, guarded: true, bashOnly: true},
	{name: "coproc redirect", script: `exec 3<>"$D/r{X}" 2>/dev/null; p {X}`, bashOnly: true},
}

// known is the number of hostileValues that are not generated.
const known = 120

// sample returns the known attacks and, in the long size of tests, all generated values. In the smaller sizes a position
// that starts processes gets fewer of these, because a process costs a millisecond. Patterns do not get the long value,
// because a shell needs seconds to match it.
func sample(script string, values []string) []string {
	every := sizetest.Of(20, 1, 1)
	if strings.Contains(script, "(p") || strings.Contains(script, "$(") || strings.Contains(script, "| ") ||
		strings.Contains(script, "<(") || strings.Contains(script, "sh -c") || strings.Contains(script, "command") {
		every = sizetest.Of(50, 8, 1)
	}
	var out []string
	for i, v := range values {
		if i > known && i%every != 0 || strings.Contains(script, "#{X}") && len(v) > 1000 {
			continue
		}
		out = append(out, v)
	}
	return out
}

func TestHostileValuesInShells(t *testing.T) {
	values := hostileValues()
	for _, sh := range []struct {
		program string
		shell   expr.Shell
	}{{"bash", expr.Bash}, {"sh", expr.Sh}, {"bash --posix", expr.Sh}}[:sizetest.Of(2, 3, 3)] {
		program := strings.Fields(sh.program)
		needtest.Programs(t, program[0])
		for _, pos := range hostilePositions {
			if pos.bashOnly && sh.shell == expr.Sh {
				continue
			}
			t.Run(sh.program+"/"+pos.name, func(t *testing.T) {
				t.Parallel()
				tmpl, problems := expr.ParseTemplate(pos.script, sh.shell, names{})
				if errs := errorsOf(problems); len(errs) > 0 {
					if sh.shell == expr.Sh && pos.guarded {
						return // rejected when the template is parsed, which is as good
					}
					t.Fatalf("%s: %v", pos.script, errs)
				}
				runHostile(t, program, tmpl, sample(pos.script, values), pos.guarded)
			})
		}
	}
}

// runHostile sends all values through one template, many in one process, and compares what arrives.
func runHostile(t *testing.T, program []string, tmpl *expr.Template, values []string, guarded bool) {
	dir := t.TempDir()
	var want []string
	refused := 0
	var batch bytes.Buffer
	flush := func() {
		if batch.Len() > 0 {
			checkBatch(t, program, dir, batch.String(), want)
		}
		batch.Reset()
		want = nil
	}
	for i, v := range values {
		v = strings.ReplaceAll(v, "FILE", filepath.Join(dir, "F"))
		script, err := tmpl.Script(same(expr.Value{V: v, Author: true, Delimiter: " "}))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "cannot ") {
				t.Errorf("%q: refused without a reason: %v", v, err)
			}
			refused++
			continue
		}
		if strings.Contains(script.Text, "touch "+dir) {
			t.Fatalf("the value is in the text: %s", script.Text)
		}
		for _, va := range script.Vars {
			fmt.Fprintf(&batch, "%s=%s\n", va.Name, singleQuoted(va.Value))
		}
		fmt.Fprintf(&batch, "%s\nprintf 'END\\0'\n", script.Text)
		if v != "" || !strings.Contains(script.Text, "p \n") {
			want = append(want, v)
		}
		if i%400 == 399 {
			flush()
		}
	}
	flush()
	if refused > len(values)/3 && !guarded {
		t.Errorf("%d of %d values refused", refused, len(values))
	}
	if guarded && refused == 0 {
		t.Error("nothing refused")
	}
}

// TestLargeAndHostileValuesInRun sends the values, and one of a MiB, through a run: command. There is no shell, so
// they must arrive unchanged.
func TestLargeAndHostileValuesInRun(t *testing.T) {
	tmpl, problems := expr.ParseTemplate(`prog {X} "a {X}" --x={X} -- {X}`, expr.Argv, names{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, v := range append(hostileValues(), strings.Repeat("$(x)'", 1<<18)) {
		argv, err := tmpl.Argv(same(expr.Value{V: v, Caller: true}))
		if strings.HasPrefix(v, "-") {
			if err == nil {
				t.Errorf("%q: a leading dash got through", v)
			}
			continue
		}
		if want := []string{"prog", v, "a " + v, "--x=" + v, "--", v}; err != nil || !slices.Equal(argv, want) {
			t.Errorf("%.80q: got %.200q, %v", v, argv, err)
		}
	}
}

func singleQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func checkBatch(t *testing.T, program []string, dir, batch string, want []string) {
	t.Helper()
	file := filepath.Join(dir, "batch")
	batch = "p() { printf '%s\\0' \"$@\"; }\ncd \"$D\" || exit\n" + batch
	if err := os.WriteFile(file, []byte(batch), 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program[0], append(program[1:], file)...)
	cmd.Env = append(os.Environ(), "D="+work, "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	if _, err := os.Stat(filepath.Join(dir, "F")); err == nil {
		t.Fatal("a value was executed")
	}
	if _, err := os.Stat(filepath.Join(work, "F")); err == nil {
		t.Fatal("a value was executed")
	}
	got := strings.Split(strings.TrimSuffix(string(out), "END\x00"), "END\x00")
	if len(got) != len(want) {
		t.Fatalf("%d values sent, %d arrived\n%s", len(want), len(got), firstLines(stderr.String()))
	}
	for i := range want {
		lines := strings.Split(strings.TrimSuffix(got[i], "\x00"), "\x00")
		if last := lines[len(lines)-1]; last != want[i] && !sumOf(want[i], last) {
			t.Errorf("sent %.80q\n got %.80q", want[i], got[i])
		}
	}
}

// sumOf reports whether arithmetic printed the number, in any spelling.
func sumOf(sent, got string) bool {
	return strings.TrimLeft(strings.TrimPrefix(sent, "-"), "0") == strings.TrimLeft(strings.TrimPrefix(got, "-"), "0")
}

func firstLines(s string) string {
	lines := strings.SplitN(s, "\n", 6)
	return strings.Join(lines[:min(5, len(lines))], "\n")
}
