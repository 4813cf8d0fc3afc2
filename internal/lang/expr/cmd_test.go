package expr_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// cmdModel runs a batch script as cmd reads it, in the phases that decide what is code: %VAR% (1), quotes, carets
// and operators (2), !VAR! (5), and what CALL and pipes read again. It records the commands that would start.
type cmdModel struct {
	env     map[string]string
	delayed bool
	ran     []string // commands with their arguments, in the order in which they start
}

func (m *cmdModel) script(text string) {
	for _, line := range strings.Split(strings.ReplaceAll(text, "^\n", "\x01"), "\n") {
		m.line(line, 0)
	}
}

func (m *cmdModel) line(line string, depth int) {
	line = strings.TrimLeft(line, " \t@")
	lower := strings.ToLower(line)
	switch {
	case strings.HasPrefix(line, ":"), strings.HasPrefix(lower, "rem "):
		return
	case lower == "setlocal enabledelayedexpansion":
		m.delayed = true
		return
	}
	commands, piped := m.parse(m.percent(line))
	for _, c := range commands {
		c = m.bang(c)
		name, rest, _ := strings.Cut(strings.TrimSpace(c), " ")
		switch again := strings.ToLower(name); {
		case depth > 3:
		case again == "call" || again == "cmd" || again == "start": // the whole line is read again
			m.line(strings.TrimPrefix(rest, "/c "), depth+1)
		case piped:
			sub := &cmdModel{env: m.env}
			more, _ := sub.parse(sub.percent(c))
			m.ran = append(m.ran, more...)
		case name != "":
			m.ran = append(m.ran, strings.TrimSpace(c))
		}
	}
}

// percent is phase 1.
func (m *cmdModel) percent(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch end := strings.IndexByte(s[i+1:], '%'); {
		case s[i] != '%':
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == '%':
			b.WriteByte('%')
			i++
		case i+1 < len(s) && strings.IndexByte("0123456789*", s[i+1]) >= 0:
			i++
		case end < 0: // dropped
		default:
			b.WriteString(m.env[s[i+1:i+1+end]])
			i += end + 1
		}
	}
	return b.String()
}

// parse is phase 2: it splits at operators outside quotes and removes carets. It keeps every ^ and " that phase 5
// has to see.
func (m *cmdModel) parse(s string) (commands []string, piped bool) {
	var b strings.Builder
	quoted := false
	end := func() {
		commands = append(commands, b.String())
		b.Reset()
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
			b.WriteByte(c)
		case c == '\x01' && !quoted: // ^ and a newline
		case c == '^' && !quoted:
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case strings.IndexByte("&|()\n", c) >= 0 && !quoted:
			piped = piped || c == '|' && (i+1 == len(s) || s[i+1] != '|') && (i == 0 || s[i-1] != '|')
			end()
		case (c == '<' || c == '>') && !quoted:
			b.WriteString(" REDIRECT")
		default:
			b.WriteByte(c)
		}
	}
	end()
	return commands, piped
}

// bang is phase 5: on a line with a !, carets escape, and the content of a variable is not read again.
func (m *cmdModel) bang(s string) string {
	if !m.delayed || !strings.Contains(s, "!") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch end := strings.IndexByte(s[i+1:], '!'); {
		case s[i] == '^':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case s[i] != '!':
			b.WriteByte(s[i])
		case end < 0:
		default:
			b.WriteString(m.env[s[i+1:i+1+end]])
			i += end + 1
		}
	}
	return b.String()
}

// argv splits a command line into arguments as Microsoft's C library does.
func argv(s string) []string {
	var args []string
	var b strings.Builder
	open, quoted := false, false
	for i := 0; i < len(s); i++ {
		n := 0
		for i+n < len(s) && s[i+n] == '\\' {
			n++
		}
		switch {
		case n > 0 && i+n < len(s) && s[i+n] == '"':
			b.WriteString(strings.Repeat(`\`, n/2))
			open = true
			if n%2 == 1 {
				b.WriteByte('"')
				i += n
			} else {
				i += n - 1
			}
		case s[i] == '"':
			quoted, open = !quoted, true
		case (s[i] == ' ' || s[i] == '\t') && !quoted:
			if open {
				args = append(args, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteByte(s[i])
			open = true
		}
	}
	if open {
		args = append(args, b.String())
	}
	return args
}

func runCmd(script expr.Script, env map[string]string) []string {
	m := cmdModel{env: map[string]string{}}
	for k, v := range env {
		m.env[k] = v
	}
	for _, v := range script.Vars {
		m.env[v.Name] = v.Value
	}
	m.script(script.Text)
	return m.ran
}

// cmdPlaces are scripts and the arguments that their last command must get if X is a value.
var cmdPlaces = []struct {
	script string
	want   []string // X stands for the value
}{
	{"p {X}", []string{"p", "X"}},
	{"p {X} {X}", []string{"p", "X", "X"}},
	{`p "{X}"`, []string{"p", "X"}},
	{`p "a {X} b"`, []string{"p", "a X b"}},
	{`p pre{X}`, []string{"p", "preX"}},
	{`p --x={X} y`, []string{"p", "--x=X", "y"}},
	{`p "--x={X}"`, []string{"p", "--x=X"}},
	{`@p {X} & p {X}`, []string{"p", "X"}},
	{`x || p {X}`, []string{"p", "X"}},
	{`x && p "{X}"`, []string{"p", "X"}},
	{"(\n  p {X}\n)", []string{"p", "X"}},
	{"p Hi! {X} ^^ \"^ !\"", []string{"p", "Hi!", "X", "^", "^ !"}},
	{"p 100%% {X} %USER%", []string{"p", "100%", "X", "me & you"}},
	{"p ^& {X}", []string{"p", "&", "X"}},
	{"p a ^\n {X}", []string{"p", "a", "X"}},
	{"rem {X}\n:: \" {X}\np {X}", []string{"p", "X"}},
	{"setlocal EnableDelayedExpansion\np !USER! {X}", []string{"p", "me & you", "X"}},
	{`if "{X}"=="y" (p {X})`, []string{"p", "X"}},
}

// TestHostileValuesInCmd checks that the model starts only the author's commands, each with the value as one
// argument, for every value.
func TestHostileValuesInCmd(t *testing.T) {
	values := append(hostileValues(), "%PATH%", "%CMDCMDLINE:~-1%&calc", "!PATH!", "!__FLOWRUN_1!", "^", "^^", "^&calc", "&calc", "|calc", "a&calc&b", ")&calc", "(", ">out", "<in", "1>&2", "a b&calc",
		"a^\x01&calc", "%%i", "%1", "%*", "!", "a!b", "^!", "x,y;z=1", "C:\\dir\\", `C:\a b\`, "*.txt", "/s", "-x", "a/s", "::", "rem x", "@calc", "call calc", "&call calc", "nul", "é & ü", "1", "007", "a\tb", "\x1a", "%", "%%", "%comspec%", ";calc", "=calc", ",calc",
		`\\server\share`, "a'b", "`calc`", "$(calc)", "~", "#", "[x]", "{x}", "x|y||z", "&&calc", "||calc", ">>x", "2>nul", "a\\\\b", strings.Repeat("é", 3000), strings.Repeat("&", 9000))
	env := map[string]string{"USER": "me & you", "PATH": "calc", "CMDCMDLINE:~-1": `"`}
	for _, place := range cmdPlaces {
		tmpl, problems := expr.ParseTemplate(place.script, expr.Cmd, names{})
		if errs := errorsOf(problems); len(errs) > 0 {
			t.Errorf("%s: %v", place.script, errs)
			continue
		}
		env := map[string]string{"USER": env["USER"], "PATH": "calc", "CMDCMDLINE:~-1": `"`}
		if strings.Contains(place.script, "%USER%") {
			env["USER"] = "me"
		}
		harmless, err := tmpl.Script(same{V: "x", Author: true})
		if err != nil {
			t.Fatal(err)
		}
		count := len(runCmd(harmless, env))
		passed := 0
		for _, v := range values {
			script, err := tmpl.Script(same{V: v, Author: true})
			if err != nil {
				continue
			}
			passed++
			if len(v) > 3 && strings.Contains(script.Text, v) && !strings.Contains(place.script, v) && v != "::" && v != "!__FLOWRUN_1!" {
				t.Errorf("%s: the value %q is in the script", place.script, v)
			}
			ran := runCmd(script, env)
			if len(ran) != count {
				t.Errorf("%s with %q started %q", place.script, v, ran)
				continue
			}
			var want []string
			for _, w := range place.want {
				if w == "X" && v == "" && !strings.Contains(place.script, `p "{X}"`) {
					continue
				}
				if w == "me & you" && env["USER"] == "me" {
					w = "me"
				}
				want = append(want, strings.ReplaceAll(w, "X", v))
			}
			last := ran[len(ran)-1]
			if strings.Contains(place.script, "(p") || strings.Contains(place.script, "\n)") {
				last = ran[slices.IndexFunc(ran, func(s string) bool { return strings.HasPrefix(s, "p") })]
			}
			if got := argv(last); strings.Contains(place.script, "!USER!") {
				if !strings.HasSuffix(last, v) && !strings.HasSuffix(last, v+`"`) {
					t.Errorf("%s with %q ran %q", place.script, v, last)
				}
			} else if !slices.Equal(got, want) {
				t.Errorf("%s with %q got %q, want %q", place.script, v, got, want)
			}
		}
		if passed < len(values)/4 {
			t.Errorf("%s: only %d of %d values passed", place.script, passed, len(values))
		}
	}
}

// TestCmdPositions checks which scripts have no problems; package quoting has the table of those that have.
func TestCmdPositions(t *testing.T) {
	for _, script := range []string{"echo call {P}", "docker start {P}", "echo (a) {P}", "if {N} GTR 5 echo x", "for %%i in (a b) do echo {P}", "echo %~dp0{P}", "echo for you {P}",
		"if a==a (echo {P}) else (echo {P})", "%PYTHON% x.py {P}", "a || b {P}", `set "v={P}"`, "set /a v={N}*2", "set \"v={P}\"\nsetlocal EnableDelayedExpansion\necho !v!", "findstr x f | sort\necho {P}"} {
		if _, problems := expr.ParseTemplate(script, expr.Cmd, names{}); len(problems) > 0 {
			t.Errorf("%s: %v", script, problems)
		}
	}
	refusedAt(t, expr.Cmd, "call x {P}", 7)
}

func TestCmdScript(t *testing.T) {
	const on = "@setlocal EnableDelayedExpansion\n"
	sc := scope{"{P}": {V: "plain"}, "{A}": {V: "two words"}, "{B}": {Absent: true}, "{N}": caller(json.Number("-5")), "{LIST}": {V: []any{"x", "y z"}}, "{X}": caller("")}
	for _, test := range []struct{ src, want string }{
		{"echo {P}", on + "echo !__FLOWRUN_1!"},
		{"echo {A}", on + `echo "!__FLOWRUN_1!"`},
		{"echo {B}.", on + "echo ."},
		{"echo {X}", on + `echo ""`},
		{"echo {LIST}", on + `echo !__FLOWRUN_1! "!__FLOWRUN_2!"`},
		{`echo "{LIST}"`, on + `echo "!__FLOWRUN_1!"`},
		{"set /a n={N}*2", on + "set /a n=!__FLOWRUN_1!*2"},
		{"echo a!\necho ^^ {P}", on + "echo a!__FLOWRUN_BANG!\necho !__FLOWRUN_CARET! !__FLOWRUN_1!"},
		{"findstr \"^a\" f\necho {P}", on + "findstr \"^a\" f\necho !__FLOWRUN_1!"},
		{"echo {RAW:A}", on + "echo two words"},
	} {
		tmpl, problems := expr.ParseTemplate(test.src, expr.Cmd, names{})
		got, err := tmpl.Script(sc)
		if err != nil || got.Text != test.want {
			t.Errorf("%s: %q, %v %v", test.src, got.Text, err, problems)
		}
	}
	for _, test := range []struct {
		src  string
		v    expr.Value
		says string
	}{
		{"echo {P}", expr.Value{V: "a\nb"}, "line breaks"},
		{"echo {P}", expr.Value{V: `a"b`}, "quote"},
		{`echo "{P}"`, expr.Value{V: `a"b`}, "quote"},
		{`echo "{P}"`, expr.Value{V: `a\`}, "backslash"},
		{`echo {P}`, expr.Value{V: `a b\`}, "backslash"},
		{"echo {P}", caller("-x"), `begins with "-"`},
		{"echo {P}", caller("/s"), `begins with "/"`},
		{"echo {P}", expr.Value{V: "\xff"}, "UTF-8"},
		{"echo {P}", expr.Value{V: strings.Repeat("x", 8000)}, "8000"},
		{"set /a n={P}", expr.Value{V: "PATH=1"}, "whole number"},
		{"if 1==1 set /a \"n={P}\"", expr.Value{V: "PATH=1"}, "whole number"},
	} {
		tmpl, _ := expr.ParseTemplate(test.src, expr.Cmd, names{})
		if _, err := tmpl.Script(same(test.v)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.src, err, test.says)
		}
	}
}

// FuzzCmd checks that a value never starts a command.
func FuzzCmd(f *testing.F) {
	for i, v := range hostileValues()[:100] {
		f.Add(cmdPlaces[i%len(cmdPlaces)].script, v)
	}
	f.Fuzz(func(t *testing.T, src, v string) {
		if strings.ContainsAny(src, "\x00\x01\r") {
			return
		}
		tmpl, problems := expr.ParseTemplate(src, expr.Cmd, names{})
		if len(errorsOf(problems)) > 0 || strings.Contains(src, "RAW") || tmpl.Static() {
			return
		}
		script, err := tmpl.Script(same{V: "calc " + v, Author: true})
		if err != nil {
			return
		}
		harmless, err := tmpl.Script(same{V: "x y", Author: true})
		if err != nil {
			return
		}
		if a, b := runCmd(script, nil), runCmd(harmless, nil); len(a) != len(b) {
			t.Fatalf("%q with %q started %q, else %q", src, v, a, b)
		}
	})
}
