package check_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

// found compiles a definition and returns the line and the code of each problem, warnings included. Other tools are in dir.
func found(t *testing.T, dir, text string) (list []string) {
	t.Helper()
	def, ds := decode.File(filepath.Join(dir, "t.yaml"), []byte("name: t\ndescription: d\n"+text+"\n"))
	if err := ds.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, err := compile.Definition(library.New(library.Config{WorkingDirectory: dir, Home: dir}), "", def)
	if err == nil {
		ds = p.Warnings
	} else if !errors.As(err, &ds) {
		t.Fatal(err)
	}
	for _, d := range ds {
		list = append(list, fmt.Sprintf("%d %s", d.Pos.Line, d.Code))
	}
	return list
}

// cases are definitions without their names, and what is found in them: the line and the code of each problem.
type cases map[string]struct {
	text string
	want []string
}

// test compiles the definitions, in a folder with tools that they may use.
func (list cases) test(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"used":    "parameters: {N: {description: n, type: number, required: true}, OLD: {description: o, deprecated: true}}\nbash: echo {N} {OLD}",
		"retired": "deprecated: true\nbash: echo",
		"locked":  "locks: [db]\nbash: echo",
		"starter": "on: [{after: {tool: t}}]\nbash: echo",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte("name: "+name+"\ndescription: d\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range list {
		if diff := cmp.Diff(c.want, found(t, dir, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func steps(list string) string { return "steps:\n" + list }

// TestSettings checks the settings of a tool, and its parameters.
func TestSettings(t *testing.T) {
	cases{
		"nothing":                     {"bash: echo", nil},
		"no isolation":                {"security: {isolation: none}\nbash: echo", []string{"3 no-effect"}},
		"an image alone":              {"security: {image: alpine}\nbash: echo", []string{"3 no-effect"}},
		"detach in a container":       {"security: {isolation: container}\n" + steps("  - {name: a, bash: echo, detach: true}"), []string{"5 no-effect"}},
		"a path that stays":           {"parameters: {P: {description: p, path: true}}\nbash: echo {P}", []string{"3 no-effect"}},
		"paths without any":           {"file-paths: {normalize: true}\nbash: echo", []string{"3 no-effect"}},
		"paths":                       {"file-paths: {normalize: true}\nparameters: {P: {description: p, path: true}}\nbash: echo {P}", nil},
		"an open quote to notify":     {"notify: [{on: failure, command: \"mail 'me\"}]\nbash: echo", []string{"3 bad-notification"}},
		"a default that is too large": {"parameters:\n" + doubled(22) + "bash: echo {P22}", []string{"25 value-size"}},
		"an unused parameter":         {"parameters:\n  P: {description: p}\nbash: echo", []string{"4 unused-parameter"}},
		"an unused one beside a name": {"parameters:\n  P: {description: p}\n  Q: {description: q}\njs: return params.Q", []string{"4 unused-parameter"}},
		"all in a script":             {"parameters:\n  P: {description: p}\njs: return Object.entries(params)", nil},
		"all in a variable":           {"parameters:\n  P: {description: p}\njs: const p = params; return p", nil},
		"all in a group":              {"parameters:\n  P: {description: p}\n" + steps("  - name: g\n    steps:\n      - {name: a, js: 'return JSON.stringify({...params})'}"), nil},
		"all as arguments":            {"parameters:\n  P: {description: p}\n" + steps("  - {name: a, js: 'return params[env.X]'}"), nil},
		"an example as an option":     {"parameters:\n  P: {description: p, examples: [-x]}\nrun: ls {P}", []string{"4 examples-refused"}},
		"an example behind --":        {"parameters:\n  P: {description: p, examples: [-x]}\nrun: ls -- {P}", nil},
	}.test(t)
}

// TestSteps checks steps that depend on each other.
func TestSteps(t *testing.T) {
	cases{
		"after a failure":            {steps("  - {name: a, bash: echo}\n  - {name: b, bash: echo, run-condition: '{a.exit-code} != 0'}"), []string{"5 never-runs"}},
		"after a tolerated failure":  {steps("  - {name: a, bash: echo, continue-on-error: true}\n  - {name: b, bash: echo, run-condition: '{a.exit-code} != 0'}"), nil},
		"after a skipped step":       {steps("  - {name: a, bash: echo, run-condition: 'failure()'}\n  - {name: b, bash: echo, run-condition: '{a.exit-code} != 0'}"), nil},
		"after success":              {steps("  - {name: a, bash: echo}\n  - {name: b, bash: echo, run-condition: '{a.exit-code} == 0'}"), nil},
		"an unknown artifact":        {steps("  - {name: a, bash: echo, artifacts: [{path: x, name: x}]}\n  - {name: b, bash: 'echo {a.artifacts.y}'}"), []string{"5 unknown-field"}},
		"no artifacts":               {steps("  - {name: a, bash: echo}\n  - {name: b, bash: 'echo {a.artifacts.y}'}"), []string{"5 unknown-field"}},
		"an artifact":                {steps("  - {name: a, bash: echo, artifacts: [{path: x, name: x}]}\n  - {name: b, bash: 'echo {a.artifacts.x}'}"), nil},
		"an artifact in the output":  {"output: '{a.artifacts.y}'\n" + steps("  - {name: a, bash: echo}"), []string{"3 unknown-field"}},
		"a secret of another name":   {"environment: {secrets: [TOKN], variables: {TOKEN: x}}\nbash: echo", []string{"3 unknown-secret"}},
		"a secret of the process":    {"environment: {secrets: [PASSWORD], variables: {TOKEN: x}}\nbash: echo", nil},
		"locks of a tool and a step": {"locks: [a]\n" + steps("  - {name: a, bash: echo, locks: [b]}"), []string{"5 two-lock-levels"}},
		"a question without locks":   {steps("  - {name: a, approve: {prompt: p, hold: true}}"), []string{"4 no-effect"}},
		"a question with a place":    {"max-active-runs: 1\n" + steps("  - {name: a, approve: {prompt: p, hold: true}}"), nil},
		"a question with a lock":     {"locks: [a]\n" + steps("  - {name: a, approve: {prompt: p, hold: true}}"), nil},
		"locks of a used tool":       {steps("  - {name: a, use-tool: locked}\n  - {name: b, bash: echo, locks: [b]}"), []string{"5 two-lock-levels"}},
	}.test(t)
}

// TestManyUnused: each unused parameter is reported, however many there are, and none of those that are used.
func TestManyUnused(t *testing.T) {
	const n = 300
	var b strings.Builder
	b.WriteString("parameters:\n")
	for i := range n {
		fmt.Fprintf(&b, "  P%d: {description: p}\n", i)
	}
	b.WriteString("bash: echo")
	for i := range n - 1 {
		fmt.Fprintf(&b, " {P%d}", i)
	}
	if got, want := found(t, t.TempDir(), b.String()), []string{fmt.Sprint(2+n+1, " unused-parameter")}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStarts checks what starts a tool without a person.
func TestStarts(t *testing.T) {
	cases{
		"a cron of two fields":            {"schedule: [{cron: '1 2'}]\nidempotent: true\nbash: echo", []string{"3 bad-schedule"}},
		"a zone that does not exist":      {"schedule: [{every: 1h, timezone: Mars/Base}]\nidempotent: true\nbash: echo", []string{"3 bad-schedule"}},
		"half seconds":                    {"schedule: [{every: 90500}]\nidempotent: true\nbash: echo", []string{"3 bad-schedule"}},
		"a deadline that is no time":      {"schedule: [{every: 1h, must-end-by: soon}]\nidempotent: true\nbash: echo", []string{"3 bad-schedule"}},
		"an exception that is no date":    {"schedule: [{every: 1h, except: [2026-12-25, 2026-02-30, {file: x}]}]\nidempotent: true\nbash: echo", []string{"3 bad-schedule"}},
		"a range from its end":            {"schedule: [{every: 1h, except: 2026-12-31..2026-12-24}]\nidempotent: true\nbash: echo", []string{"3 bad-schedule"}},
		"an end before the start":         {"schedule: [{every: 1h, start: '2026-03-02', end: '2026-03-01'}]\nidempotent: true\nbash: echo", []string{"3 bad-schedule"}},
		"a schedule without a parameter":  {"schedule: [{every: 1h}]\nparameters: {P: {description: p, required: true}}\nidempotent: true\nbash: echo {P}", []string{"3 missing-parameter"}},
		"a schedule with another":         {"schedule: [{every: 1h, params: {Q: x}}]\nparameters: {P: {description: p}}\nidempotent: true\nbash: echo {P}", []string{"3 unknown-parameter"}},
		"a schedule with a text":          {"schedule: [{every: 1h, params: {P: x}}]\nparameters: {P: {description: p, type: number}}\nidempotent: true\nbash: echo {P}", []string{"3 bad-argument"}},
		"a schedule":                      {"schedule: [{every: 1h, params: {P: 1}}]\nparameters: {P: {description: p, type: number}}\nidempotent: true\nbash: echo {P}", nil},
		"a placeholder in a path":         {"on: [{file: {path: '{HOME}/x'}}]\nidempotent: true\nbash: echo", []string{"3 bad-trigger"}},
		"alternatives in a path":          {"on: [{file: {path: 'in/*.{csv,json}'}}]\nidempotent: true\nbash: echo", nil},
		"home in a path":                  {"on: [{file: {path: '~/x'}}]\nidempotent: true\nbash: echo", []string{"3 bad-trigger"}},
		"after no tool":                   {"on: [{after: {tool: nothing-like-it}}]\nidempotent: true\nbash: echo", []string{"3 unknown-tool"}},
		"after a tool that it starts":     {"on: [{after: {tool: starter}}]\nidempotent: true\nbash: echo", []string{"3 bad-trigger"}},
		"after itself":                    {"on: [{after: {tool: t}}]\nidempotent: true\nbash: echo", []string{"3 bad-trigger"}},
		"a schedule that nobody decided":  {"schedule: [{every: 1h}]\nbash: echo", []string{"3 unattended"}},
		"a schedule, and ask":             {"schedule: [{every: 1h}]\non-interrupt: ask\nbash: echo", nil},
		"a schedule of a tool that reads": {"schedule: [{every: 1h}]\ntags: [read]\nbash: echo", nil},
		"an event that nobody decided":    {"on: [{file: {path: in}}]\nbash: echo", []string{"3 unattended"}},
		"a schedule, and one step":        {"schedule: [{every: 1h}]\nsteps: [{name: a, bash: echo, idempotent: false}, {name: b, wait: {for: 1s}}]", nil},
		"a schedule, and another step":    {"schedule: [{every: 1h}]\nsteps: [{name: a, bash: echo, idempotent: true}, {name: b, bash: echo}]", []string{"3 unattended"}},
	}.test(t)
}

// TestUses checks steps that use a tool.
func TestUses(t *testing.T) {
	cases{
		"use without a parameter":  {steps("  - {name: a, use-tool: used}"), []string{"4 missing-parameter"}},
		"use with another":         {steps("  - {name: a, use-tool: used, with: {N: 1, M: 2}}"), []string{"4 unknown-parameter"}},
		"use with a text":          {steps("  - {name: a, use-tool: used, with: {N: x}}"), []string{"4 bad-argument"}},
		"use with a reference":     {"parameters: {X: {description: x}}\n" + steps("  - {name: a, use-tool: used, with: {N: '{X}'}}"), nil},
		"use of a deprecated tool": {steps("  - {name: a, use-tool: retired}"), []string{"4 deprecated-tool"}},
		"use of a deprecated key":  {steps("  - {name: a, use-tool: used, with: {N: 1, OLD: x}}"), []string{"4 deprecated-parameter"}},
	}.test(t)
}

// doubled declares parameters of which each is twice as long as the one before it.
func doubled(n int) string {
	list := "  P0: {description: p, default: '0123456789'}\n"
	for i := range n {
		list += fmt.Sprintf("  P%d: {description: p, default: '{P%d}{P%[2]d}'}\n", i+1, i)
	}
	return list
}
