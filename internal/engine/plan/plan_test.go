package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// compiled compiles a definition without its name and description. It can use the tool inner.
func compiled(t *testing.T, text string) *plan.Plan {
	t.Helper()
	lib := library.New(library.Config{WorkingDirectory: t.TempDir()})
	var last *tool.Definition
	for name, body := range map[string]string{"inner": "steps:\n  - {name: a, bash: echo}\n  - {name: b, bash: echo}\n", "t": text} {
		def, found := decode.File(name+".yaml", []byte("name: "+name+"\ndescription: d\n"+body))
		if err := found.Err(); err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		if name == "t" {
			last = def
		} else if err := lib.Add(def); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compile.Definition(lib, "", last)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// loopOf compiles a loop, and returns it with the scope of a call with these parameters.
func loopOf(t *testing.T, step string, params map[string]any) (*plan.Loop, expr.Scope) {
	t.Helper()
	p := compiled(t, "parameters:\n  WORD: {description: w}\n  LIST: {type: array, description: l}\n  OBJECT: {type: object, description: o}\n"+
		"  N: {type: number, description: n}\nsteps:\n  - name: t\n    "+step+"\n    run: echo x\n")
	bound, err := call.Bind(t.Context(), p, new(call.RunEnv).Filled(), params)
	if err != nil {
		t.Fatal(err)
	}
	return p.ByName["t"].Loop, bound.Preview().Scope(dag.View{})
}

// words writes each value as JSON.
func words(t *testing.T, list []plan.Item) string {
	t.Helper()
	var words []string
	for _, item := range list {
		text, err := json.Marshal(item.V)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, string(text))
	}
	return strings.Join(words, " ")
}

// TestCombinations holds which items a matrix has, in which order, and their keys. The rules for include and exclude are
// those of GitHub Actions.
func TestCombinations(t *testing.T) {
	for _, c := range []struct{ name, matrix, keys, items string }{
		{"the last name turns fastest", "{os: [linux, mac], go: [1, 2]}", "linux-1|linux-2|mac-1|mac-2", `{"go":1,"os":"linux"} {"go":2,"os":"linux"} {"go":1,"os":"mac"} {"go":2,"os":"mac"}`},
		{"versions stay as they are written", "{go: [1.20, 1.21, 1e3, 0x10, 2.0]}", "1.20|1.21|1e3|0x10|2.0", `{"go":1.20} {"go":1.21} {"go":1e3} {"go":"0x10"} {"go":2.0}`},
		{"exclude", "{os: [linux, mac], go: [1, 2], exclude: [{os: mac, go: 1}]}", "linux-1|linux-2|mac-2", `{"go":1,"os":"linux"} {"go":2,"os":"linux"} {"go":2,"os":"mac"}`},
		{"exclude by one name", "{os: [linux, mac], go: [1, 2], exclude: [{os: mac}]}", "linux-1|linux-2", `{"go":1,"os":"linux"} {"go":2,"os":"linux"}`},
		{"exclude compares as written", "{go: [1.20, 1.2], exclude: [{go: 1.20}]}", "1.2", `{"go":1.2}`},
		{"exclude all", "{os: [linux], exclude: [{os: linux}]}", "", ""},
		{"the example of GitHub's documentation", "{fruit: [apple, pear], animal: [cat, dog], include: [{color: green}, {color: pink, animal: cat}, {fruit: apple, shape: circle}, {fruit: banana}, {fruit: banana, animal: cat}]}", "apple-cat-pink-circle|apple-dog-green-circle|pear-cat-pink|pear-dog-green|banana|banana-cat", `{"animal":"cat","color":"pink","fruit":"apple","shape":"circle"} {"animal":"dog","color":"green","fruit":"apple","shape":"circle"} {"animal":"cat","color":"pink","fruit":"pear"} {"animal":"dog","color":"green","fruit":"pear"} {"fruit":"banana"} {"animal":"cat","fruit":"banana"}`},
		{"include alone", "{include: [{site: production, at: eu}, {site: staging, at: us}]}", "production-eu|staging-us", `{"at":"eu","site":"production"} {"at":"us","site":"staging"}`},
		{"exclude comes before include", "{os: [linux, mac], exclude: [{os: mac}], include: [{os: mac, fast: true}]}", "linux|mac-true", `{"os":"linux"} {"fast":true,"os":"mac"}`},
		{"a list from a parameter", "{os: \"{LIST}\", go: [1]}", "a-1|b c-1", `{"go":1,"os":"a"} {"go":1,"os":"b c"}`},
		{"a placeholder among the values", "{os: [\"{WORD}\", z]}", "w|z", `{"os":"w"} {"os":"z"}`},
		{"an empty list", "{os: [], go: [1]}", "", ""},
		{"objects", "{node: [{version: 14}, {version: 20, env: x}]}", `{"version":14}|{"env":"x","version":20}`, `{"node":{"version":14}} {"node":{"env":"x","version":20}}`},
		{"a name that only some have", "{os: [linux, mac], include: [{os: mac, fast: yes-it-is}]}", "linux|mac-yes-it-is", `{"os":"linux"} {"fast":"yes-it-is","os":"mac"}`},
		{"a range", "{v: 1..3}", "1|2|3", `{"v":1} {"v":2} {"v":3}`},
		{"an expression", "{v: \"filter({LIST}, # != 'a')\", w: [1]}", "b c-1", `{"v":"b c","w":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			loop, sc := loopOf(t, "matrix: "+c.matrix, map[string]any{"LIST": []any{"a", "b c"}, "WORD": "w"})
			items, err := loop.List(sc)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, item := range items {
				keys = append(keys, item.Key)
			}
			if diff := cmp.Diff(c.keys, strings.Join(keys, "|")); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.items, words(t, items)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCombinationsRefused holds what is known to be wrong only when a value is.
func TestCombinationsRefused(t *testing.T) {
	list := []any{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for matrix, want := range map[string]string{
		`{os: "{N}"}`: `matrix.os: expected a list, found "5"`,
		`{a: "{LIST}", b: "{LIST}", c: "{LIST}", d: "{LIST}", e: "{LIST}", f: "{LIST}", g: "{LIST}"}`: "more than 1000000 combinations",
		`{os: "{N} + 1"}`: `matrix.os: expected a list, found "6"`,
	} {
		loop, sc := loopOf(t, "matrix: "+matrix, map[string]any{"LIST": list, "N": 5})
		if _, err := loop.List(sc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", matrix, err, want)
		}
	}
}

// TestItems holds what the items of for-each stand for.
func TestItems(t *testing.T) {
	for _, c := range []struct {
		name, items string
		params      map[string]any
		want        string
	}{
		{"a list", `[a, "b c", "", 3, 1.50, true, "x'y"]`, nil, `"a" "b c" "" 3 1.50 true "x'y"`},
		{"a list with placeholders", `["{WORD}", "<{WORD}>", plain]`, map[string]any{"WORD": "a b"}, `"a b" "\u003ca b\u003e" "plain"`},
		{"a placeholder that is a list", `"{LIST}"`, map[string]any{"LIST": []any{"x", 2, "$HOME `id`"}}, "\"x\" 2 \"$HOME `id`\""},
		{"a placeholder that is an object", `"{OBJECT}"`, map[string]any{"OBJECT": map[string]any{"b": 1, "a": "x"}}, `{"key":"a","value":"x"} {"key":"b","value":1}`},
		{"a part of a placeholder", `"{OBJECT.list}"`, map[string]any{"OBJECT": map[string]any{"list": []any{1, 2}}}, "1 2"},
		{"lines", `"{WORD}"`, map[string]any{"WORD": "one\r\n\n  two  \n\nthree"}, `"one" "  two  " "three"`},
		{"text that is JSON", `"{WORD}"`, map[string]any{"WORD": ` ["a", 1, {"k": [1]}] `}, `"a" 1 {"k":[1]}`},
		{"text that begins like JSON", `"{WORD}"`, map[string]any{"WORD": "[info] a\n[info] b"}, `"[info] a" "[info] b"`},
		{"a range", `1..3`, nil, "1 2 3"},
		{"a range to a parameter", `"1..{N}"`, map[string]any{"N": 2}, "1 2"},
		{"an empty range", `"1..{N}"`, map[string]any{"N": 0}, ""},
		{"filter", `"filter({LIST}, # != 'b')"`, map[string]any{"LIST": []any{"a", "b", "c"}}, `"a" "c"`},
		{"map", `"map({LIST}, # + '!')"`, map[string]any{"LIST": []any{"a", "b"}}, `"a!" "b!"`},
		{"filter objects", `"filter({LIST}, #.n > 1)"`, map[string]any{"LIST": []any{map[string]any{"n": 1}, map[string]any{"n": 2}}}, `{"n":2}`},
		{"nothing", `[]`, nil, ""},
		{"an empty list", `"{LIST}"`, map[string]any{"LIST": []any{}}, ""},
		{"an absent list", `"{LIST}"`, nil, ""},
		{"empty text", `"{WORD}"`, map[string]any{"WORD": ""}, ""},
		{"a long number", `[12345678901234567, 1e3, 0.1]`, nil, "12345678901234567 1e3 0.1"},
		{"numbers as they are written", `[1.20, 007, 0x10, {v: 2.0}]`, nil, `1.20 "007" "0x10" {"v":2.0}`},
		{"a range to text", `"{WORD}..3"`, map[string]any{"WORD": "2"}, "2 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			loop, sc := loopOf(t, "for-each: {items: "+c.items+"}", c.params)
			list, err := loop.List(sc)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, words(t, list)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const family = `
steps:
  - {name: first, bash: echo, on-failure: [{name: repair, bash: echo}]}
  - {name: two, bash: echo, wait-for: []}
  - name: group
    steps: [{name: in, bash: echo}, {name: side, bash: echo}]
  - {name: used, use-tool: inner}
  - {name: late, bash: 'echo {two.output}', wait-for: [used, two]}
finally: [{name: end, bash: echo}]
`

// TestPaths finds steps by their paths.
func TestPaths(t *testing.T) {
	p := compiled(t, family)
	for path, want := range map[string]string{
		"two":         "two after [] at t.yaml:6",
		"first":       "first after [] at t.yaml:5",
		"repair":      "repair after [first] at t.yaml:5 on-failure of first",
		"group/side":  "side after [group/in] at t.yaml:8",
		"used/b":      "b after [used/a] at inner.yaml:5",
		"used#2/b":    "b after [used#2/a] at inner.yaml:5",
		"late":        "late after [used] at t.yaml:10",
		"end":         "end after [late] at t.yaml:11 finally of ",
		"none":        "",
		"two/in":      "",
		"used/a/more": "",
	} {
		got := ""
		if s := p.Step(path); s != nil {
			at := p.Place(path)
			got = fmt.Sprintf("%s after %v at %s:%d", s.Name, p.Upstream(path), at.File, at.Line)
			if key, of := p.Handler(path); key != "" {
				got += " " + key + " of " + of
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if n := p.Nested("used"); n == nil || n.Name() != "inner" || p.Nested("two") != nil {
		t.Error("the plans of steps that use tools")
	}
	waves := p.Waves()
	if waves["first"] != 1 || waves["two"] != 1 || waves["late"] <= waves["used"] || waves["used"] <= waves["group"] {
		t.Errorf("waves %v", waves)
	}
	var own []string
	p.Each(func(s *plan.Step) { own = append(own, s.Def.Name) })
	if got := strings.Join(own, " "); got != "first repair two group in side used late end" {
		t.Errorf("the steps of the tool are %s", got)
	}
}

// TestLastStep holds which step's output is passed on while it runs.
func TestLastStep(t *testing.T) {
	for text, want := range map[string]dag.ID{
		"bash: echo": "t",
		"output: x\nsteps: [{name: a, bash: echo}]":                                  "",
		"steps: [{name: a, bash: echo}, {name: b, bash: echo}]":                      "b",
		"steps: [{name: a, bash: echo}, {name: w, wait: {for: 1s}}]":                 "a",
		"steps: [{name: w, wait: {for: 1s}}]":                                        "",
		"steps: [{name: a, use-tool: inner}]":                                        "a/b",
		"steps: [{name: a, bash: echo, for-each: {items: [1]}}]":                     "",
		"steps: [{name: a, bash: echo, error-handling: {retry: {attempts: 1}}}]":     "",
		"steps: [{name: a, bash: echo, error-handling: {fallback: echo}}]":           "",
		"steps: [{name: g, steps: [{name: a, bash: echo}, {name: b, approve: Go}]}]": "g/a",
		"steps: [{name: a, bash: echo}]\nfinally: [{name: e, bash: echo}]":           "a",
		"steps: [{name: a, bash: echo, on-success: [{name: h, bash: echo}]}]":        "a",
	} {
		if got := compiled(t, text+"\n").LastStep(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestMentioning holds which steps use a parameter.
func TestMentioning(t *testing.T) {
	const head = "parameters: {P: {description: p}, D: {description: d, default: '{P}'}, Q: {description: q, default: x}}\n"
	for text, want := range map[string]string{
		"steps: [{name: a, bash: 'echo {P}'}, {name: b, bash: 'echo {D}{Q}'}]":                                           "a",
		"steps: [{name: a, bash: 'echo {Q}'}, {name: b, use-tool: inner, run-condition: \"{P} == 'x'\"}]\noutput: '{D}'": "b",
		"steps: [{name: a, bash: 'echo {D}'}, {name: b, bash: 'echo {Q}'}]\nenvironment: {variables: {A: '{P}'}}":        "a b",
		"steps: [{name: a, bash: 'echo {D} {Q}'}, {name: b, js: 'return params'}]\noutput: '{P}'":                        "b",
	} {
		var names []string
		for _, id := range compiled(t, head+text+"\n").Mentioning("P") {
			names = append(names, string(id))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestConvert holds the value of a parameter, or the code of its problem, by what is given.
func TestConvert(t *testing.T) {
	p := compiled(t, `
bash: echo {S} {N} {A} {E}
parameters:
  S: {description: s, validation: {minLength: 2, maxLength: 3, pattern: "^[a-z]+$"}, transform: trim}
  N: {description: n, type: number, validation: {minimum: 1, maximum: 9}}
  A: {description: a, type: array, validation: {enum: [x, "1"]}}
  E: {description: e, transform: base64decode}
`)
	for _, c := range []struct {
		name string
		give any
		want string
	}{
		{"S", "ab", "ab"}, {"S", "a", "validation: \"a\" is shorter than 2 characters"}, {"S", "abcd", "validation: has 4 characters, at most 3 allowed"},
		{"S", "A1", "validation: \"A1\" does not match the pattern ^[a-z]+$"}, {"S", "a\x00", "nul: the value contains a NUL byte, which is not allowed in command lines"},
		{"N", "5", "5"}, {"N", "0", "validation: 0 is below the minimum of 1"}, {"N", "10", "validation: 10 is above the maximum of 9"}, {"N", "many", "type: \"many\" is not a number"},
		{"A", []any{"x", 1}, "[x 1]"}, {"A", []any{"x", "y"}, "validation: element 1: \"y\" is not allowed"},
		{"E", "YQ==", "a"}, {"E", "***", "transform: "},
	} {
		v, code, err := p.Param(c.name).Convert(c.give)
		got := fmt.Sprint(v)
		if err != nil {
			got = code + ": " + err.Error()
		}
		if got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s=%v: %s, want %s", c.name, c.give, got, c.want)
		}
	}
	if p.Param("none") != nil {
		t.Error("there is a parameter that nobody declared")
	}
}
