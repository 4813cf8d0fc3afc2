package jsrun

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// Mistakes in a script are reported with a code and the position in the author's file. The text
// is at line 10, column 3.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		form Form
		want []string // line:col code, or parts of the message
	}{
		"nothing":                     {"return input", Body, nil},
		"an open brace":               {"if (input) {\n  return 1\n", Body, []string{"11:11 js-syntax"}},
		"an open brace, in words":     {"if (input) {\n  return 1\n", Body, []string{"JavaScript syntax error: Unexpected end of input"}},
		"half an expression":          {"value +", Expression, []string{"JavaScript syntax error: Unexpected end of input"}},
		"an open string":              {"return 'abc", Body, []string{"10:10 js-syntax"}},
		"an open comment":             {"return 1 /* never", Body, []string{"10:20 js-syntax"}},
		"a closing brace too many":    {"return 1\n}\nreturn 2", Body, []string{"12:1 js-syntax"}},
		"leaving the wrapper":         {"return 1 }); (function () { return 2", Body, []string{"10:12 js-syntax"}},
		"placeholder notation":        {`<input.url = input.url + "/path";>`, Body, []string{"10:3 js-syntax"}},
		"a const twice":               {"const a = 1\nconst a = 2\nreturn a", Body, []string{"11:7 js-syntax"}},
		"a break outside":             {"break; return 1", Body, []string{"10:3 js-syntax"}},
		"an import":                   {"import x from 'y'\nreturn x", Body, []string{"10:3 js-syntax"}},
		"no return":                   {"input.a = 1;\n", Body, []string{"10:15 js-no-return"}},
		"in a comment":                {"// return input\n/* return */ input.a = 'return 1'", Body, []string{"js-no-return"}},
		"in an inner function":        {"const f = () => { return 1 }; function g() { return f() }; g()", Body, []string{"js-no-return"}},
		"in a class":                  {"class A { m() { return 1 } }\nnew A()", Body, []string{"js-no-return"}},
		"after a throw":               {"if (input.a) { throw 1; return 2 }\ninput.b = 1", Body, []string{"js-no-return"}},
		"in one branch":               {"if (input.a) return 1", Body, nil},
		"in a loop":                   {"for (const x of input.list) { if (x) return x }", Body, nil},
		"in a catch":                  {"try { input.f() } catch (e) { return e.message }", Body, nil},
		"in a switch":                 {"switch (input.a) { case 1: return 1 }", Body, nil},
		"in a finally":                {"try { input.f() } finally { return 1 }", Body, nil},
		"labelled":                    {"out: for (;;) { for (;;) { break out } }\nreturn 1", Body, nil},
		"only throwing":               {"throw new Error('no')", Body, nil},
		"throwing either way":         {"if (input.a) { throw 1 } else { throw 2 }", Body, nil},
		"throwing in a switch":        {"switch (input.a) { case 1: throw 1; default: throw 2 }", Body, nil},
		"a step may return":           {"const a = 1", Step, nil},
		"require":                     {"const fs = require('fs')\nreturn fs.readFileSync('x')", Body, []string{"10:14 js-forbidden"}},
		"fs":                          {"return fs.readFileSync('x')", Body, []string{"10:10 js-forbidden"}},
		"eval":                        {"return eval('1')", Body, []string{"10:10 js-forbidden"}},
		"Function":                    {"return new Function('return this')()", Body, []string{"10:14 js-forbidden"}},
		"process and global":          {"global.x = process.env.X\nreturn x", Body, []string{"10:3 js-forbidden", "10:14 js-forbidden", "11:8 js-undeclared"}},
		"in strings and names":        {"// eval require\nconst o = {eval: 'require(1)', process: 1, 'fs': 2}\nreturn o.process + o.eval + `global`", Body, nil},
		"declared":                    {"const process = 1, {fs, global: g} = input; function require(x) { return x }\nreturn require(fs) + process + g", Body, nil},
		"a parameter":                 {"return input.list.map((process, require) => process)", Body, nil},
		"a catch's":                   {"try { return 1 } catch (global) { return global }", Body, nil},
		"instanceof Function":         {"return input.f instanceof Function", Body, nil},
		"typeof":                      {"return typeof process === 'undefined' ? 1 : process.pid", Body, nil},
		"require in a step":           {"return require('path').join('a')", Step, nil},
		"a typo":                      {"const total = 1\nreturn Jason.stringify(total)", Body, []string{"11:8 js-undeclared"}},
		"a typo of a variable":        {"return inptu.url", Body, []string{"10:10 js-undeclared"}},
		"a module in an expression":   {"path.normalize(value)", Expression, []string{"10:3 js-forbidden"}},
		"a module in a page":          {"return os.cpus()", Body, []string{"10:10 js-forbidden"}},
		"a module that is not loaded": {"return util.inspect(1)", Step, []string{"10:10 js-undeclared"}},
		"a module that is loaded":     {"const path = require('path')\nreturn path.join('a')", Step, nil},
		"no console in an expression": {"console.log(1)", Expression, []string{"10:3 js-undeclared"}},
		"console in a body":           {"console.log(setTimeout, URL, TextEncoder, Buffer, structuredClone); return 1", Body, nil},
		"console in a step":           {"console.log(setTimeout, queueMicrotask)", Step, nil},
		"the language":                {"return [JSON, Math, Map, Set, Promise, Number, Boolean, Date, RegExp, encodeURIComponent, decodeURI, parseInt, globalThis, undefined, NaN, Infinity, Symbol, isNaN]", Body, nil},
		"shorthand":                   {"const a = 1\nreturn {a, b}", Body, []string{"11:12 js-undeclared"}},
		"arguments":                   {"return arguments.length", Body, nil},
		"while true":                  {"while (true) { input.n++ }\nreturn 1", Body, []string{"10:3 js-endless-loop"}},
		"for ever":                    {"for (;;) input.n++", Step, []string{"10:3 js-endless-loop"}},
		"while true with a way out":   {"while (true) { if (input.n++ > 3) break }\nreturn 1", Body, nil},
		"while true with a return":    {"while (true) { if (input.n++ > 3) return input }", Body, nil},
		"while true that waits":       {"while (1) { await input.f() }", Step, nil},
		"while true in a string":      {"return 'while(true) {}'", Body, nil},
		"an expression":               {"value.trim()", Expression, nil},
		"no expression":               {"const a = 1", Expression, []string{"js-syntax"}},
		"two expressions":             {"value; value", Expression, []string{"js-syntax"}},
		"an unbalanced expression":    {"value) + (value", Expression, []string{"10:8 js-syntax"}},
		"an empty expression":         {"", Expression, []string{"js-syntax"}},
		"a forbidden expression":      {"require('x')(value)", Expression, []string{"10:3 js-forbidden"}},
		"too long":                    {"return 1 //" + strings.Repeat("x", MaxScript), Body, []string{"js-syntax"}},
		"too many brackets":           {"return " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), Body, []string{"js-syntax"}},
		"several things":              {"while (true) {}\nrequire('x')\nfoo()", Body, []string{"10:3 js-endless-loop", "11:1 js-forbidden", "12:1 js-undeclared"}},
		"a source map from somewhere": {"return 1\n//# sourceMappingURL=/etc/passwd", Body, nil},
		"characters of several bytes": {"const ä = 'ü€😀'; return ä + fooo", Body, []string{"10:31 js-undeclared"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, ds := Compile(tool.Text{S: c.code, Pos: tool.Pos{File: "a.md", Line: 10, Col: 3}}, c.form, "input", "value")
			if (s == nil) != (ds.Err() != nil) {
				t.Errorf("a script and errors: %v", ds)
			}
			if len(ds) != len(c.want) {
				t.Fatalf("got %v, want %q", ds, c.want)
			}
			for i, d := range ds {
				place := strings.TrimPrefix(d.Pos.String(), "a.md:") + " " + d.Code
				if !strings.Contains(place+" "+d.Message, c.want[i]) || d.Message == "" || d.Hint == "" {
					t.Errorf("got %s (%v), want %s", place, d, c.want[i])
				}
			}
		})
	}
}

// For a misspelled name, the hint suggests the right one.
func TestNear(t *testing.T) {
	_, ds := Compile(tool.Plain("return inptu.url"), Body, "input")
	if len(ds) != 1 || !strings.Contains(ds[0].Hint, "input") || ds[0].Severity != tool.Warning {
		t.Error(ds)
	}
}

// The members of a variable that a script reads are found if they can be known.
func TestMentions(t *testing.T) {
	for code, want := range map[string]string{
		"return steps.build.output":                        "build[output]",
		"return steps['build'].json.url":                   "build[json url]",
		"return steps?.build?.output":                      "build[output]",
		"return steps.a.json.list.map(x => steps.b.error)": "a[json list] b[error]",
		"return steps.a.output.trim()":                     "a[output]",
		"return steps.a.json[0].b":                         "a[json]",
		"return steps.a.json[steps.b.output]":              "a[json] b[output]",
		"const {build, test: t} = steps; return build":     "build[] test[]",
		"const {output} = steps.build; return output":      "build[]",
		"let a; ({a} = steps); return a":                   "a[]",
		"return steps":                                     "whole 7",
		"return steps[x]":                                  "whole 7",
		"return Object.keys(steps)":                        "whole 19",
		"const {a, ...rest} = steps; return rest":          "whole 21 a[]",
		"return f => ((steps) => steps.length)([])":        "",
		"const steps = []; return steps.length":            "",
		"return 'steps.a' // steps.b":                      "",
		"return input.steps.a":                             "",
		"return {steps: 1}.steps":                          "",
		"return `${steps.a.output}`":                       "a[output]",
		"return steps.build.output + steps.build.error":    "build[output] build[error]",
		"steps.a.output = 1":                               "a[output]",
		"return steps.map(x => x)":                         "whole 7",
	} {
		s, ds := Compile(tool.Plain(code), Step, "steps", "input")
		if s == nil {
			t.Fatal(code, ds)
		}
		list, whole, at := s.Mentions("steps")
		var got []string
		if whole {
			got = append(got, "whole "+strconv.Itoa(at))
		}
		for _, m := range list {
			got = append(got, m.Name+"["+strings.Join(m.Path, " ")+"]")
			if text := code[m.Off:][:m.Len]; !strings.HasPrefix(text, "steps") && !slices.Contains([]string{m.Name}, text) {
				t.Errorf("%s: the place is %q", code, text)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}

// FuzzCompile checks that no text makes Compile panic, and that the positions of diagnostics are
// inside the text.
func FuzzCompile(f *testing.F) {
	for _, code := range []string{"return 1", "// @preprocess\nreturn {a: `${input.b}`}", "while(true){", "a => {", "class A { #x = 1; static { } }", "})(", "/(?<a>x)/u", "async function* f() { yield await 1 }", "const {a: {b = 1}, ...c} = input", "x?.[y]?.(z)", "label: for (;;) break label", "\u2028\r\n'\\\n'"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		for _, form := range []Form{Body, Expression, Step} {
			s, ds := Compile(tool.Plain(code), form, "input")
			if (s == nil) != (ds.Err() != nil) {
				t.Fatalf("%q: %v", code, ds)
			}
			if s != nil {
				s.Mentions("input")
			}
		}
	})
}

// Compile returns for any nesting: a Go program whose stack overflows cannot recover.
func TestDeep(t *testing.T) {
	for _, unit := range []string{"!", "-", "- ", "(", "[", "{", "a=", "a=>", "a?", "a?b:", "new ", "if(1)", "for(;;)", "x:", "`${", "a**", "typeof ", "await ", "function(){", "class extends ", "a.", "a?.b", "a(", "try{", "do ", "while(1)", "else ", "...", "yield ", "async ", "case ", "/*", "'", "a,"} {
		text := strings.Repeat(unit, MaxScript/sizetest.Of(16, 8, 8)/len(unit))
		for _, code := range []string{text, text + "1", "return " + text + "1"}[sizetest.Of(1, 0, 0):] {
			for _, form := range []Form{Body, Expression} {
				Compile(tool.Plain(code), form)
			}
		}
	}
}
