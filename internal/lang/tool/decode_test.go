package tool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// decodeOK decodes a text that must have no errors.
func decodeOK(t *testing.T, src string) *Definition {
	t.Helper()
	def, found := DecodeDocument("t.yaml", []byte(src))
	if err := found.Err(); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return def
}

const start = "name: t\ndescription: d\n"

func TestDecodeEverything(t *testing.T) {
	def := decodeOK(t, `
name: t
description: no
version: 1.10
min-flowrun-version: 1.2
deprecated: true
deprecated-message: use u
steps:
  - name: a
    script: echo
    shell: zsh
    parallel: true
    wait-for: []
    timeout: 1m30s
    output: {buffer-limit: 10MB, truncation: false, masked-values: "{KEY}"}
    error-handling:
      retry: {attempts: 2, delay: 500, exit-codes: 75, when: "{last.exit-code} == 75"}
      fallback: echo no
    environment: {DEBUG: 1, X: "{Y}"}
    strict: false
  - name: b
    commands:
      platforms: {linux: ls, macos: ls -G}
    wait-for: a
    on-interrupt: ask
    idempotent: true
    detach: true
  - name: c
    use-tool: other
    with: {A: 1, B: [true, null, 1.5, x], C: {d: e}}
parameters:
  N: {description: n, type: number, default: 5, validation: {minimum: 1, maximum: 9}}
  S: {description: s, default: 1.10, allow-dash: true, delimiter: ",", security: {escape-shell: false}}
environment:
  variables: {A: b}
  inherit: false
  secrets: [A]
timeout: 60000
resources:
  timeout: 30s
  cleanup:
    - delete-temp-files: true
    - final-command: rm x
    - final-command: rm y
output: "{a.output}"
platforms: linux
x-anything: {a: [b]}
`)
	a, b, c := def.Steps[0], def.Steps[1], def.Steps[2]
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{"description", def.Description, "no"},
		{"version", def.Version, "1.10"},
		{"min version", def.MinFlowrun.S, "1.2"},
		{"timeout", def.Timeout, 30 * time.Second},
		{"platforms", def.Platforms, []string{"linux"}},
		{"cleanup", len(def.Resources.FinalCommands), 2},
		{"temp files", def.Resources.DeleteTempFiles, true},
		{"single", def.Single, false},
		{"kind", a.Kind(), Script},
		{"shell", a.Shell.S, "zsh"},
		{"wait-for []", a.HasWaitFor && len(a.WaitFor) == 0, true},
		{"step timeout", a.Timeout, 90 * time.Second},
		{"limit", a.Output.BufferLimit, int64(10_000_000)},
		{"truncation", *a.Output.Truncation, false},
		{"masked", a.Output.MaskedValues[0].S, "{KEY}"},
		{"delay", a.ErrorHandling.Retry.Delay, 500 * time.Millisecond},
		{"backoff", a.ErrorHandling.Retry.Backoff, "exponential"},
		{"codes", a.ErrorHandling.Retry.ExitCodes, []int{75}},
		{"flat environment", a.Environment.Variables[0].Value.Text.S, "1"},
		{"strict", *a.Strict, false},
		{"commands", b.Body.(*Commands).Platforms["macos"].S, "ls -G"},
		{"wait-for scalar", b.WaitFor[0].S, "a"},
		{"use-tool", c.Body.(*ToolUse).Tool.S, "other"},
		{"integer", c.Body.(*ToolUse).With[0].Value.Scalar, int64(1)},
		{"list", len(c.Body.(*ToolUse).With[1].Value.List), 4},
		{"float", c.Body.(*ToolUse).With[1].Value.List[2].Scalar, 1.5},
		{"map", c.Body.(*ToolUse).With[2].Value.Map[0].Value.Text.S, "e"},
		{"default", def.Parameters[0].Default.Scalar, int64(5)},
		{"default as text", def.Parameters[1].Default.Text.S, "1.10"},
		{"escape", *def.Parameters[1].EscapeShell, false},
		{"inherit", *def.Environment.Inherit, false},
		{"output", def.Output.S, "{a.output}"},
	} {
		if diff := cmp.Diff(check.want, check.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", check.what, diff)
		}
	}
}

// TestSources: env-files and secrets take a text, a mapping, or a list of both.
func TestSources(t *testing.T) {
	def := decodeOK(t, start+`
env-files: .env
environment:
  secrets:
    - PW
    - {name: A, env: B}
    - {name: C, file: ~/.c}
    - {name: D, command: pass show d}
parameters:
  P: {description: p, path: true}
  Q: {description: q, type: array, path: true}
steps:
  - name: a
    bash: x
    env-files: [one, {path: "{WORKSPACE}/two", optional: true}]
    environment: {secrets: {name: E, env: F}}
`)
	var got []string
	for _, e := range []Environment{def.Environment, def.Steps[0].Environment} {
		for _, s := range e.Secrets {
			text := func(t *Text) string {
				if t == nil {
					return "-"
				}
				return t.S
			}
			got = append(got, fmt.Sprint(s.Name.S, " ", text(s.Env), " ", text(s.File), " ", text(s.Command), " ", s.Sourced()))
		}
	}
	for _, files := range [][]EnvFile{def.EnvFiles, def.Steps[0].EnvFiles} {
		for _, f := range files {
			got = append(got, fmt.Sprint(f.Path.S, " ", f.Optional))
		}
	}
	want := []string{"PW - - - false", "A B - - true", "C - ~/.c - true", "D - - pass show d true", "E F - - true",
		".env false", "one false", "{WORKSPACE}/two true"}
	if diff := cmp.Diff(want, got); diff != "" || !def.Parameters[0].Path || !def.Parameters[1].Path {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSingle(t *testing.T) {
	def := decodeOK(t, start+"bash: echo {A}\n")
	if !def.Single || len(def.Steps) != 1 || def.Steps[0].Name != "t" || def.Steps[0].Kind() != Bash {
		t.Errorf("got %+v", def.Steps)
	}
}

func TestJSON(t *testing.T) {
	def := decodeOK(t, "{\n\t\"name\": \"t\",\n\t\"description\": \"d\",\n\t\"steps\": [{\"name\": \"a\", \"bash\": \"echo \\\"x\\\" \\/ {A}\"}]\n}\n")
	if got := def.Steps[0].Command().S; got != `echo "x" / {A}` {
		t.Errorf("got %q", got)
	}

	def = decodeOK(t, `{"name": "t", "description": "a\/b\ud83d\ude00c\ud800 d", "bash": "x\ud83d\ude00y"}`)
	if want := "a/b😀c\ufffd d"; def.Description != want {
		t.Errorf("got %q, want %q", def.Description, want)
	}
	if at, want := def.Steps[0].Command().At(5), (Pos{File: "t.yaml", Line: 1, Col: 81}); at != want {
		t.Errorf("y is at %v, want %v", at, want)
	}
}

func TestNameFromFile(t *testing.T) {
	def, found := DecodeDocument("some/dir/deploy.yaml", []byte("description: d\nbash: x\n"))
	if found.Err() != nil || def.Name != "deploy" || len(found) > 0 {
		t.Errorf("%q: %v", def.Name, found)
	}
	if _, found := DecodeDocument("", []byte("description: d\nbash: x\n")); found.Err() == nil || found[0].Code != "no-name" {
		t.Errorf("without a file: %v", found)
	}
}

// TestLimits gives files that are too large in some way; each is refused with
// its own code, quickly.
func TestLimits(t *testing.T) {
	for _, c := range []struct{ name, src, code string }{
		{"steps", start + "steps: [" + strings.Repeat("{},", keytable.MaxSteps+1) + "]", "too-many-steps"},
		{"unknown keys", start + "bash: x\n" + numbered("unknwon%d: x\n", 50000), "unknown-key"},
		{"unknown steps", start + "steps:\n" + numbered("  - {name: s%d, bash: x, wait-for: [nobody]}\n", 20000), "unknown-step"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			_, found := DecodeDocument("t.yaml", []byte(c.src))
			if found.Err() == nil || !strings.Contains(found.Error(), "["+c.code+"]") {
				t.Errorf("no %s: %.300v", c.code, found)
			}
			if took := time.Since(began); took > time.Minute { // a hang, not a measure
				t.Errorf("took %v", took)
			}
		})
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestKeys walks the table: every field is described, and a file that holds it
// with an impossible value gets an error at its place, so that no key is read
// and forgotten.
func TestKeys(t *testing.T) {
	seen := map[*keytable.Object]bool{}
	var walk func(o *keytable.Object)
	walk = func(o *keytable.Object) {
		if seen[o] {
			return
		}
		seen[o] = true
		if o.Doc == "" {
			t.Errorf("%s has no doc", o.Name)
		}
		for _, f := range o.Fields() {
			switch {
			case f.Doc == "" || !strings.HasSuffix(f.Doc, "."):
				t.Errorf("%s.%s: the doc %q is not a sentence", o.Name, f.Key, f.Doc)
			case (f.Kind == keytable.KindChoice || f.Kind == keytable.KindChoices || f.Kind == keytable.KindChoiceOrObject) != (f.Enum != nil):
				t.Errorf("%s.%s: kind %s with the choices %v", o.Name, f.Key, f.Kind, f.Enum)
			case f.Requirement != "" && !strings.HasPrefix(f.Requirement, "S1-"):
				t.Errorf("%s.%s: row %q", o.Name, f.Key, f.Requirement)
			}
			if f.Of != nil {
				walk(f.Of)
			}
		}
	}
	walk(Keys())
	for _, f := range Keys().Fields() {
		bad := "{}"
		if f.Of != nil && f.Kind != keytable.KindTextsOrObjects || strings.Contains(string(f.Kind), "map") {
			bad = "5"
		}
		if f.Kind == keytable.KindTextOrObject { // a number is a text
			bad = "[]"
		}
		_, found := DecodeDocument("t.yaml", []byte(fmt.Sprintf("%s: %s\n", f.Key, bad)))
		if !strings.Contains(found.Error(), "t.yaml:1:"+fmt.Sprint(len(f.Key)+3)+": error[") {
			t.Errorf("%s: %s is accepted: %v", f.Key, bad, found)
		}
	}
}

func TestUnixCommand(t *testing.T) {
	for _, c := range []struct{ platforms, want string }{
		{"{unix: u}", "linux=u macos=u"},
		{"{unix: u, windows: w}", "linux=u macos=u windows=w"},
		{"{linux: l, unix: u}", "linux=l macos=u"},
		{"{unix: u, macos: m}", "linux=u macos=m"},
	} {
		commands := decodeOK(t, "name: t\ndescription: d\ncommands: {platforms: "+c.platforms+"}\n").Steps[0].Body.(*Commands)
		var got []string
		for os, text := range commands.Platforms {
			got = append(got, os+"="+text.S)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %s, want %s", c.platforms, got, c.want)
		}
	}
}

func TestDefaultShell(t *testing.T) {
	def := decodeOK(t, "name: t\ndescription: d\nscript: echo\nshell: default\n")
	if shell := def.Steps[0].Shell; shell != nil {
		t.Errorf("shell: default names the program %s", shell.S)
	}
}
