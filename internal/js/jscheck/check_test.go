package jscheck_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/js/jscheck"
	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// check parses, checks and compiles a script with the globals of its form. The tree is nil if there is an error.
func check(text tool.Text, form jscheck.Form, vars ...string) (*jscheck.Tree, tool.Diagnostics) {
	tree, problem := jscheck.Source{Form: form, Text: text.S}.Parse()
	if problem != nil {
		return nil, tool.Diagnostics{problem.Diagnostic(text, form)}
	}
	found := tree.Check(text, vars, jsworld.GlobalsOf(form))
	if found.Err() != nil {
		return nil, found.Sorted()
	}
	if _, problem = jsworld.Compile(tree); problem != nil {
		return nil, append(found, problem.Diagnostic(text, form)).Sorted()
	}
	return tree, found.Sorted()
}

// Mistakes in a script are reported with a code and the position in the author's file. The text
// is at line 10, column 3.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		form jscheck.Form
		want []string // line:col code, or parts of the message
	}{
		"nothing":                     {"return input", jscheck.Body, nil},
		"an open brace":               {"if (input) {\n  return 1\n", jscheck.Body, []string{"11:11 js-syntax"}},
		"an open brace, in words":     {"if (input) {\n  return 1\n", jscheck.Body, []string{"JavaScript syntax error: Unexpected end of input"}},
		"half an expression":          {"value +", jscheck.Expression, []string{"JavaScript syntax error: Unexpected end of input"}},
		"an open string":              {"return 'abc", jscheck.Body, []string{"10:10 js-syntax"}},
		"an open comment":             {"return 1 /* never", jscheck.Body, []string{"10:20 js-syntax"}},
		"a closing brace too many":    {"return 1\n}\nreturn 2", jscheck.Body, []string{"12:1 js-syntax"}},
		"leaving the wrapper":         {"return 1 }); (function () { return 2", jscheck.Body, []string{"10:12 js-syntax"}},
		"placeholder notation":        {`<input.url = input.url + "/path";>`, jscheck.Body, []string{"10:3 js-syntax"}},
		"a const twice":               {"const a = 1\nconst a = 2\nreturn a", jscheck.Body, []string{"11:7 js-syntax"}},
		"a break outside":             {"break; return 1", jscheck.Body, []string{"10:3 js-syntax"}},
		"an import":                   {"import x from 'y'\nreturn x", jscheck.Body, []string{"10:3 js-syntax"}},
		"no return":                   {"input.a = 1;\n", jscheck.Body, []string{"10:15 js-no-return"}},
		"in a comment":                {"// return input\n/* return */ input.a = 'return 1'", jscheck.Body, []string{"js-no-return"}},
		"in an inner function":        {"const f = () => { return 1 }; function g() { return f() }; g()", jscheck.Body, []string{"js-no-return"}},
		"in a class":                  {"class A { m() { return 1 } }\nnew A()", jscheck.Body, []string{"js-no-return"}},
		"after a throw":               {"if (input.a) { throw 1; return 2 }\ninput.b = 1", jscheck.Body, []string{"js-no-return"}},
		"in one branch":               {"if (input.a) return 1", jscheck.Body, nil},
		"in a loop":                   {"for (const x of input.list) { if (x) return x }", jscheck.Body, nil},
		"in a catch":                  {"try { input.f() } catch (e) { return e.message }", jscheck.Body, nil},
		"in a switch":                 {"switch (input.a) { case 1: return 1 }", jscheck.Body, nil},
		"in a finally":                {"try { input.f() } finally { return 1 }", jscheck.Body, nil},
		"labelled":                    {"out: for (;;) { for (;;) { break out } }\nreturn 1", jscheck.Body, nil},
		"only throwing":               {"throw new Error('no')", jscheck.Body, nil},
		"throwing either way":         {"if (input.a) { throw 1 } else { throw 2 }", jscheck.Body, nil},
		"throwing in a switch":        {"switch (input.a) { case 1: throw 1; default: throw 2 }", jscheck.Body, nil},
		"a step may return":           {"const a = 1", jscheck.Step, nil},
		"require":                     {"const fs = require('fs')\nreturn fs.readFileSync('x')", jscheck.Body, []string{"10:14 js-forbidden"}},
		"fs":                          {"return fs.readFileSync('x')", jscheck.Body, []string{"10:10 js-forbidden"}},
		"eval":                        {"return eval('1')", jscheck.Body, []string{"10:10 js-forbidden"}},
		"Function":                    {"return new Function('return this')()", jscheck.Body, []string{"10:14 js-forbidden"}},
		"process and global":          {"global.x = process.env.X\nreturn x", jscheck.Body, []string{"10:3 js-forbidden", "10:14 js-forbidden", "11:8 js-undeclared"}},
		"in strings and names":        {"// eval require\nconst o = {eval: 'require(1)', process: 1, 'fs': 2}\nreturn o.process + o.eval + `global`", jscheck.Body, nil},
		"declared":                    {"const process = 1, {fs, global: g} = input; function require(x) { return x }\nreturn require(fs) + process + g", jscheck.Body, nil},
		"a parameter":                 {"return input.list.map((process, require) => process)", jscheck.Body, nil},
		"a catch's":                   {"try { return 1 } catch (global) { return global }", jscheck.Body, nil},
		"instanceof Function":         {"return input.f instanceof Function", jscheck.Body, nil},
		"typeof":                      {"return typeof process === 'undefined' ? 1 : process.pid", jscheck.Body, nil},
		"require in a step":           {"return require('path').join('a')", jscheck.Step, nil},
		"a typo":                      {"const total = 1\nreturn Jason.stringify(total)", jscheck.Body, []string{"11:8 js-undeclared"}},
		"a typo of a variable":        {"return inptu.url", jscheck.Body, []string{"10:10 js-undeclared"}},
		"a module in an expression":   {"path.normalize(value)", jscheck.Expression, []string{"10:3 js-forbidden"}},
		"a module in a page":          {"return os.cpus()", jscheck.Body, []string{"10:10 js-forbidden"}},
		"a module that is not loaded": {"return util.inspect(1)", jscheck.Step, []string{"10:10 js-undeclared"}},
		"a module that is loaded":     {"const path = require('path')\nreturn path.join('a')", jscheck.Step, nil},
		"no console in an expression": {"console.log(1)", jscheck.Expression, []string{"10:3 js-undeclared"}},
		"console in a body":           {"console.log(setTimeout, URL, TextEncoder, Buffer, structuredClone); return 1", jscheck.Body, nil},
		"console in a step":           {"console.log(setTimeout, queueMicrotask)", jscheck.Step, nil},
		"the language":                {"return [JSON, Math, Map, Set, Promise, Number, Boolean, Date, RegExp, encodeURIComponent, decodeURI, parseInt, globalThis, undefined, NaN, Infinity, Symbol, isNaN]", jscheck.Body, nil},
		"shorthand":                   {"const a = 1\nreturn {a, b}", jscheck.Body, []string{"11:12 js-undeclared"}},
		"arguments":                   {"return arguments.length", jscheck.Body, nil},
		"while true":                  {"while (true) { input.n++ }\nreturn 1", jscheck.Body, []string{"10:3 js-endless-loop"}},
		"for ever":                    {"for (;;) input.n++", jscheck.Step, []string{"10:3 js-endless-loop"}},
		"while true with a way out":   {"while (true) { if (input.n++ > 3) break }\nreturn 1", jscheck.Body, nil},
		"while true with a return":    {"while (true) { if (input.n++ > 3) return input }", jscheck.Body, nil},
		"while true that waits":       {"while (1) { await input.f() }", jscheck.Step, nil},
		"while true in a string":      {"return 'while(true) {}'", jscheck.Body, nil},
		"an expression":               {"value.trim()", jscheck.Expression, nil},
		"no expression":               {"const a = 1", jscheck.Expression, []string{"js-syntax"}},
		"two expressions":             {"value; value", jscheck.Expression, []string{"js-syntax"}},
		"an unbalanced expression":    {"value) + (value", jscheck.Expression, []string{"10:8 js-syntax"}},
		"an empty expression":         {"", jscheck.Expression, []string{"js-syntax"}},
		"a forbidden expression":      {"require('x')(value)", jscheck.Expression, []string{"10:3 js-forbidden"}},
		"too long":                    {"return 1 //" + strings.Repeat("x", jscheck.MaxScript), jscheck.Body, []string{"js-syntax"}},
		"too many brackets":           {"return " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), jscheck.Body, []string{"js-syntax"}},
		"several things":              {"while (true) {}\nrequire('x')\nfoo()", jscheck.Body, []string{"10:3 js-endless-loop", "11:1 js-forbidden", "12:1 js-undeclared"}},
		"a source map from somewhere": {"return 1\n//# sourceMappingURL=/etc/passwd", jscheck.Body, nil},
		"characters of several bytes": {"const ä = 'ü€😀'; return ä + fooo", jscheck.Body, []string{"10:31 js-undeclared"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, ds := check(tool.Text{S: c.code, Pos: tool.Pos{File: "a.md", Line: 10, Col: 3}}, c.form, "input", "value")
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
	_, ds := check(diagnostic.Plain("return inptu.url"), jscheck.Body, "input")
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
		s, ds := check(diagnostic.Plain(code), jscheck.Step, "steps", "input")
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

// FuzzCheck checks that no text makes the check panic, and that the positions of diagnostics are
// inside the text.
func FuzzCheck(f *testing.F) {
	for _, code := range []string{"return 1", "// @preprocess\nreturn {a: `${input.b}`}", "while(true){", "a => {", "class A { #x = 1; static { } }", "})(", "/(?<a>x)/u", "async function* f() { yield await 1 }", "const {a: {b = 1}, ...c} = input", "x?.[y]?.(z)", "label: for (;;) break label", "\u2028\r\n'\\\n'"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		for _, form := range []jscheck.Form{jscheck.Body, jscheck.Expression, jscheck.Step} {
			s, ds := check(diagnostic.Plain(code), form, "input")
			if (s == nil) != (ds.Err() != nil) {
				t.Fatalf("%q: %v", code, ds)
			}
			if s != nil {
				s.Mentions("input")
			}
		}
	})
}

// The check returns for any nesting: a Go program whose stack overflows cannot recover.
func TestDeep(t *testing.T) {
	for _, unit := range []string{"!", "-", "- ", "(", "[", "{", "a=", "a=>", "a?", "a?b:", "new ", "if(1)", "for(;;)", "x:", "`${", "a**", "typeof ", "await ", "function(){", "class extends ", "a.", "a?.b", "a(", "try{", "do ", "while(1)", "else ", "...", "yield ", "async ", "case ", "/*", "'", "a,"} {
		text := strings.Repeat(unit, jscheck.MaxScript/sizetest.Of(16, 8, 8)/len(unit))
		for _, code := range []string{text, text + "1", "return " + text + "1"}[sizetest.Of(1, 0, 0):] {
			for _, form := range []jscheck.Form{jscheck.Body, jscheck.Expression} {
				check(diagnostic.Plain(code), form)
			}
		}
	}
}
