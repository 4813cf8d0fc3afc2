package expr_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// psModel runs PowerShell scripts of commands with arguments, assignments and strings, with the quoting and expansion of
// PowerShell. It records the commands that ran.
type psModel struct {
	env  map[string]string
	vars map[string][]string
	ran  [][]string
	bad  bool // the script is not PowerShell, or more than the model supports
}

const (
	psSingles = "'\u2018\u2019\u201a\u201b"
	psDoubles = "\"\u201c\u201d\u201e"
)

// statements runs s up to the bracket that ends it, and returns its output and the rest of s.
func (m *psModel) statements(s []rune, end rune) (out []string, rest []rune) {
	for !m.bad {
		s = spaces(s, true)
		if len(s) == 0 {
			m.bad = m.bad || end != 0
			return out, nil
		}
		if s[0] == end {
			return out, s[1:]
		}
		if s[0] == ';' || s[0] == '|' {
			s = s[1:]
			continue
		}
		var words []string
		words, s = m.words(s)
		switch {
		case len(words) == 0:
			m.bad = true
		case len(words) > 2 && strings.HasPrefix(words[0], "\x00") && words[1] == "=":
			m.vars[words[0][1:]] = words[2:]
		case words[0] == "p":
			m.ran = append(m.ran, words[1:])
			out = append(out, words[1:]...)
		default:
			m.ran = append(m.ran, append([]string{"?"}, words...))
			out = append(out, words...)
		}
	}
	return out, nil
}

// spaces skips spaces, comments and continued lines.
func spaces(s []rune, newlines bool) []rune {
	for len(s) > 0 {
		switch {
		case s[0] == ' ' || s[0] == '\t' || s[0] == '\r' || newlines && s[0] == '\n':
			s = s[1:]
		case s[0] == '`' && len(s) > 1 && s[1] == '\n':
			s = s[2:]
		case s[0] == '#':
			for len(s) > 0 && s[0] != '\n' {
				s = s[1:]
			}
		case len(s) > 1 && s[0] == '<' && s[1] == '#':
			_, after, _ := strings.Cut(string(s[2:]), "#>")
			s = []rune(after)
		default:
			return s
		}
	}
	return s
}

// words reads a statement. A variable that is assigned is returned as its name after \x00.
func (m *psModel) words(s []rune) (words []string, rest []rune) {
	if t := string(s); strings.HasPrefix(t, "$v = ") {
		words, s = []string{"\x00v", "="}, s[5:]
	}
	for !m.bad {
		s = spaces(s, false)
		if len(s) == 0 || strings.ContainsRune("\n;|)}", s[0]) {
			return words, s
		}
		var some []string
		some, s = m.word(s)
		words = append(words, some...)
	}
	return words, s
}

// word reads one argument. A list gives several words.
func (m *psModel) word(s []rune) (words []string, rest []rune) {
	if strings.HasPrefix(string(s), "@(") || s[0] == '(' {
		s = []rune(strings.TrimPrefix(string(s), "@"))[1:]
		for !m.bad {
			s = spaces(s, true)
			if len(s) == 0 {
				m.bad = true
				return words, s
			}
			if s[0] == ')' {
				return words, s[1:]
			}
			if s[0] == ',' {
				s = s[1:]
				continue
			}
			var some []string
			some, s = m.word(s)
			words = append(words, some...)
		}
		return words, s
	}
	var b strings.Builder
	read := false
	for len(s) > 0 && !m.bad {
		switch c := s[0]; {
		case strings.ContainsRune(" \t\r\n;|),}", c):
			if !read {
				m.bad = true
			}
			return []string{b.String()}, s
		case c == '@' && len(s) > 2 && strings.ContainsRune(psSingles+psDoubles, s[1]):
			text := ""
			text, s = m.here(s)
			b.WriteString(text)
		case strings.ContainsRune(psSingles, c):
			s = m.single(s[1:], &b)
		case strings.ContainsRune(psDoubles, c):
			s = m.double(s[1:], &b, func(s []rune) int {
				if len(s) > 0 && strings.ContainsRune(psDoubles, s[0]) && !(len(s) > 1 && strings.ContainsRune(psDoubles, s[1])) {
					return 1
				}
				return 0
			})
		case c == '`' && len(s) > 1:
			b.WriteRune(s[1])
			s = s[2:]
		case c == '$':
			s = m.variable(s, &b)
		case strings.ContainsRune("(&{", c):
			m.bad = true
		default:
			b.WriteRune(c)
			s = s[1:]
		}
		read = true
	}
	return []string{b.String()}, s
}

func (m *psModel) single(s []rune, b *strings.Builder) []rune {
	for i := 0; i < len(s); i++ {
		if strings.ContainsRune(psSingles, s[i]) {
			if i+1 == len(s) || !strings.ContainsRune(psSingles, s[i+1]) {
				return s[i+1:]
			}
			b.WriteRune(s[i])
			i++
			continue
		}
		b.WriteRune(s[i])
	}
	m.bad = true
	return nil
}

// double reads an expandable string. end returns the length of its end.
func (m *psModel) double(s []rune, b *strings.Builder, end func([]rune) int) []rune {
	for len(s) > 0 && !m.bad {
		if n := end(s); n > 0 {
			return s[n:]
		}
		switch {
		case s[0] == '`' && len(s) > 1:
			b.WriteRune(s[1])
			s = s[2:]
		case s[0] == '$':
			s = m.variable(s, b)
		case strings.ContainsRune(psDoubles, s[0]) && len(s) > 1 && strings.ContainsRune(psDoubles, s[1]):
			b.WriteRune(s[0])
			s = s[2:]
		default:
			b.WriteRune(s[0])
			s = s[1:]
		}
	}
	m.bad = true
	return nil
}

func (m *psModel) here(s []rune) (string, []rune) {
	quotes := psSingles
	if strings.ContainsRune(psDoubles, s[1]) {
		quotes = psDoubles
	}
	head, body, ok := strings.Cut(string(s[2:]), "\n")
	if !ok || strings.TrimSpace(head) != "" {
		m.bad = true
		return "", nil
	}
	closes := func(s []rune) int {
		if len(s) > 2 && s[0] == '\n' && strings.ContainsRune(quotes, s[1]) && s[2] == '@' {
			return 3
		}
		return 0
	}
	var b strings.Builder
	text := []rune(body)
	if quotes == psDoubles {
		rest := m.double(text, &b, closes)
		return b.String(), rest
	}
	for i := range text {
		if closes(text[i:]) > 0 {
			return string(text[:i]), text[i+3:]
		}
	}
	m.bad = true
	return "", nil
}

// variable reads a text that begins with $.
func (m *psModel) variable(s []rune, b *strings.Builder) []rune {
	t := string(s)
	switch {
	case strings.HasPrefix(t, "${env:"):
		name, rest, ok := strings.Cut(t[len("${env:"):], "}")
		m.bad = m.bad || !ok
		b.WriteString(m.env[name])
		return []rune(rest)
	case strings.HasPrefix(t, "$("):
		out, rest := m.statements(s[2:], ')')
		b.WriteString(strings.Join(out, " "))
		return rest
	}
	n := 1
	for n < len(s) && (s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	switch name := string(s[1:n]); name {
	case "":
		b.WriteByte('$')
	case "true", "false":
		b.WriteString(name)
	default:
		b.WriteString(strings.Join(m.vars[name], " "))
	}
	return s[n:]
}

func runPowerShell(script expr.Script) *psModel {
	m := &psModel{env: map[string]string{}, vars: map[string][]string{}}
	for _, v := range script.Vars {
		m.env[v.Name] = v.Value
	}
	m.statements([]rune(script.Text), 0)
	return m
}

// psPlaces are scripts and the arguments of their last p if X is a value.
var psPlaces = []struct {
	script string
	want   []string
}{
	{"p {X}", []string{"X"}},
	{"p {X} {X}", []string{"X", "X"}},
	{`p "{X}"`, []string{"X"}},
	{`p "a $v {X} b"`, []string{"a  X b"}},
	{`p '{X}'`, []string{"X"}},
	{`p 'it''s "$v" {X} ` + "`n'", []string{"it's \"$v\" X `n"}},
	{"p \u2018a\u2019\u2019 \u201cb\u201d {X}\u2019", []string{"a\u2019 \u201cb\u201d X"}},
	{"p \u201c{X}\u201d", []string{"X"}},
	{`p pre"{X}"post`, []string{"preXpost"}},
	{`p pre'{X}'post`, []string{"preXpost"}},
	{`p "a""{X}"`, []string{`a"X`}},
	{"p \"a`\"{X}\"", []string{`a"X`}},
	{"p @\"\na \" {X}\n\"@", []string{"a \" X"}},
	{"p @'\na $v ' \"@ ` {X}\n\"@\n'@", []string{"a $v ' \"@ ` X\n\"@"}},
	{`p "a $(p {X}) b"`, []string{"a X b"}},
	{`p "$(p "$(p '{X}')")"`, []string{"X"}},
	{"$v = {X}; p $v", []string{"X"}},
	{"$v = 'a{X}'; p $v", []string{"aX"}},
	{"p ({X})", []string{"X"}},
	{"p @('a', {X})", []string{"a", "X"}},
	{"# {X} '\np {X} # \" {X}", []string{"X"}},
	{"<# {X} ' #> p {X}", []string{"X"}},
	{"p a `\n {X}", []string{"a", "X"}},
	{"x; p {X} | p {X}", []string{"X"}},
	{"p `' {X}", []string{"'", "X"}},
}

// TestHostileValuesInPowerShell checks that the model runs only the author's commands, each with the value as one
// argument, for every value.
func TestHostileValuesInPowerShell(t *testing.T) {
	values := append(hostileValues(), "$(calc)", "$env:PATH", "${env:PATH}", "\u2019; calc; \u2018", "\u201d; calc; \u201c", "`", "`n", "@'", "'@", "\n'@\ncalc", "\n\"@\ncalc", "#", "<#", "#>", "--%", "-Verbose", "$true", "$null", "@(calc)", "{calc}", "& calc", "| iex", "1..9", "[int]", "a,b", "é\u2028b")
	for _, place := range psPlaces {
		tmpl, problems := expr.ParseTemplate(place.script, expr.PowerShell, names{})
		if errs := errorsOf(problems); len(errs) > 0 {
			t.Errorf("%s: %v", place.script, errs)
			continue
		}
		harmless, err := tmpl.Script(same{V: "x", Author: true})
		if err != nil {
			t.Fatal(err)
		}
		model := runPowerShell(harmless)
		if model.bad {
			t.Errorf("%s became %s", place.script, harmless.Text)
			continue
		}
		for _, v := range values {
			script, err := tmpl.Script(same{V: v, Text: true})
			if err != nil && !utf8.ValidString(v) {
				continue
			}
			if err != nil {
				t.Fatalf("%s with %q: %v", place.script, v, err)
			}
			if len(script.Vars) > 0 && script.Vars[0].File {
				continue
			}
			got := runPowerShell(script)
			var want []string
			for _, w := range place.want {
				want = append(want, strings.ReplaceAll(w, "X", v))
			}
			if last := got.ran[len(got.ran)-1]; got.bad || len(got.ran) != len(model.ran) || !slices.Equal(last, want) {
				t.Errorf("%s with %q\n  ran %q\n want %q\n%s", place.script, v, got.ran, want, script.Text)
				break
			}
		}
	}
}

// TestPowerShellPositions checks which scripts have no problems; package quoting has the table of those that have.
func TestPowerShellPositions(t *testing.T) {
	for _, script := range []string{"$a={P}", "$a += {P}", "@{ a = {P} }", "[int]{P}", "if ({N} -gt 5) { p {P} }", "p -Switch:{DEBUG}", "iex 'x'; p {P}", "iex 'x'\np {P}", "git add . {P}", "f({P}, {N})", "!{DEBUG}", "a && b {P}", "& git {P}", "({P}).Length", "$x[0] -eq {P}", "p \"$x.y {P}\""} {
		if _, problems := expr.ParseTemplate(script, expr.PowerShell, names{}); len(problems) > 0 {
			t.Errorf("%s: %v", script, problems)
		}
	}
	refusedAt(t, expr.PowerShell, "iex {P}", 4)
}

func TestPowerShellScript(t *testing.T) {
	sc := scope{"{P}": caller("it's"), "{N}": caller(json.Number("-5")), "{A}": {Absent: true}, "{DEBUG}": caller(true), "{X}": caller(""),
		"{LIST}": caller([]any{"x", json.Number("1"), true}), "{B}": {V: "b", Raw: true}}
	for _, test := range []struct{ src, want string }{
		{"p {P}", "p ${env:__FLOWRUN_1}"},
		{"p '{P}'", `p "${env:__FLOWRUN_1}"`},
		{"p '{A}' 'kept $x'", `p "${env:__FLOWRUN_1}" 'kept $x'`},
		{"p {N} \"{N}\"", `p -5 "${env:__FLOWRUN_1}"`},
		{"p {A} {X}", "p @() ''"},
		{"p {DEBUG}", "p $true"},
		{"p {LIST}", "p @(${env:__FLOWRUN_1}, 1, $true)"},
		{"p {RAW:P} {B}", "p it's b"},
	} {
		tmpl, problems := expr.ParseTemplate(test.src, expr.PowerShell, names{})
		got, err := tmpl.Script(sc)
		if diff := cmp.Diff(test.want, got.Text); diff != "" || err != nil {
			t.Errorf("%s: %s %v %v", test.src, diff, err, problems)
		}
	}
	tmpl, _ := expr.ParseTemplate(`p {P} "{P}"`, expr.PowerShell, names{})
	long, err := tmpl.Script(same{V: strings.Repeat("x", 40_000)})
	if want := `p ([IO.File]::ReadAllText(${env:__FLOWRUN_1})) "$([IO.File]::ReadAllText(${env:__FLOWRUN_2}))"`; err != nil || long.Text != want || !long.Vars[0].File {
		t.Errorf("a long value: %s, %v", long.Text, err)
	}
	tmpl, _ = expr.ParseTemplate(`git x {P}; $v = {P}`, expr.PowerShell, names{})
	if _, err := tmpl.Script(same(caller("-x"))); err == nil || !strings.Contains(err.Error(), "option") {
		t.Errorf("a dash: %v", err)
	}
	tmpl, _ = expr.ParseTemplate(`$v = {P}; git -- {P}`, expr.PowerShell, names{})
	if _, err := tmpl.Script(same(caller("-x"))); err != nil {
		t.Errorf("a dash that is not an option: %v", err)
	}
}

// FuzzPowerShell checks that a value is never in the text of the script, and that a script which the model can run runs
// the same commands with any value.
func FuzzPowerShell(f *testing.F) {
	for i, v := range hostileValues()[:100] {
		f.Add(psPlaces[i%len(psPlaces)].script, v)
	}
	f.Fuzz(func(t *testing.T, src, v string) {
		if strings.ContainsAny(src, "\x00\r") || !utf8.ValidString(src) {
			return
		}
		tmpl, problems := expr.ParseTemplate(src, expr.PowerShell, names{})
		if len(errorsOf(problems)) > 0 || strings.Contains(src, "RAW") || tmpl.Static() {
			return
		}
		script, err := tmpl.Script(same{V: "calc;" + v, Text: true})
		if err != nil {
			return
		}
		if strings.Contains(script.Text, "calc;") && !strings.Contains(src, "calc;") {
			t.Fatalf("%q: the value is in the script %q", src, script.Text)
		}
		harmless, err := tmpl.Script(same{V: "x", Text: true})
		if err != nil {
			return
		}
		a, b := runPowerShell(script), runPowerShell(harmless)
		if a.bad != b.bad || len(a.ran) != len(b.ran) {
			t.Fatalf("%q with %q ran %q, else %q", src, v, a.ran, b.ran)
		}
	})
}
