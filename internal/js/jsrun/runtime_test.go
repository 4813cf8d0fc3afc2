package jsrun

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

func TestMain(m *testing.M) {
	// A built-in module for host calls of tests.
	jsworld.AddShim("nested", "module.exports = {call: v => __ask('nested', v), callNow: v => __askNow('nested', v)}")
	Main()
	if how := os.Getenv(asProgram); how != "" {
		runProgram(how)
	}
	goleak.VerifyTestMain(m)
}

// compile compiles a text at line 10, column 3 of a file.
func compile(t testing.TB, form Form, text string, vars ...string) *Script {
	t.Helper()
	s, ds := Compile(tool.Text{S: text, Pos: tool.Pos{File: "a.md", Line: 10, Col: 3}}, form, vars...)
	if err := ds.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// patience is the time limit of calls that must succeed, far longer than any machine needs.
const patience = 5 * time.Minute

// runtimes has a Runtime for each way to run scripts.
func runtimes(t testing.TB) map[string]*Runtime {
	all := map[string]*Runtime{"here": New(Config{InProcess: true, Timeout: patience}), "child": New(Config{Timeout: patience})}
	for _, r := range all {
		t.Cleanup(func() { r.Close() })
	}
	return all
}

// both runs a call in each Runtime.
func both(t *testing.T, c Call, check func(t *testing.T, result string, err error)) {
	t.Helper()
	for way, r := range runtimes(t) {
		t.Run(way, func(t *testing.T) {
			raw, err := r.Call(context.Background(), c)
			check(t, string(raw), err)
		})
	}
}

// Results of scripts are returned as JSON.
func TestResults(t *testing.T) {
	input := map[string]any{"url": "https://example.com/ä?q=\"x\"", "n": 3, "list": []any{1, "two", nil, true}, "o": map[string]any{"__proto__": 1, "constructor": 2}}
	for name, c := range map[string]struct{ code, want string }{
		"an object":            {`return {a: 1, b: [true, null, "x<y"]}`, `{"a":1,"b":[true,null,"x<y"]}`},
		"nothing":              {`if (false) return 1`, ``},
		"null":                 {`return null`, `null`},
		"text":                 {`return encodeURIComponent("grüße & mehr")`, `"gr%C3%BC%C3%9Fe%20%26%20mehr"`},
		"the input, changed":   {`input.url += "path"; return input.url`, `"https://example.com/ä?q=\"x\"path"`},
		"an undeclared field":  {`return "q=" + input.query`, `"q=undefined"`},
		"odd keys":             {`return input.o`, `{"__proto__":1,"constructor":2}`},
		"await":                {`const v = await Promise.resolve(4); return v * 2`, `8`},
		"a promise":            {`return new Promise(r => Promise.resolve().then(() => r([1])))`, `[1]`},
		"a thenable":           {`return {then(f) { f("late") }}`, `"late"`},
		"dates":                {`return {d: new Date(0)}`, `{"d":"1970-01-01T00:00:00.000Z"}`},
		"numbers":              {`return [1e21, -0, 0.1, NaN, Infinity, 2**53, 9007199254740993, 5e-324, 1e300]`, `[1e+21,0,0.1,null,null,9007199254740992,9007199254740992,5e-324,1e+300]`},
		"standard objects":     {`return [String(1), ...new Set([2]), JSON.stringify({}), Math.max(3, 4), Object.keys({k: 5}), Number("6"), new Map([[1, 7]]).get(1), Boolean(8), /9/.test("9"), typeof Date, typeof Promise]`, `["1",2,"{}",4,["k"],6,7,true,true,"function","function"]`},
		"numbers as text":      {`return (1234.5).toLocaleString("de-DE") + " " + Intl.NumberFormat("en").format(1e6)`, `"1,234.5 1,000,000"`},
		"a date as text":       {`return new Date(0).toLocaleDateString("en-GB", {timeZone: "UTC", dateStyle: "long"})`, `"January 1, 1970"`},
		"names in order":       {`return ["x10", "x9"].sort((a, b) => a.localeCompare(b, "en", {numeric: true}))`, `["x9","x10"]`},
		"undefined inside":     {`return {a: undefined, b: [undefined]}`, `{"b":[null]}`},
		"boxes":                {`return [new Number(1), new String("s"), new Boolean(false)]`, `[1,"s",false]`},
		"a proxy of an array":  {`return new Proxy([1, 2], {})`, `[1,2]`},
		"a typed array":        {`return new Uint8Array([1, 2])`, `{"0":1,"1":2}`},
		"toJSON":               {`return {toJSON(k) { return [k] }}`, `[""]`},
		"half a pair":          {`return "\ud800"`, "\"\uFFFD\""},
		"the specification":    {"// @preprocess\ninput.url = input.url + \"/path\";\nreturn input;", `{"list":[1,"two",null,true],"n":3,"o":{"__proto__":1,"constructor":2},"url":"https://example.com/ä?q=\"x\"/path"}`},
		"sloppy":               {`total = 0; for (const x of [1, 2]) total += x; return total`, `3`},
		"a declared input":     {`let input = 1; return input`, `1`},
		"a comment at the end": {`return 1 // that is all`, `1`},
		"carriage returns":     {"const a = 1\r\nreturn a\r\n", `1`},
		"empty":                {`return ""`, `""`},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, Call{Script: compile(t, Body, c.code, "input"), Vars: map[string]any{"input": input}}, func(t *testing.T, result string, err error) {
				if err != nil || result != c.want {
					t.Errorf("got %s, %v; want %s", result, err, c.want)
				}
			})
		})
	}
	if input["url"] != "https://example.com/ä?q=\"x\"" {
		t.Error("a script changed its caller's value")
	}
}

// Errors are returned with their kind and position in the author's file.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		code, place, message string
		kind                 Kind
	}{
		"a throw":              {"const a = 1;\n  throw new TypeError('no ' + a)", "a.md:11:9", "TypeError: no 1", KindThrown},
		"on the first line":    {"throw new Error('x')", "a.md:10:9", "Error: x", KindThrown},
		"text":                 {"\n\nthrow 'just text'", "a.md:12:1", "just text", KindThrown},
		"an object":            {"throw {code: 7}", "a.md:10:3", `{"code":7}`, KindThrown},
		"a missing name":       {"return typeof foo + foo", "a.md:10:23", "ReferenceError: foo is not defined", KindThrown},
		"a missing member":     {"const o = {}\nreturn o.a.b", "a.md:11:12", "TypeError: Cannot read properties of undefined or null (reading 'b')", KindThrown},
		"in a function":        {"function f(x) {\n  return x.y.z\n}\nreturn f({})", "a.md:11:14", "TypeError: Cannot read properties of undefined or null (reading 'z')", KindThrown},
		"a rejection":          {"await null\nreturn Promise.reject(new RangeError('r'))", "a.md:11:23", "RangeError: r", KindThrown},
		"nobody handles it":    {"Promise.reject(new Error('lost')); return 1", "a.md:10:18", "Error: lost", KindThrown},
		"never settled":        {"return new Promise(() => {})", "", "never settled", KindThrown},
		"recursion":            {"const f = () => f(); return f()", "a.md:10:20", "RangeError: Maximum call stack", KindThrown},
		"JSON.parse":           {"return JSON.parse('{')", "a.md:10:20", "SyntaxError", KindThrown},
		"a function":           {"return {a: [1, () => 2]}", "", "the result.a[1] is a function", KindResult},
		"a BigInt":             {"return {n: 10n}", "", "the result.n is a BigInt", KindResult},
		"a symbol":             {"return [Symbol('s')]", "", "the result[0] is a symbol", KindResult},
		"a circle":             {"const o = {}; o.p = {o}; return o", "", "the result.p.o contains itself", KindResult},
		"a promise inside":     {"return {p: Promise.resolve(1)}", "", "the result.p is a promise", KindResult},
		"a Map":                {"return new Map()", "", "the result is a Map", KindResult},
		"too much":             {"return 'x'.repeat(17 << 20)", "", "larger than 16 MiB", KindResult},
		"too deep":             {"let a = []; for (let i = 0; i < 20000; i++) a = [a]; return a", "", "nested deeper", KindResult},
		"a getter":             {"return {get a() { throw new Error('got') }}", "a.md:10:27", "Error: got", KindThrown},
		"a message that fails": {"throw {get message() { throw 1 }}", "a.md:10:3", "cannot be shown", KindThrown},
		"a huge message":       {"throw new Error('ä'.repeat(1e6))", "a.md:10:9", "…", KindThrown},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, Call{Script: compile(t, Body, c.code)}, func(t *testing.T, result string, err error) {
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("got %s, %v", result, err)
				}
				if e.Kind != c.kind || !strings.Contains(e.Error(), c.message) || e.Pos.String() != c.place {
					t.Errorf("got %s: %s: %.300s, want %s: %s: %s", e.Pos, e.Kind, e.Error(), c.place, c.kind, c.message)
				}
				if len(e.Message) > MaxMessage {
					t.Errorf("a message of %d bytes", len(e.Message))
				}
			})
		})
	}
}

// An expression is a transform; an expression whose value is a function is called with the
// variable.
func TestExpressions(t *testing.T) {
	for code, want := range map[string]string{
		`value.toUpperCase().replace(/\s+/g, '-')`: `"A-B-C"`,
		"value // the value itself":                `"a b\tc"`,
		"{a: value}":                               `{"a":"a b\tc"}`,
		"\n  value.length\n":                       `5`,
		"1, 2":                                     `2`,
		"encodeURIComponent":                       `"a%20b%09c"`,
		"async v => await v + '!'":                 `"a b\tc!"`,
		"await value":                              `"a b\tc"`,
	} {
		both(t, Call{Script: compile(t, Expression, code, "value"), Vars: map[string]any{"value": "a b\tc"}}, func(t *testing.T, result string, err error) {
			if err != nil || result != want {
				t.Errorf("%s: got %s, %v; want %s", code, result, err, want)
			}
		})
	}
}

// Methods of a module are called through module.js.
func TestModule(t *testing.T) {
	s := CompileModule(&tool.Module{File: "/tools/x.tool.js", Code: []byte("module.exports = {\n  getMetadata() { return {id: 'x'} },\n  async execute(p) {\n    if (p.bad) throw new Error('bad')\n    return {got: p.a}\n  },\n}")})
	both(t, Call{Script: s, Entry: "describe"}, func(t *testing.T, result string, err error) {
		if err != nil || !strings.Contains(result, `"id":"x"`) {
			t.Error(result, err)
		}
	})
	both(t, Call{Script: s, Entry: "execute", Vars: map[string]any{"params": map[string]any{"a": 1}}}, func(t *testing.T, result string, err error) {
		if err != nil || result != `{"got":1}` {
			t.Error(result, err)
		}
	})
	both(t, Call{Script: s, Entry: "execute", Vars: map[string]any{"params": map[string]any{"bad": 1}}}, func(t *testing.T, result string, err error) {
		var e *Error
		if !errors.As(err, &e) || e.Pos.String() != "/tools/x.tool.js:4:22" {
			t.Errorf("%s %v %+v", result, err, e.Pos)
		}
	})
}

// A module finds the global object under all names that packages try.
func TestGlobalObject(t *testing.T) {
	s := CompileModule(&tool.Module{File: "x.tool.js", Code: []byte("module.exports = { execute: () => [self, global].every(g => g === globalThis && g.self === g && g.global === g) }")})
	both(t, Call{Script: s, Entry: "execute"}, func(t *testing.T, result string, err error) {
		if err != nil || result != "true" {
			t.Error(result, err)
		}
	})
}

// A step can make host calls, wait and log.
func TestStep(t *testing.T) {
	for way, r := range runtimes(t) {
		t.Run(way, func(t *testing.T) {
			var lines []string
			raw, err := r.Call(context.Background(), Call{
				Script: compile(t, Step, "console.log('a', {b: 1});\nconst t = await new Promise(r => setTimeout(() => r(1), 5));\nreturn t"),
				Ask: func(_ context.Context, op string, args json.RawMessage) (any, error) {
					lines = append(lines, op+" "+string(args))
					return nil, nil
				},
			})
			if err != nil || string(raw) != "1" || len(lines) != 1 || lines[0] != `log {"level":"info","message":"a {\"b\":1}"}` {
				t.Errorf("%s %v %q", raw, err, lines)
			}
		})
	}
}

// A module that ends early for any reason cleans up, once.
func TestAtEnd(t *testing.T) {
	for name, c := range map[string]struct {
		execute, want string
		kind          Kind
	}{
		"no answer": {"return new Promise(() => {})", "that is never settled", KindThrown},
		"a timer":   {"setTimeout(() => { throw new Error('late') }, 1); return new Promise(r => setTimeout(r, 60_000))", "late", KindThrown},
		"a promise": {"Promise.reject(new Error('astray')); return 1", "astray", KindThrown},
		"much text": {"throw new Error('x'.repeat(1e6))", "xxx", KindThrown},
	} {
		s := CompileModule(&tool.Module{File: "x.tool.js", Code: []byte("module.exports = {\n execute() { " + c.execute + " },\n async cleanup() { console.log('clean') },\n}")})
		for way, r := range runtimes(t) {
			t.Run(name+" "+way, func(t *testing.T) {
				var said []string
				_, err := r.Call(context.Background(), Call{Script: s, Entry: "execute", Ask: func(_ context.Context, op string, args json.RawMessage) (any, error) {
					said = append(said, op+string(args))
					return nil, nil
				}})
				var e *Error
				if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.want) || len(e.Message) > MaxMessage {
					t.Fatalf("%v %+v", err, e)
				}
				if len(said) != 1 || !strings.Contains(said[0], "clean") {
					t.Errorf("%q", said)
				}
			})
		}
	}
}

// A cleanup that throws or does not end is only a warning.
func TestCleanup(t *testing.T) {
	t.Parallel()
	for cleanup, want := range map[string]string{
		"throw new Error('stuck')":        "stuck",
		"return new Promise(() => {})":    "not end within",
		"await 1; throw 'text'":           "text",
		"setTimeout(() => {}, 600_000)":   "",
		"return 'an answer nobody reads'": "",
	} {
		s := CompileModule(&tool.Module{File: "x.tool.js", Code: []byte("module.exports = {execute() { return 1 }, async cleanup() { " + cleanup + " }}")})
		for way, r := range runtimes(t) {
			t.Run(cleanup+" "+way, func(t *testing.T) {
				t.Parallel()
				var said []string
				raw, err := r.Call(context.Background(), Call{Script: s, Entry: "execute", Ask: func(_ context.Context, _ string, args json.RawMessage) (any, error) {
					said = append(said, string(args))
					return nil, nil
				}})
				if err != nil || string(raw) != "1" {
					t.Errorf("%s %v", raw, err)
				}
				if got := strings.Join(said, "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
					t.Errorf("it said %q, want %q", got, want)
				}
			})
		}
	}
}

// A match that throws is a warning, and the entries after it are still checked.
func TestThrowingMatch(t *testing.T) {
	s := CompileModule(&tool.Module{File: "x.tool.js", Code: []byte(`module.exports = {
  getBusinessErrors: () => [{code: 'ODD', match: e => e.nothing.here}, {code: 'KNOWN', match: 'known', retryable: false}],
  execute() { throw new Error('a known one') }}`)})
	heard := func(context.Context, string, json.RawMessage) (any, error) { return nil, nil }
	both(t, Call{Script: s, Entry: "execute", Ask: heard}, func(t *testing.T, result string, err error) {
		var e *Error
		if !errors.As(err, &e) || e.Business == nil || e.Business.Code != "KNOWN" {
			t.Errorf("%s %v %+v", result, err, e)
		}
	})
}

// Positions in a bundled module are those in the files that were bundled.
func TestSourceMap(t *testing.T) {
	// Line 1 of the code is line 3 of src/a.ts, line 2 is line 7 of it; columns are the same.
	const smap = `{"version":3,"sources":["src/a.ts"],"names":[],"mappings":"AAEA;AAIA"}`
	s := CompileModule(&tool.Module{File: filepath.FromSlash("/tools/x.tool.ts"), Map: []byte(smap),
		Code: []byte("module.exports = {execute() {\n  throw new Error('mapped')\n}}")})
	both(t, Call{Script: s, Entry: "execute"}, func(t *testing.T, result string, err error) {
		var e *Error
		if !errors.As(err, &e) || e.Pos.File != filepath.FromSlash("/tools/src/a.ts") || e.Pos.Line != 7 {
			t.Errorf("%s %v %+v", result, err, e.Pos)
		}
	})
	for name, code := range map[string]string{"syntax": "module.exports = {\n  a b\n}", "a brace too many": "}\n"} {
		broken := CompileModule(&tool.Module{File: "b.tool.js", Code: []byte(code)})
		both(t, Call{Script: broken, Entry: "describe"}, func(t *testing.T, result string, err error) {
			var e *Error
			if !errors.As(err, &e) || e.Name != "SyntaxError" || e.Pos.File != "b.tool.js" {
				t.Errorf("%s: %s %v %+v", name, result, err, e)
			}
		})
	}
}

// The time that a child takes to compile a large module does not count as time of the script.
func TestCompilationIsNotTimed(t *testing.T) {
	code := "function unused () {\n" + strings.Repeat("(function (a, b) { const c = { x: a, y: [b, /[a-z]+/] }; return a ? c.x : c.y.map(d => d + 1); });\n", 10_000) +
		"}\nmodule.exports = { execute: () => 1 }"
	call := func(limit time.Duration) (time.Duration, error) {
		r := New(Config{})
		defer r.Close()
		began := time.Now()
		raw, err := r.Call(context.Background(), Call{Script: CompileModule(&tool.Module{File: "/m.tool.js", Code: []byte(code)}), Entry: "execute", Timeout: limit})
		if err == nil && string(raw) != "1" {
			t.Errorf("got %s", raw)
		}
		return time.Since(began), err
	}
	whole, err := call(patience)
	if err != nil {
		t.Fatal(err)
	}
	// Nearly all of that time is that of the compilation. A machine that is busy only now may need
	// half of it for the script, but not each time.
	for range 10 {
		if _, err = call(whole / 2); err == nil {
			return
		}
	}
	t.Errorf("with %v for the script: %v", whole/2, err)
}
