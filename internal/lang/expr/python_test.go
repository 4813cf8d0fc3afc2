package expr_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// python returns a Python 3 to run scripts.
func python(t testing.TB) string { return needtest.Program(t, "python3") }

// pythonPlaces are scripts in which got() records what arrives.
var pythonPlaces = []struct{ name, script string }{
	{"bare", "got({X})"},
	{"double quotes", `got("{X}")`},
	{"single quotes", `got('{X}')`},
	{"three quotes", `got("""{X}""")`},
	{"three single quotes", "got('''{X}''')"},
	{"unicode prefix", `got(u"{X}")`},
	{"amid text", `got("a \n {X} \" b"[4:-4])`},
	{"after a whole escape", `got("\x41\101{X}"[2:])`},
	{"dictionary", `got({"k": {X}}["k"])`},
	{"after an f-string", `y = f"{1 + 1}{'a'}{{"; got({X})`},
	{"after a long f-string", "y = f\"\"\"{1}\n'\"\"\"; got({X})"},
	{"attribute", `got({X}.__class__({X}))`},
	{"continued line", "v = \\\n {X}; got(v)"},
	{"comment", "got({X}) # {X} '"},
	{"after a comment", "# it's \"\ngot({X})"},
	{"after raw and bytes", `y = r"\"'", rb'\'', b"'"; got({X})`},
}

// TestHostileValuesInPython checks that a script gets the values that were sent.
func TestHostileValuesInPython(t *testing.T) {
	program := python(t)
	var values []any
	for _, v := range sample("$(", hostileValues()) {
		values = append(values, v)
	}
	texts := len(values)
	values = append(values, nil, true, false, json.Number("-5"), json.Number("0"), json.Number("2.50"), json.Number("1e3"), json.Number("123456789012345678901234567890"), -7, 1.5, 1e21,
		[]any{}, []any{"a'b", nil, true, []any{json.Number("-1")}}, map[string]any{}, map[string]any{`k"';`: "\\\n", "b": []any{false, map[string]any{"x": nil}}})
	dir := t.TempDir()
	var scripts []string
	var sent []any
	for _, place := range pythonPlaces {
		tmpl, problems := expr.ParseTemplate(place.script, expr.Python, names{})
		if len(problems) > 0 {
			t.Fatalf("%s: %v", place.name, problems)
		}
		list := values
		if place.name != "bare" && place.name != "dictionary" {
			list = values[:texts]
		}
		for _, v := range list {
			if s, ok := v.(string); ok {
				v = strings.ReplaceAll(s, "FILE", "F")
			}
			script, err := tmpl.Script(same{V: v, Author: true})
			if err != nil || len(script.Vars) > 0 {
				t.Fatalf("%s: %v: %v, %d variables", place.name, v, err, len(script.Vars))
			}
			scripts, sent = append(scripts, script.Text), append(sent, v)
		}
	}
	// One process runs all scripts. Each is compiled on its own.
	var in bytes.Buffer
	for _, s := range scripts {
		line, _ := json.Marshal([]byte(s)) // base64 keeps the bytes
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command(program, "-c", `
import sys, json, base64
for line in sys.stdin:
    seen = []
    exec(compile(base64.b64decode(json.loads(line)), "script", "exec"), {"got": seen.append})
    assert len(seen) == 1
    print(json.dumps(seen[0]))
`)
	cmd.Stdin, cmd.Dir = &in, dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != len(sent) {
		t.Fatalf("%d of %d values arrived: %v\n%s", len(lines), len(sent), err, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "F")); err == nil {
		t.Error("a value was executed")
	}
	for i, line := range lines {
		if want := asJSON(sent[i]); !sameJSON(line, want) {
			t.Errorf("%.200s\nsent %.80s\n got %.80s", scripts[i], want, line)
		}
	}
}

// asJSON writes v as json of Python would.
func asJSON(v any) string {
	if s, ok := v.(string); ok {
		return surrogates(s)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// surrogates returns the JSON of a text whose bytes may not be UTF-8 (PEP 383).
func surrogates(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == '\ufffd' && s[i] >= 0x80 && !strings.HasPrefix(s[i:], "\ufffd") {
			b.WriteString("\x00" + string("0123456789abcdef"[s[i]>>4]) + string("0123456789abcdef"[s[i]&15]))
			continue
		}
		b.WriteRune(r)
	}
	q, _ := json.Marshal(b.String())
	return strings.ReplaceAll(string(q), `\u0000`, `\udc`)
}

// sameJSON compares the values of two texts. A lone surrogate is compared as it is written.
func sameJSON(a, b string) bool {
	const lone = "\\udc"
	var x, y any
	dec := func(s string) any {
		var v any
		d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(s, lone, "<lone>")))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return s
		}
		return v
	}
	if strings.Contains(a, lone) && strings.Contains(b, lone) {
		x, y = dec(a), dec(b)
	} else {
		_ = json.Unmarshal([]byte(a), &x)
		_ = json.Unmarshal([]byte(b), &y)
	}
	return reflect.DeepEqual(x, y)
}

// TestPythonPositions checks which scripts have no problems; package quoting has the table of those that have.
func TestPythonPositions(t *testing.T) {
	for _, script := range []string{"# coding: utf-8\nx = {P}", "ast.literal_eval({P})", "re.compile({P})", `f"{d['k']:>{w}}" + {P}`, `x = "\\" + {P}`, `x[{P}:{N}]`, `-{N} ** {N}`, `if {DEBUG}: pass`} {
		if _, problems := expr.ParseTemplate(script, expr.Python, names{}); len(problems) > 0 {
			t.Errorf("%s: %v", script, problems)
		}
	}
	if _, problems := expr.ParseTemplate(`os.system("ls " + {P})`, expr.Python, names{}); len(problems) != 1 || problems[0].Code != expr.CodeUsedAsCode {
		t.Errorf("os.system: %v", problems)
	}
	refusedAt(t, expr.Python, "eval({P})", 5)
}

// refusedAt checks that the only placeholder of a script is refused, at its place.
func refusedAt(t *testing.T, shell expr.Shell, script string, off int) {
	t.Helper()
	_, problems := expr.ParseTemplate(script, shell, names{})
	if errs := errorsOf(problems); len(errs) != 1 || errs[0].Off != off || errs[0].Len != len("{P}") || errs[0].Hint == "" {
		t.Errorf("%s: %+v", script, problems)
	}
}

func TestPythonScript(t *testing.T) {
	sc := scope{"{P}": caller("it's"), "{N}": caller(json.Number("-5")), "{A}": {Absent: true}, "{DEBUG}": caller(true),
		"{LIST}": caller([]any{"x", json.Number("1")}), "{B}": {V: "b", Raw: true}}
	for _, test := range []struct{ src, want string }{
		{"x = {P}", `x = "it's"`},
		{"x = '{P}'", `x = 'it\'s'`},
		{"x = {N}**2 # {P}", "x = (-5)**2 # {P}"},
		{"x = '{N}'", "x = '-5'"},
		{"x = {A}, '{A}'", "x = None, ''"},
		{"x = {DEBUG}, '{DEBUG}'", "x = True, 'true'"},
		{"x = {LIST}, '{LIST}'", `x = ["x", 1], 'x 1'`},
		{"x = {RAW:P} {B}", "x = it's b"},
		{"x = { 'a': {P} }", `x = { 'a': "it's" }`},
	} {
		tmpl, _ := expr.ParseTemplate(test.src, expr.Python, names{})
		if got, err := tmpl.Script(sc); err != nil || got.Text != test.want {
			t.Errorf("%s: %s, %v, want %s", test.src, got.Text, err, test.want)
		}
	}
}

// FuzzPython checks that Python reads a literal back as the value, in code and in quotes.
func FuzzPython(f *testing.F) {
	for _, v := range hostileValues()[:100] {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		for _, src := range []string{"{X}", "\"{X}\"", "'{X}'"} {
			tmpl, _ := expr.ParseTemplate(src, expr.Python, names{})
			script, err := tmpl.Script(same{V: v, Text: true})
			if strings.Contains(v, "\x00") {
				if err == nil {
					t.Fatal("a NUL got through")
				}
				continue
			}
			if got, ok := pythonString(script.Text); err != nil || !ok || got != v {
				t.Fatalf("%q came back as %q from %s (%v)", v, got, script.Text, err)
			}
		}
	})
}

// pythonString reads a string literal as Python does. Lone surrogates become the bytes they stand for. It returns false
// for anything but a single literal.
func pythonString(s string) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), i == len(s)-1
		case s[i] == '\n' || s[i] == '\r':
			return "", false
		case s[i] != '\\':
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch at := strings.IndexByte(`"'\nrt`, s[i]); {
		case at >= 0:
			b.WriteByte("\"'\\\n\r\t"[at])
		case s[i] == 'u' && i+4 < len(s):
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 32)
			if err != nil {
				return "", false
			}
			if n >= 0xdc80 && n <= 0xdcff {
				b.WriteByte(byte(n))
			} else {
				b.WriteRune(rune(n))
			}
			i += 4
		default:
			return "", false
		}
	}
	return "", false
}
