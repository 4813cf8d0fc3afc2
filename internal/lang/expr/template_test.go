package expr_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

func TestReferences(t *testing.T) {
	for _, test := range []struct {
		src  string
		want []string
	}{
		{"plain", nil},
		{"{P}", []string{"{P}"}},
		{"{OUTPUT-FORMAT}", []string{"{OUTPUT-FORMAT}"}},
		{"{a.output} {a.exit-code}", []string{"{a.output}", "{a.exit-code}"}},
		{"{a.b.output}", []string{"{a.b.output}"}}, // the longest id: step a.b
		{"{a.json[0].x.y}", []string{"{a.json[0].x.y}"}},
		{"{env.HOME}", []string{"{env.HOME}"}},
		{"{RAW:P}", []string{"{RAW:P}"}},
		{"{P:trim:urlencode}", []string{"{P}"}},
		{"{DEBUG ? '--debug' : ''}", []string{"{DEBUG}"}},
		{"{P == 'x' && a.exit-code == 0 ? {A} : B}", []string{"{P}", "{a.exit-code}", "{A}", "{B}"}},
		{"{{P}}", nil},
		{"${P} $P awk '{print $1}'", nil},
		{`{"key": {"P": 1}} .[] | {a: .b} map({author: .[0].x})`, nil},
		{"find . -exec rm {} \\;", nil},
		{"*.{js,ts} {1..3} f() { echo hi; }", nil},
		{"{unknown} {nope.output}", nil},
		{"{P", nil},
		{"{ P }", nil},
		{"{x ? 'a' : 'b'}", nil},
		{"{{{P}", []string{"{P}"}},
	} {
		tmpl, _ := expr.ParseTemplate(test.src, expr.Plain, names{})
		var got []string
		for _, r := range tmpl.Refs() {
			got = append(got, r.String())
			if text := test.src[r.Off : r.Off+r.Len]; strings.Trim(r.String(), "{}") != strings.Trim(text, "{}") && !strings.Contains(text, ":") {
				t.Errorf("%s: %s is placed at %q", test.src, r, text)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.src, diff)
		}
	}
}

func TestText(t *testing.T) {
	sc := scope{
		"{P}": caller("a {HOME} b"), "{N}": caller(json.Number("5")), "{LIST}": caller([]any{"x", map[string]any{"k": "<v>"}, 2.0}),
		"{OBJ}": caller(map[string]any{"b": 1.5, "a": "é&"}), "{a.output}": output("out"), "{b.output}": output(nil),
		"{DEBUG}": caller(true), "{env.HOME}": output("/root"), "{A}": {Absent: true},
	}
	for _, test := range []struct{ src, want string }{
		{"", ""},
		{"no holes", "no holes"},
		{"[{P}]", "[a {HOME} b]"},
		{"{{P}} ${P} {UNDECLARED}", "{P} ${P} {UNDECLARED}"},
		{"{N} {N:format(0000)} {N:format(F2)}", "5 0005 5.00"},
		{"{LIST}", `x {"k":"<v>"} 2`},
		{"{OBJ}", `{"a":"é&","b":1.5}`},
		{"{a.output}{b.output}.", "out."},
		{"{DEBUG} {DEBUG ? 'yes' : 'no'} {N > 4 ? 'big' : 'small'}", "true yes big"},
		{"{P:uppercase:urlencode}", "A%20%7BHOME%7D%20B"},
		{"{env.HOME}/x", "/root/x"},
		{"<{A}>", "<>"},
		{"{DEBUG ? {a.output} : P}", "out"},
	} {
		tmpl, problems := expr.ParseTemplate(test.src, expr.Plain, names{})
		if errs := errorsOf(problems); len(errs) > 0 {
			t.Errorf("%s: %v", test.src, errs)
		}
		got, err := tmpl.Text(sc)
		if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.src, got, err, test.want)
		}
	}
}

func TestValueKeepsItsType(t *testing.T) {
	sc := scope{"{N}": caller(int64(5)), "{LIST}": caller([]any{"a", "b"}), "{A}": {Absent: true}}
	for src, want := range map[string]any{"{N}": int64(5), "{LIST}": []any{"a", "b"}, "{LIST:uppercase}": []any{"A", "B"}, "n={N}": "n=5", "{A}": nil, "x": "x"} {
		tmpl, _ := expr.ParseTemplate(src, expr.Plain, names{})
		got, err := tmpl.Value(sc)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", src, err, diff)
		}
	}
}

func TestNumberText(t *testing.T) {
	for _, test := range []struct {
		v    any
		want string
	}{
		{5, "5"}, {int64(-7), "-7"}, {3.0, "3"}, {1.5, "1.5"}, {1e21, "1000000000000000000000"}, {1e-7, "0.0000001"},
		{json.Number("1.0"), "1.0"}, {json.Number("1e3"), "1e3"}, {json.Number("3.10"), "3.10"}, {json.Number("123456789012345678901"), "123456789012345678901"},
		{true, "true"}, {nil, ""},
	} {
		tmpl, _ := expr.ParseTemplate("{P}", expr.Plain, names{})
		if got, _ := tmpl.Text(same(expr.Value{V: test.v})); got != test.want {
			t.Errorf("%v: got %s, want %s", test.v, got, test.want)
		}
	}
}

func TestArgv(t *testing.T) {
	sc := scope{
		"{P}": caller("a b"), "{LIST}": caller([]any{"x y", "z"}), "{A}": {Absent: true}, "{B}": caller(""),
		"{X}": {V: "", Author: true}, "{a.output}": output(""), "{DEBUG}": {V: true, Format: format(t, "{value ? '--debug -v' : ''}")},
		"{N}": {V: int64(-5), Caller: true, AllowDash: true}, "{COUNT}": {V: 5, Format: format(t, "--count={value}")},
	}
	for _, test := range []struct {
		src  string
		want []string
	}{
		{`prog a 'b c' "d e" f\ g "q\"q" '' C:\\x "C:\dir"`, []string{"prog", "a", "b c", "d e", "f g", `q"q`, "", `C:\x`, `C:\dir`}},
		{`prog {P}`, []string{"prog", "a b"}},
		{`prog {LIST}`, []string{"prog", "x y", "z"}},
		{`prog pre{LIST}post`, []string{"prog", "prex y", "zpost"}},
		{`prog "{LIST}"`, []string{"prog", "x y z"}},
		{`prog {A} {X} b`, []string{"prog", "b"}},
		{`prog {B} {a.output} "{A}"`, []string{"prog", "", "", ""}},
		{`prog {DEBUG} {COUNT} {N}`, []string{"prog", "--debug", "-v", "--count=5", "-5"}},
		{`prog $HOME * ~ | x`, []string{"prog", "$HOME", "*", "~", "|", "x"}},
		{`prog {P:shellescaped}`, []string{"prog", "'a b'"}},
		{`prog {N > 0 ? '--up' : '--down -x'}`, []string{"prog", "--down", "-x"}},
	} {
		tmpl, problems := expr.ParseTemplate(test.src, expr.Argv, names{})
		if len(problems) > 0 {
			t.Errorf("%s: %v", test.src, problems)
			continue
		}
		got, err := tmpl.Argv(sc)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", test.src, err, diff)
		}
	}
}

func format(t *testing.T, src string) *expr.Format {
	t.Helper()
	f, problems := expr.ParseFormat(src, "")
	if len(problems) > 0 {
		t.Fatalf("%s: %v", src, problems)
	}
	return f
}

func TestScript(t *testing.T) {
	sc := scope{
		"{P}": caller("v"), "{LIST}": caller([]any{"x", "y"}), "{A}": {Absent: true}, "{N}": caller(int64(-5)),
		"{X}": {V: "a; b", Raw: true}, "{COUNT}": {V: 5, Format: format(t, "--count={value}")}, "{OBJ}": {V: []any{"a", "b"}, Delimiter: ","},
		"{b.output}": output("008"),
	}
	for _, test := range []struct{ src, want string }{
		{`echo hi`, `echo hi`},
		{`p {P}`, `p "${__FLOWRUN_1}"`},
		{`p "{P}" '{P}'`, `p "${__FLOWRUN_1}" ''"${__FLOWRUN_2}"''`},
		{`p {LIST} "{LIST}"`, `p "${__FLOWRUN_1}" "${__FLOWRUN_2}" "${__FLOWRUN_3}"`},
		{`p x{LIST}y`, `p x"${__FLOWRUN_1}" "${__FLOWRUN_2}"y`},
		{`p {A} b`, `p  b`},
		{`p {OBJ}`, `p "${__FLOWRUN_1}"`},
		{`p {COUNT}`, `p "${__FLOWRUN_1}"`},
		{`p {X} {RAW:P}`, `p a; b v`},
		{`p $((3-{N})) ${v:{N}}`, `p $((3-(-5))) ${v:(-5)}`},
		{`p $(({b.output}+1))`, `p $((8+1))`},
		{`p {P} # {P} it's`, `p "${__FLOWRUN_1}" # {P} it's`},
		{`[ {A} = x ]`, `[ "${__FLOWRUN_1}" = x ]`},
		{`echo '{P}' | jq 'map({author: .[0]})'`, `echo ''"${__FLOWRUN_1}"'' | jq 'map({author: .[0]})'`},
		{`p "{{P}}"`, `p "{P}"`},
		{"cat <<EOF\n{P}\nEOF", "cat <<EOF\n${__FLOWRUN_1}\nEOF"},
	} {
		tmpl, problems := expr.ParseTemplate(test.src, expr.Bash, names{})
		if errs := errorsOf(problems); len(errs) > 0 {
			t.Errorf("%s: %v", test.src, errs)
			continue
		}
		got, err := tmpl.Script(sc)
		if err != nil || got.Text != test.want {
			t.Errorf("%s: got %s, %v\nwant %s", test.src, got.Text, err, test.want)
		}
	}
}

func TestDashRule(t *testing.T) {
	for _, test := range []struct {
		src     string
		refused bool
	}{
		{`rm {P}`, true}, {`rm "{P}"`, true}, {`rm '{P}'`, true}, {`rm {A}{P}`, true}, {`x=$(rm {P})`, true}, {`rm $EMPTY{P}`, true},
		{`rm -- {P}`, false}, {`rm --x={P}`, false}, {`rm ./{P}`, false}, {`v={P}`, false}, {`cat <{P}`, false}, {`export v={P}`, false},
		{"cat <<EOF\n{P}\nEOF", false}, {`for v in {P}; do :; done`, false}, {`case {P} in x) ;; esac`, false}, {`[ {P} = x ]`, false},
		{`rm {B}{P}`, false},
	} {
		tmpl, problems := expr.ParseTemplate(test.src, expr.Bash, names{})
		if errs := errorsOf(problems); len(errs) > 0 {
			t.Fatalf("%s: %v", test.src, errs)
		}
		sc := scope{"{P}": caller("-rf"), "{A}": {Absent: true}, "{B}": caller("b")}
		_, err := tmpl.Script(sc)
		if (err != nil) != test.refused {
			t.Errorf("%s: %v", test.src, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "{P}") || !strings.Contains(err.Error(), "--allow-dash")) {
			t.Errorf("%s: no way out in %v", test.src, err)
		}
	}
	tmpl, _ := expr.ParseTemplate(`rm {P}`, expr.Bash, names{})
	for _, v := range []expr.Value{{V: "-rf", Author: true}, {V: "-rf", Caller: true, AllowDash: true}, {V: "-rf", Caller: true, Raw: true}, {V: -5, Caller: true}} {
		if _, err := tmpl.Script(same(v)); err != nil {
			t.Errorf("%+v: %v", v, err)
		}
	}
	if _, err := tmpl.Script(same(caller([]any{"a", "-b"}))); err == nil {
		t.Error("an element that begins with - got through")
	}
}

func TestNULIsRefused(t *testing.T) {
	for _, sh := range []expr.Shell{expr.Plain, expr.Argv, expr.Bash, expr.Sh} {
		tmpl, _ := expr.ParseTemplate("p {P}", sh, names{})
		sc := same(caller("a\x00b"))
		var err error
		switch sh {
		case expr.Plain:
			_, err = tmpl.Text(sc)
		case expr.Argv:
			_, err = tmpl.Argv(sc)
		default:
			_, err = tmpl.Script(sc)
		}
		if err == nil || !strings.Contains(err.Error(), "NUL") {
			t.Errorf("shell %d: %v", sh, err)
		}
	}
}

func TestDisplay(t *testing.T) {
	sc := scope{"{P}": caller(`it's "x" $y`), "{LIST}": caller([]any{"a", "b c"}), "{N}": caller(3), "{A}": caller("secret"), "{B}": caller("plain"), "{X}": caller([]any{})}
	mask := func(s string) string { return strings.ReplaceAll(s, "secret", "***") }
	for _, test := range []struct {
		sh        expr.Shell
		src, want string
	}{
		{expr.Bash, `p {P} "{P}" '{P}' $(({N}))`, `p 'it'\''s "x" $y' "it's \"x\" \$y" 'it'\''s "x" $y' $((3))`},
		{expr.Bash, `p {LIST} {a.output} {A} {B}`, `p a 'b c' {a.output} '***' plain`},
		{expr.Argv, `p {LIST} "{P}"`, `p a 'b c' 'it'\''s "x" $y'`},
		{expr.Argv, `printf <%s> "a  $b" '' --x={P} y{LIST}z {a.output} "in {a.output} {B}"`, `printf '<%s>' 'a  $b' '' --x='it'\''s "x" $y' ya 'b c'z {a.output} 'in '{a.output}' 'plain`},
		{expr.Argv, `p {X} "{X}" x{X} {A}`, `p '' x '***'`},
		{expr.Plain, `{P} {a.output}`, `it's "x" $y {a.output}`},
	} {
		tmpl, _ := expr.ParseTemplate(test.src, test.sh, names{})
		if got := tmpl.Display(sc, mask); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.src, got, test.want)
		}
	}
}

// TestDisplayPastesBack gives what is shown of a run: command to a shell, which starts the program with the same words.
func TestDisplayPastesBack(t *testing.T) {
	needtest.Programs(t, "sh")
	for _, src := range []string{
		`printf <%s> '{P}'`, `p {P} "{P}" x{P}y --x="{P}" {LIST}`, `p *.go ~ $HOME "$HOME" a;b a&b (x) 'it"s' "it's" back\\slash # "" ''`, "p \\\n  {N} `id`",
	} {
		for _, value := range []string{"plain", "", "a b", "it's", "$(touch ran)", `\`, "a\tb\nc", "*"} {
			sc := scope{"{P}": caller(value), "{LIST}": caller([]any{value, "", value}), "{N}": caller(3)}
			tmpl, _ := expr.ParseTemplate(src, expr.Argv, names{})
			want, err := tmpl.Argv(sc)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `show() { printf '%s\0' "$@"; }; show `+tmpl.Display(sc, nil))
			cmd.Dir = t.TempDir()
			out, err := cmd.Output()
			if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s with %q is shown as %s, which starts %q, want %q: %v", src, value, tmpl.Display(sc, nil), got, want, err)
			}
		}
	}
}

func TestShellByName(t *testing.T) {
	for name, want := range map[string]expr.Shell{"bash": expr.Bash, "/usr/bin/zsh": expr.Bash, "dash": expr.Sh, "/bin/sh -e": expr.Sh,
		"cmd": expr.Cmd, `C:\Windows\System32\cmd.exe`: expr.Cmd, "pwsh": expr.PowerShell, "powershell.exe": expr.PowerShell, "python3": expr.Python, "/usr/bin/python": expr.Python} {
		if got, ok := expr.ShellByName(name); !ok || got != want {
			t.Errorf("%s: %v %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "perl", "fish", "python2"} {
		if _, ok := expr.ShellByName(name); ok {
			t.Errorf("%q is not a known shell", name)
		}
	}
}

// TestNestingIsBounded checks that deep nesting is rejected before it exhausts the stack of the recursive parsers.
func TestNestingIsBounded(t *testing.T) {
	all := []expr.Shell{expr.Plain, expr.Sh, expr.Argv, expr.Bash}
	for _, open := range []string{"(", "$(", "{ ", "if ", "$((", "\"$(", "${a:-", "[[ ! ", "((", "{", "{P ? ", "{a.", "`", "<(", "f(){ ", "case x in a) "} {
		src := strings.Repeat(open, 60<<10/len(open)) + "{P}"
		for _, sh := range all[:sizetest.Of(2, 4, 4)] {
			expr.ParseTemplate(src, sh, names{})
		}
	}
	for _, open := range []string{"(", "!", "[", "{", "-", "a.", "(true && ", "true ? ", "not ", "{P}.x + "} {
		src := strings.Repeat(open, 16000/len(open))
		c, _ := expr.ParseCondition(src, names{})
		c.Explain(scope{}, expr.Status{})
	}
	if _, problems := expr.ParseTemplate("{P}"+strings.Repeat("x", 1<<20), expr.Bash, names{}); len(errorsOf(problems)) == 0 {
		t.Error("a huge script with placeholders is accepted")
	}
}

func TestBranchesObeyTheDashRule(t *testing.T) {
	tmpl, problems := expr.ParseTemplate(`rm {DEBUG ? P : '-f x'}`, expr.Bash, names{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, err := tmpl.Script(scope{"{P}": caller("-rf"), "{DEBUG}": caller(true)})
	var dash *expr.DashError
	if !errors.As(err, &dash) || dash.Ref.Root != "P" {
		t.Errorf("got %v", err)
	}
	script, err := tmpl.Script(scope{"{DEBUG}": caller(false)})
	want := []expr.Var{{Name: "__FLOWRUN_1", Value: "-f"}, {Name: "__FLOWRUN_2", Value: "x"}}
	if diff := cmp.Diff(want, script.Vars); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
