package ui_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// program returns a source file of the pages as the object file.
func program(t *testing.T, file string) *goja.Runtime {
	t.Helper()
	built := api.Build(api.BuildOptions{EntryPoints: []string{file}, Bundle: true, Format: api.FormatIIFE, GlobalName: "file", Target: api.ES2017})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	vm := goja.New()
	vm.Set("location", map[string]string{"origin": "http://localhost:7878"})
	if _, err := vm.RunString(string(built.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	return vm
}

// script returns a function that calls the functions of a source file of the pages with JSON.
func script(t *testing.T, file string) func(call string, args ...any) string {
	t.Helper()
	vm := program(t, file)
	return func(call string, args ...any) string {
		t.Helper()
		list, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		v, err := vm.RunString("JSON.stringify(file." + call + "(..." + string(list) + "))")
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
}

// span is one part of a line of a log.
type span struct {
	Text  string            `json:"text"`
	Class string            `json:"class"`
	Style map[string]string `json:"style"`
}

// readable is a colour of a text as the page shows it: light enough on a dark page, dark enough on a light one.
func readable(colour string) string {
	return "light-dark(oklch(from " + colour + " min(l, 0.5) c h), oklch(from " + colour + " max(l, 0.72) c h))"
}

// TestTerminalText: colours and styles of a terminal become classes; everything else that a terminal
// would obey has no effect.
func TestTerminalText(t *testing.T) {
	call := script(t, "src/run/ansi.ts")
	for line, want := range map[string][]span{
		"plain":                                {{Text: "plain"}},
		"":                                     {},
		"a\x1b[1;31mb\x1b[0mc":                 {{Text: "a"}, {Text: "b", Class: "t-bold f-1"}, {Text: "c"}},
		"\x1b[92;44mx\x1b[39my\x1b[49;22mz":    {{Text: "x", Class: "f-10 b-4"}, {Text: "y", Class: "b-4"}, {Text: "z"}},
		"\x1b[7mx\x1b[27my":                    {{Text: "x", Class: "f-back b-front"}, {Text: "y"}},
		"\x1b[31;7mx":                          {{Text: "x", Class: "f-back b-1"}},
		"\x1b[38;5;9mx\x1b[38;5;196my":         {{Text: "x", Class: "f-9"}, {Text: "y", Style: map[string]string{"color": readable("rgb(255 0 0)")}}},
		"\x1b[48;2;1;2;999mx":                  {{Text: "x", Style: map[string]string{"backgroundColor": "rgb(1 2 255)"}}},
		"\x1b[38;5mx":                          {{Text: "x", Class: "f-0"}},
		"\x1b[38;2;mx":                         {{Text: "x"}},
		"\x1b[mx":                              {{Text: "x"}},
		"a\x1b]0;title\x07b":                   {{Text: "a"}, {Text: "b"}},
		"a\x1b]8;;http://x\x1b\\b\x1b]8;;\x07": {{Text: "a"}, {Text: "b"}},
		"a\x1b[2Jb\x1b[10;20Hc\x1b[?25ld":      {{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}},
		"10 %\r50 %\r100 %\r":                  {{Text: "100 %"}},
		"a\x00b\x07\x7f":                       {{Text: "a␀b␇<007F>"}},
		"x\u202ey\u2066z":                      {{Text: "x<202E>y<2066>z"}},
		"<script>alert(1)</script>":            {{Text: "<script>alert(1)</script>"}},
		"ends in \x1b":                         {{Text: "ends in "}},
		"ends in \x1b[3":                       {{Text: "ends in "}, {Text: "3"}},
	} {
		var got []span
		if err := json.Unmarshal([]byte(call("spans", line)), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", line, d)
		}
	}
}

// TestWordsOfPage compares how the page writes words with how flowrun does.
func TestWordsOfPage(t *testing.T) {
	texts := []string{"plain", "", "a b", "it's", `back\slash`, `say "hi"`, "$HOME", "`id`", "‘curly’", "a=b", "=ls", "#x", "a#b", "~/x", "x=~", "a,b", "@x", "%1", "-x", "--flag", ":x", "+1", "./x", "/x",
		"a\nb", "ünï", "😀", "1.5", "N:=7", "*", "a{b}", "!x", "^x"}
	for c := range 128 {
		texts = append(texts, string(rune(c)), "x"+string(rune(c))+"y")
	}
	call := script(t, "src/command.ts")
	for shell, want := range map[string]func(string) string{"sh": shellword.Sh, "fish": shellword.Fish, "powershell": shellword.PowerShell} {
		for _, text := range texts {
			var got string
			if err := json.Unmarshal([]byte(call("shells."+shell+".word", text)), &got); err != nil || got != want(text) {
				t.Errorf("%s: %q is %s in the page, and %s elsewhere (%v)", shell, text, got, want(text), err)
			}
		}
	}
}

// TestNumbersOfPage: what the page reads and writes again has the digits that it had, and nothing else changes.
func TestNumbersOfPage(t *testing.T) {
	vm := program(t, "src/json.ts")
	for _, doc := range []string{
		`12345678901234567890`, `9007199254740993`, `-9007199254740993`, `1.50`, `-0`, `1E+2`, `0.1`, `-0.0`, `123456789.123456789123`, `7`, `null`, `"1.50"`, `""`,
		`{"id":12345678901234567890,"list":[1.0,2,{"x":1e5}],"text":"id: 12345678901234567890, \\\"1.50\\\"","date":"2026-01-05","1.50":true}`,
		`["digits 1.50","[1.50]",":1.50,"]`,
	} {
		if got, err := vm.RunString("file.write(file.parse(" + strconv.Quote(doc) + "))"); err != nil || got.String() != doc {
			t.Errorf("%s is written as %v (%v)", doc, got, err)
		}
	}
	for _, text := range []string{`007`, `1.`, `1.0.0`, `{1.50:1}`, `12345678901234567890x`, `[1.50`, ``} {
		if got, err := vm.RunString("file.parse(" + strconv.Quote(text) + ")"); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
	if got, err := vm.RunString(`const d = file.parse('[12345678901234567890, 1.50]'); d[1] + 1 + ' ' + (d[0] > 5) + ' ' + file.write({a: d}, 1)`); err != nil || got.String() != "2.5 true {\n \"a\": [\n  12345678901234567890,\n  1.50\n ]\n}" {
		t.Errorf("%v %v", got, err)
	}
}

// TestCopiedCommand gives copied commands to a shell: every value arrives as it is, whatever a secret is.
func TestCopiedCommand(t *testing.T) {
	needtest.Programs(t, "bash", "fish", "jq")
	call := script(t, "src/command.ts")
	run := map[string]any{"tool": "de$(touch x)ploy", "secrets": []string{"KEY"}, "params": map[string]any{
		"A": "plain", "B": "it's $HOME `id`\nnext; rm -rf \"x\"", "C": "@file", "D": 1.5, "E": []any{"a b", true}, "F": "", "G": `\`}}
	for _, key := range []string{"plain", "it's", `a"b`, `a\c`, "two\nlines\n", `1","P2":"2`} {
		want := []string{"run", "de$(touch x)ploy", "A=plain", "B=it's $HOME `id`\nnext; rm -rf \"x\"", `C:="@file"`, "D:=1.5", `E:=["a b",true]`, "F=", `G=\`, "KEY=" + key}
		for shell, program := range map[string]string{"sh": "bash", "fish": "fish"} {
			if got := shellWords(t, program, "flowrun", key, call("asCli", run, shell)); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", shell, got, want)
			}
		}
		got := shellWords(t, "bash", "curl", key, call("asCurl", run))
		i := slices.Index(got, "-d") + 1
		var body struct {
			Tool   string
			Params map[string]any
		}
		if err := json.Unmarshal([]byte(got[i]), &body); err != nil || body.Tool != run["tool"] || body.Params["B"] != run["params"].(map[string]any)["B"] || len(body.Params) != 8 || body.Params["KEY"] != key {
			t.Errorf("%v %q", err, got)
		}
		if !slices.Contains(got, "Authorization: Bearer the token") || got[len(got)-1] != "http://localhost:7878/api/v1/runs" {
			t.Errorf("%q", got)
		}
	}
}

// shellWords returns the arguments that a program gets from a command, which is a JSON string.
func shellWords(t *testing.T, shell, program, key, command string) []string {
	t.Helper()
	var text string
	if err := json.Unmarshal([]byte(command), &text); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), shell, "-c", text)
	c.Dir = dir
	c.Env = []string{"FLOWRUN_TOKEN=the token", "KEY=" + key, "PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir}
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
