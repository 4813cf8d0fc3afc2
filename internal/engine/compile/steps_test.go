package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// compiled compiles a definition without its name. It returns the plan, or the problems.
func compiled(t *testing.T, text string) (*plan.Plan, tool.Diagnostics) {
	t.Helper()
	def, ds := decode.File("t.yaml", []byte("name: t\ndescription: d\n"+text+"\n"))
	if err := ds.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, err := Definition(library.New(library.Config{}), "", def)
	if err == nil {
		return p, p.Warnings
	}
	if !errors.As(err, &ds) {
		t.Fatal(err)
	}
	return nil, ds
}

// TestKindProblems compiles one step of each kind with something wrong that only this kind reports.
func TestKindProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"run: ls *.txt":                                             "shell-in-run",
		"run: ls '*.txt'":                                           "",
		"run: A=1 make":                                             "shell-in-run",
		"bash: echo 1 >> $FLOWRUN_OUTPUT":                           "no-effect",
		"bash: echo '$P'":                                           "shell-variable",
		"bash: 'echo \"'":                                           "expr-shell",
		"script: 'puts {P}', shell: ruby":                           "unsafe-placeholder",
		"commands: {default: echo}, detach: true":                   "",
		"wait: {for: 1s}, input: x":                                 "no-effect",
		"wait: {for: 1s}, detach: true":                             "no-effect",
		"wait: {until: tomorrow}":                                   "bad-time",
		"wait: {port: nowhere}":                                     "bad-address",
		"wait: {http: 'ftp://h/x'}":                                 "bad-address",
		"approve: Go, error-handling: {fallback: ls}":               "no-effect",
		"approve: '  '":                                             "no-prompt",
		"http: {url: 'file:///x'}":                                  "bad-address",
		"http: {url: 'https://{P}/x'}":                              "bad-address",
		"http: {url: 'https://h/{P}'}":                              "",
		"http: {url: 'https://h', auth: {bearer: secret-word}}":     "unknown-secret",
		"http: {url: 'https://h', proxy: nowhere}":                  "bad-address",
		"http: {url: 'https://h'}, artifacts: [{path: x}]":          "no-effect",
		"js: 'return params.Q'":                                     "js-unknown",
		"js: 'return \"{P}\"'":                                      "js-placeholder",
		"js: 'return Object.keys(steps)'":                           "js-steps",
		"js: 'return 1', interactive: true":                         "no-effect",
		"bash: echo, ssh: {host: '{P}'}":                            "bad-address",
		"run: ls, ssh: {host: h}":                                   "no-effect",
		"bash: echo, ssh: {host: h, key: words}":                    "unknown-secret",
		"bash: echo, pool: gpu, for-each: {items: '{Q}'}":           "expr-unknown",
		"bash: echo, for-each: {items: 1 + 1}":                      "wrong-type",
		"bash: 'echo {matrix.b}', matrix: {a: [1]}":                 "unknown-field",
		"bash: echo, environment: {variables: {A: $HOME}}":          "shell-variable",
		"bash: echo, environment: {variables: {BASH_ENV: '{P}'}}":   "unsafe-variable",
		"bash: echo, cache: {outputs: ['a[']}":                      "bad-pattern",
		"bash: echo, on-failure: [{name: h, bash: 'echo {run.x}'}]": "unknown-field",
	} {
		_, ds := compiled(t, "parameters: {P: {description: p}}\noutput: '{P}'\nsteps:\n  - {name: a, "+text+"}")
		var codes []string
		for _, d := range ds {
			codes = append(codes, d.Code)
		}
		if got := strings.Join(slices.Compact(codes), " "); got != want {
			t.Errorf("%s: %q, want %q\n%v", text, got, want, ds)
		}
	}
}

// TestOrder orders lists of steps: the plan order, and what each step waits for.
func TestOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{name: a, bash: x} {name: b, bash: x} {name: c, bash: x}":                                                                  "a b<a c<@before@c",
		"{name: a, bash: x} {name: b, bash: x, parallel: true} {name: c, bash: x}":                                                  "a b c<@before@c",
		"{name: a, bash: x} {name: b, bash: x, wait-for: []} {name: c, bash: x, wait-for: [a]}":                                     "a b c<a",
		"{name: a, bash: 'x {b.output}'} {name: b, bash: x}":                                                                        "b a<b",
		"{name: a, bash: x} {name: b, bash: x, wait-for: []} {name: c, bash: 'x {a.output} {a.status}'}":                            "a b c<@before@c<a",
		"{name: a, bash: x, on-failure: [{name: h, bash: x}]} {name: b, bash: x}":                                                   "a h<@ended@a b<@before@b",
		"{name: g, steps: [{name: in, bash: 'x {b.output}'}]} {name: b, bash: x}":                                                   "b g<b",
		"{name: a, bash: x, wait-for: [c]} {name: b, bash: x} {name: c, bash: x}":                                                   "c a<c b<@before@b",
		"{name: a, bash: x, wait-for: [b]} {name: b, bash: x, finally: [{name: h2, bash: x, wait-for: [h1]}, {name: h1, bash: x}]}": "b h1<@finally@b h2<h1<@finally@b a<b",
	} {
		p, ds := compiled(t, "steps:\n  - "+strings.ReplaceAll(text, "} {", "}\n  - {"))
		if p == nil {
			t.Errorf("%s: %v", text, ds)
			continue
		}
		var got []string
		for _, s := range p.Steps {
			one := s.Def.Name
			for _, id := range s.After {
				one += "<" + string(id)
			}
			got = append(got, one)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if got := addEdges([]dag.ID{"a"}, []edge{{to: "b"}, {to: "a"}, {to: "b"}}); fmt.Sprint(got) != "[a b]" {
		t.Errorf("edges %v", got)
	}
}

// TestInterruption: the step's own setting comes first, then that of the tool, of the user, and what the kind of step allows.
func TestInterruption(t *testing.T) {
	t.Parallel()
	const retry, ask = plan.RetryWhenInterrupted, plan.AskWhenInterrupted
	for _, c := range []struct {
		text            string
		inherited, want plan.Interrupt
	}{
		{"bash: x", "", ask},
		{"bash: x", retry, retry},
		{"tags: [read]\nbash: x", "", retry},
		{"idempotent: true\nbash: x", "", retry},
		{"steps: [{name: a, bash: x, idempotent: true}]", ask, retry},
		{"idempotent: true\nsteps: [{name: a, bash: x, idempotent: false}]", "", ask},
		{"steps: [{name: a, wait: {for: 1s}}]", ask, retry},
		{"steps: [{name: a, http: {url: 'https://h'}}]", "", retry},
		{"steps: [{name: a, http: {url: 'https://h', method: POST}}]", "", ask},
	} {
		p, ds := compiled(t, c.text)
		if p == nil {
			t.Fatal(ds)
		}
		if got := interruption(p.Definition, p.Steps[0], c.inherited); got != c.want {
			t.Errorf("%s after %q: %q, want %q", c.text, c.inherited, got, c.want)
		}
	}
}

// TestStepParts: functions that need no step.
func TestStepParts(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]bool{"bash": true, "sh": true, "cmd": false, "pwsh": false, "ruby": false, "": false} {
		if remoteShell(shell) != want {
			t.Errorf("a remote script for %q: %t", shell, !want)
		}
	}
	user, path := expr.Literal("x"), tool.Text{S: "echo %USER% %path:~1% !OTHER!"}
	tpl, _ := expr.ParseTemplate("{"+plan.CallInput+"}", expr.Plain, callNames{})
	list := []steps.EnvVar{{Name: "User", Value: tpl}, {Name: "PATH", Value: user}, {Name: "OTHER", Value: tpl}}
	if ds := checkPercentReads(path, "cmd", list); len(ds) != 1 || !strings.Contains(ds[0].Message, "%User%") {
		t.Errorf("reads of variables: %v", ds)
	}
	for permissions, want := range map[string]bool{"": false, "network": true, "network:external:h": true, "{P}": true, "filesystem:read:/": false} {
		if got := allowsHosts(&tool.Definition{Security: tool.Security{RequiredPermissions: []tool.Text{{S: permissions}}}}); got != want {
			t.Errorf("%q allows hosts: %t", permissions, got)
		}
	}
	for n, want := range map[int64]string{1: "1", plan.MaxSize: "more than two billion"} {
		if got := formatCount(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
