package jsworld

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// Errors of the engine have the wording of Node.js, for scripts that catch them and in failures.
func TestNodeWording(t *testing.T) {
	for code, want := range map[string]string{
		"const o = {}; o.filter(x => x)":                    "o.filter is not a function",
		"const o = {a: {}}; o.a.filter(x => x)":             "o.a.filter is not a function",
		"const o = {a: {}}; o.a['filter'](x => x)":          "o.a['filter'] is not a function",
		"function f() { return {} }; f(1, g => (2)).map(1)": "f(...).map is not a function",
		"({}).filter(1)": "(intermediate value).filter is not a function",
		"'abc'.foo()":    "(intermediate value).foo is not a function",
		"this_.x()":      "this_ is not defined",
		"const o = {a: {}}; o\n  .a\n  .map(x => x)": "o.a.map is not a function",
		"const o = {a: {}}; return (o.a)()":          "(intermediate value) is not a function",
		"const o = {f: {}}; o.f?.()":                 "o.f is not a function",
		"let u; u()":                                 "u is not a function",
		"let u = {a: 1}; u.a()":                      "u.a is not a function",
		"let u = {}; u()":                            "u is not a function",
		"let u; u.foo":                               "Cannot read properties of undefined or null (reading 'foo')",
		"null.foo":                                   "Cannot read properties of undefined or null (reading 'foo')",
		"let u; u.foo()":                             "Cannot read properties of undefined or null (reading 'foo')",
		"let u = null; u[0]":                         "Cannot read properties of undefined or null (reading '0')",
		"let u; u.a = 1":                             "Cannot set properties of undefined or null (setting 'a')",
		"let u; u['x'] = 1":                          "Cannot set properties of undefined or null",
		"let u; delete u.x":                          "Cannot convert undefined or null to object",
		"Object.keys(undefined)":                     "Cannot convert undefined or null to object",
		"let u; let {a} = u.v || null":               "Cannot read properties of undefined or null (reading 'v')",
		"let u; let {a} = u":                         "Cannot destructure 'u' as it is undefined or null",
		"function f({a}) {}; f()":                    "Cannot destructure a value that is undefined or null",
		"let u; const [a] = u":                       "u is not iterable",
		"let u = {b: {}}; for (const x of u.b) {}":   "u.b is not iterable",
		"let u; [...u]":                              "u is not iterable",
		"let u; Math.max(...u)":                      "u is not iterable",
		"let u = {}; new u()":                        "u is not a constructor",
		"let u = {}; new u.Foo()":                    "u.Foo is not a constructor",
		"class A {}; A()":                            "Class constructor A cannot be invoked without 'new'",
		"x = y; let y":                               "Cannot access 'y' before initialization",
		"[1].map(undefined)":                         "undefined is not a function",
		"[].reduce((a, b) => a)":                     "Reduce of empty array with no initial value",
		"JSON.parse('<html>')":                       "Unexpected token < in JSON",
		"JSON.parse('{')":                            "Unexpected end of JSON input",
		"decodeURIComponent('%')":                    "URI malformed",
		"throw new Error('No initial value')":        "No initial value",
		"throw Object.freeze(new TypeError('mine'))": "mine",
	} {
		if f := failureOfBody(t, code); f == nil || f.Message != want {
			t.Errorf("%s\ngot  %+v\nwant %s", code, f, want)
		}
		caught := "try {" + code + "\n} catch (e) { throw new Error('caught ' + e.message) }"
		if f := failureOfBody(t, caught); f == nil || f.Message != "caught "+want {
			t.Errorf("%s\ngot  %+v\nwant caught %s", caught, f, want)
		}
	}
}

// What is thrown without being an error of the engine stays as it is.
func TestCaughtValues(t *testing.T) {
	for code, want := range map[string]string{
		"try { throw 'text' } catch (e) { throw new Error('caught ' + e) }":                                     "caught text",
		"try { throw {message: 'mine'} } catch ({message}) { throw new Error(message) }":                        "mine",
		"try { throw 1 } catch { throw new Error('none') }":                                                     "none",
		"try { null.x } catch (e) { throw new Error(e.stack.split('\\n')[0]) }":                                 "TypeError: Cannot read properties of undefined or null (reading 'x')",
		"class E extends Error { get message() { return 'own' } }; try { throw new E() } catch (e) { throw e }": "own",
		"const f = async () => null.x; await f().catch(e => { throw new Error(e.message) })":                    "Cannot read properties of undefined or null (reading 'x')",
		"const f = async () => null.x; throw new Error(await f().catch(e => e.message))":                        "Cannot read properties of undefined or null (reading 'x')",
		"const f = async () => null.x; throw new Error(await f().catch(function (e) { return e.message }))":     "Cannot read properties of undefined or null (reading 'x')",
		"const f = async () => null.x; throw new Error(await f().catch(() => 'no parameter'))":                  "no parameter",
		"const f = async () => null.x; throw new Error(await f().catch(({name}) => name))":                      "TypeError",
		"throw new Error({catch: f => f(5)}.catch(n => n + 1))":                                                 "6",
	} {
		if f := failureOfBody(t, code); f == nil || f.Message != want {
			t.Errorf("%s\ngot  %+v\nwant %s", code, f, want)
		}
	}
}

func failureOfBody(t *testing.T, code string) *Failure {
	t.Helper()
	p, f := NewProgram(jscheck.Source{Form: jscheck.Body, Text: code})
	if f != nil {
		return f
	}
	_, f = NewWorld().Run(&Task{Program: p, Vars: []byte("{}"), Limit: time.Second}, nil)
	return f
}
