package texts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

// sample is a definition with names of each class.
const sample = `name: t
description: d
parameters:
  TARGET: {description: t}
  COUNT: {description: c, type: number}
  LEVEL: {description: l, validation: {enum: [a, b]}}
environment: {secrets: [API_TOKEN]}
x-allow: [free]
state: {last-id: {type: string}}
steps:
  - {name: fetch, bash: echo, outputs: {n: {type: number}}}
  - {name: each, bash: echo, for-each: {items: [1]}, outputs: {n: {type: number}}, artifacts: [{path: x, name: x}]}
  - name: group
    steps:
      - {name: inside, bash: echo}
`

func sampleNames(t *testing.T) (Names, *tool.Definition) {
	t.Helper()
	def, ds := decode.File("t.yaml", []byte(sample))
	if err := ds.Err(); err != nil {
		t.Fatal(err)
	}
	return NamesOf(def, func(*tool.ToolUse) *tool.Definition { return nil }), def
}

// TestSymbols resolves names in the texts of a tool, of a group and of a loop.
func TestSymbols(t *testing.T) {
	n, def := sampleNames(t)
	group := n.WithSteps(def.Steps[2].Steps())
	loop := group.WithItem(map[string]bool{"host": true, "index": true}, "host", true, nil)
	handler := n.WithLocals(map[string]bool{"run": true})
	for _, c := range []struct {
		names Scope
		id    string
		want  expr.Symbol
	}{
		{n, "TARGET", expr.Symbol{Class: expr.Parameter, Type: "string"}},
		{n, "COUNT", expr.Symbol{Class: expr.Parameter, Type: "number"}},
		{n, "OS", expr.Symbol{Class: expr.Variable}},
		{n, "state", expr.Symbol{Class: expr.State}},
		{n, "fetch", expr.Symbol{Class: expr.Step}},
		{n, "each", expr.Symbol{Class: expr.Step, Type: "array"}},
		{n, "inside", expr.Symbol{}},
		{n, "host", expr.Symbol{}},
		{group, "inside", expr.Symbol{Class: expr.Step}},
		{group, "fetch", expr.Symbol{Class: expr.Step}},
		{loop, "host", expr.Symbol{Class: expr.Local}},
		{loop, "item", expr.Symbol{}},
		{loop, "fetch", expr.Symbol{Class: expr.Step}},
		{handler, "run", expr.Symbol{Class: expr.Local}},
		{n.InEnvironment(), "SHELL_OPTION", expr.Symbol{Class: expr.Variable}},
		{n.InEnvironment(), "option", expr.Symbol{}},
		{n.InRetry(def.Steps[0]), "last", expr.Symbol{Class: expr.Last}},
		{n.InRetry(def.Steps[0]), "fetch", expr.Symbol{}},
		{n.InRetry(def.Steps[0]), "TARGET", expr.Symbol{Class: expr.Parameter, Type: "string"}},
	} {
		if got := c.names.Symbol(c.id); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.id, got, c.want)
		}
	}
	if diff := cmp.Diff(map[string]string{"n": "number"}, n.Outputs("fetch")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"n": "array"}, n.Outputs("each")); diff != "" {
		t.Error(diff)
	}
	if got := loop.Locals(); !slices.Equal(got, []string{"host", "index"}) || !loop.HasLocal("host") || group.HasLocal("host") {
		t.Errorf("locals %v", got)
	}
}

// TestCallerDecides says of which references somebody else than the author decides the value.
func TestCallerDecides(t *testing.T) {
	n, _ := sampleNames(t)
	item := map[string]bool{"item": true, "index": true}
	for _, c := range []struct {
		names Names
		ref   expr.Ref
		want  bool
	}{
		{n, expr.Ref{Class: expr.Parameter, Root: "TARGET"}, true},
		{n, expr.Ref{Class: expr.Parameter, Root: "COUNT"}, false},
		{n, expr.Ref{Class: expr.Parameter, Root: "LEVEL"}, false},
		{n, expr.Ref{Class: expr.Variable, Root: "OS"}, false},
		{n, expr.Ref{Class: expr.Env, Root: "env"}, false},
		{n, expr.Ref{Class: expr.Step, Root: "fetch"}, true},
		{n.WithItem(item, "item", true, nil), expr.Ref{Class: expr.Local, Root: "item"}, false},
		{n.WithItem(item, "item", false, nil), expr.Ref{Class: expr.Local, Root: "item"}, true},
		{n.WithItem(item, "item", false, nil), expr.Ref{Class: expr.Local, Root: "index"}, false},
	} {
		if got := c.names.CallerDecides(c.ref); got != c.want {
			t.Errorf("%s: %t", c.ref, got)
		}
	}
}

// TestProblems parses texts with something wrong: the code, and a part of the message or the hint.
func TestProblems(t *testing.T) {
	n, def := sampleNames(t)
	loop := n.WithItem(map[string]bool{"host": true, "index": true}, "host", false, nil)
	for _, c := range []struct {
		names            Scope
		text, code, says string
	}{
		{n, "{TARGET} {fetch.output} {{x}} {free} {OS}", "", ""},
		{n, "{TARGT}", expr.CodeMisspelt, "but TARGET is"},
		{n, "{fetc.output}", expr.CodeMisspelt, "but fetch is"},
		{n, "{inside.output}", expr.CodeUndeclared, "it is in another list of steps"},
		{n, "{run.status}", expr.CodeUndeclared, "only available in handlers"},
		{n, "{last.output}", expr.CodeUndeclared, "only available in retry.when"},
		{n, "{matrix.os}", expr.CodeUndeclared, "only available in a step with matrix"},
		{n, "{index}", expr.CodeUndeclared, "add for-each"},
		{n, "{API_TOKEN}", expr.CodeUndeclared, "{env.API_TOKEN}"},
		{n, "{env.API_TOKN}", "unknown-secret", "write {env.API_TOKEN}"},
		{n, "{env.API_TOKEN} {env.PATH}", "", ""},
		{loop, "{item.name}", "item-renamed", "write {host.name}"},
		{n.InRetry(def.Steps[0]), "{fetch.output}", expr.CodeUndeclared, "retry.when cannot refer to step"},
	} {
		p := &Parser{}
		at := tool.Text{S: c.text, Pos: tool.Pos{Line: 1, Col: 1}}
		p.Template(&at, "key", expr.Plain, c.names)
		got, all := "", ""
		for _, d := range p.Problems {
			got, all = d.Code, all+d.Message+"; "+d.Hint
		}
		if len(p.Problems) > 1 || got != c.code || !strings.Contains(all, c.says) {
			t.Errorf("%s: %v", c.text, p.Problems)
		}
	}
}

// TestVariables checks texts for variables that are written as for a shell, and values of variables that run as code.
func TestVariables(t *testing.T) {
	n, _ := sampleNames(t)
	for text, want := range map[string]int{"$HOME": 1, "${home}": 1, "$home": 0, "$$": 0, "plain": 0, "$A $PATH": 1} {
		if got := VariablesInEnvironment(tool.Text{S: text}, "k", n); len(got) != want {
			t.Errorf("%s in environment: %v", text, got)
		}
	}
	for text, hint := range map[string]string{"$TARGET": "write {TARGET}", "$OTHER": ""} {
		got := ParametersAsVariables(tool.Text{S: text}, "k", n, shellsign.Variables(text), "nothing reads it")
		if hint == "" && len(got) > 0 || hint != "" && (len(got) != 1 || got[0].Hint != hint) {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, c := range []struct {
		name, text string
		want       int
	}{{"BASH_ENV", "{TARGET}", 1}, {"BASH_ENV", "{LEVEL}", 0}, {"BASH_ENV", "/etc/x", 0}, {"COLOR", "{TARGET}", 0}, {"BASH_ENV", "{COUNT ? 'a' : 'b'}", 0}} {
		at := tool.Text{S: c.text}
		tpl := new(Parser).Template(&at, "k", expr.Plain, n)
		if got := CheckVariable(n, c.name, at, "k", tpl); len(got) != c.want {
			t.Errorf("%s=%s: %v", c.name, c.text, got)
		}
	}
	n.def.Security.RequiredPermissions = []tool.Text{{S: "environment:BASH_ENV"}, {S: "network"}}
	if got := fmt.Sprint(n.Granted()); got != "[BASH_ENV]" {
		t.Errorf("granted %s", got)
	}
}

// TestPageNames resolves the words of a Markdown tool in the values of its steps.
func TestPageNames(t *testing.T) {
	pre := &tool.Step{Name: plan.StepPre, Body: &tool.JSCode{Role: tool.RolePre, Code: tool.Text{S: "input.made = 1; return input"}}}
	first, second := &tool.Step{Name: "first"}, &tool.Step{Name: "second", Previous: "first"}
	params := []*tool.Parameter{{Name: "P", Type: "string"}, {Name: "output", Type: "string"}}
	used := func(*tool.ToolUse) *tool.Definition { return nil }
	plain := NamesOf(&tool.Definition{Format: tool.Markdown, Parameters: params, Steps: []*tool.Step{first, second}}, used)
	processed := NamesOf(&tool.Definition{Format: tool.Markdown, Parameters: params, Steps: []*tool.Step{pre, first, second}}, used)
	for _, c := range []struct {
		names Scope
		id    string
		want  expr.Symbol
	}{
		{plain.OnPage(first, false), "input", expr.Symbol{Class: expr.Arguments}},
		{plain.OnPage(first, false), "prev_step", expr.Symbol{}},
		{plain.OnPage(second, false), "prev_step", expr.Symbol{Class: expr.Step, As: "first"}},
		{plain.OnPage(second, false), "output", expr.Symbol{}},
		{plain.OnPage(second, false), "date", expr.Symbol{Class: expr.Variable, As: "DATE"}},
		{plain.OnPage(second, false), "P", expr.Symbol{Class: expr.Parameter, Type: "string"}},
		{processed.OnPage(second, false), "input", expr.Symbol{Class: expr.Step, As: plan.StepPre}},
		{processed.OnPage(second, false), "P", expr.Symbol{}},
	} {
		if got := c.names.Symbol(c.id); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.id, got, c.want)
		}
	}
	for id, want := range map[string]bool{"P": true, "made": true, "secnd": false, "output": true, "input": false, "anything-else": true} {
		if got := processed.OnPage(first, false).(markdownNames).Property(id, true); got != want {
			t.Errorf("%s is a property of the input: %t", id, got)
		}
	}
	for id, says := range map[string]string{"output": "post-processing", "prev_step": "no previous step", plan.StepPre: "no pre-processing", "run": "handlers", "P": ""} {
		if message, _ := plain.OnPage(first, false).OutOfReach(id); !strings.Contains(message, says) || says == "" && message != "" {
			t.Errorf("%s: %q", id, message)
		}
	}
}
